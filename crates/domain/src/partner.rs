//! Partners: the platforms that call the service on behalf of their customers.

use crate::text::Name;
use crate::{PartnerId, Timestamp};

/// A partner. It owns applications and buyers; keys act for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partner {
    /// The partner's id.
    pub id: PartnerId,
    /// What the operator calls it.
    pub name: Name,
    /// Its `client_id` at the authorization server.
    pub oauth_client_id: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
}
