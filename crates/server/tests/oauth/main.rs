//! OAuth 2.0, tried from outside: the built binary, real sockets, a real authorization server (`npm/`), and one of our
//! own that misbehaves as it is told.

mod bad_tokens;
mod document;
mod fake_issuer;
mod npm;
mod party;
#[path = "../it/process.rs"]
#[expect(dead_code, reason = "the other test binary needs the rest")]
mod process;
mod real_issuer;
mod rotation;
mod scopes;
mod secrecy;
mod settings;
mod signer;
mod swagger;
mod tls;
