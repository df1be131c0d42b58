//! The sandbox (contract 2.16): the partner's side with fixed contents, in which every answer of the document can be
//! provoked. Nothing of it is in the document, and no other service has it.
//!
//! | module | subject |
//! |---|---|
//! | `contents` | what is in a new sandbox: ids and keys that never change |
//! | `provocations` | the header `X-Sandbox` of a request |
//! | `ways` | how each answer of the document is provoked |
//! | `control` | moving the clock, and beginning again |
//! | `page` | the page that lists all of it |

mod contents;
mod control;
mod page;
mod provocations;
mod ways;

pub use contents::{
    APPLICATION, BUYER, BUYER_OF_KEY, IDEMPOTENCY_KEY, KEY, KEYS, OFFERS, OTHER_APPLICATION, OTHER_OFFER,
    OTHER_PARTNER, PARTNER, SandboxKey, SandboxOffer,
};
pub use control::Sandbox;
pub use provocations::{LostReply, PROVOCATIONS, Provocation};
pub use ways::{Call, Differs, ORDINARY, Ordinary, WAYS, Way, way};

pub(crate) use control::add;
#[cfg(test)]
pub(crate) use page::html as page;
pub(crate) use provocations::provoke;
