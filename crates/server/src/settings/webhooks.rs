//! Whether there are webhooks, and what their endpoints may be.

use super::sending::Sending;
use crate::secret_file;
use clap::Args;
use clap::builder::BoolishValueParser;
use lendpay_api::SecretKeys;
use std::path::PathBuf;
use std::sync::Arc;

/// Webhooks of the service.
#[derive(Debug, Args)]
pub struct Webhooks {
    /// A file with the keys that secrets of webhook endpoints are encrypted with in the store: 64 hexadecimal digits a
    /// line. The first encrypts, all of them decrypt. Without it webhooks are off. One that other users of the machine
    /// can read is refused.
    #[arg(long, env = "LENDPAY_SECRETS_KEY_FILE", value_name = "FILE")]
    secrets_key_file: Option<PathBuf>,

    /// Let webhook endpoints have addresses with http, for tests: whoever is in between reads what is sent.
    #[arg(long, env = "LENDPAY_WEBHOOK_PLAIN_HTTP", value_parser = BoolishValueParser::new())]
    pub webhook_plain_http: bool,

    #[command(flatten)]
    pub sending: Sending,
}

impl Webhooks {
    /// The keys, if webhooks are on.
    pub fn keys(&self) -> Result<Option<Arc<SecretKeys>>, String> {
        let Some(path) = &self.secrets_key_file else { return Ok(None) };
        let text = std::io::read_to_string(secret_file::open(path)?);
        let text = text.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
        let keys = SecretKeys::parse(&text)
            .map_err(|problem| format!("{}: {problem}; make a key with `openssl rand -hex 32`", path.display()))?;
        Ok(Some(Arc::new(keys)))
    }
}
