//! The operator's daily work at the running service: commands that call its operator's side.

mod events;
pub mod http;
mod key;
mod offer;
mod partner;
mod screen;

pub use events::{EventsCommand, run as events};
pub use key::{KeyCommand, run as key};
pub use offer::{OfferCommand, run as offer};
pub use partner::{PartnerCommand, run as partner};
