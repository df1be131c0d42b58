//! What is set on the command line and in the environment: every flag has a variable, and nothing is read anywhere
//! else.

mod oauth;
mod operator;
mod outgoing;
mod sandbox;
mod sending;
mod service;
mod store;
mod transfer;
mod values;
mod webhooks;

pub use oauth::OAuthSettings;
pub use operator::{Access, OperatorSide};
pub use outgoing::{Address, Trust, is_loopback};
pub use sandbox::{Reach, Sandbox, SandboxCommand};
pub use sending::Sending;
pub use service::{Common, LogFormat, Serve};
pub use store::{KeptIn, StorePlace};
pub use transfer::{Backup, Export, HistoryCommand, Import, Migrate};
pub use values::span;
pub use webhooks::Webhooks;
