//! The operator's daily work at the running service: commands that call its operator's side.

mod application;
mod buyer;
mod events;
mod health;
pub mod http;
mod ids;
mod key;
mod list;
mod load;
mod offer;
mod operation;
mod operator;
mod partner;
mod rotate;
mod screen;
pub mod times;
mod webhook;

pub use application::{ApplicationCommand, run as application};
pub use buyer::{BuyerCommand, run as buyer};
pub use events::{EventsCommand, run as events};
pub use health::{HealthCommand, run as health};
pub use key::{KeyCommand, run as key};
pub use offer::{OfferCommand, run as offer};
pub use operation::{OperationCommand, run as operation};
pub use operator::{OperatorCommand, run as operator};
pub use partner::{PartnerCommand, run as partner};
pub use screen::print;
pub use webhook::{WebhookCommand, run as webhook};

use crate::settings::Access;
