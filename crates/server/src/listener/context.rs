//! What the connections of a listener share.

use super::activity::Timeouts;
use super::slots::ConnectionSlots;
use super::tls::Tls;
use lendpay_api::{Clock, Side};
use lendpay_domain::calls::Call;
use poem::Response;
use poem::endpoint::BoxEndpoint;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// What the connections of a listener share.
pub struct ListenerContext {
    pub endpoint: BoxEndpoint<'static, Response>,
    /// Which side it is, and the time, for answers that no endpoint makes.
    pub side: Side,
    pub clock: Arc<dyn Clock>,
    /// Keeps the records of such answers.
    pub note_call: Arc<dyn Fn(Call) + Send + Sync>,
    pub timeouts: Timeouts,
    pub tls: Option<Arc<Tls>>,
    pub slots: Arc<ConnectionSlots>,
    /// Cancelled when the listener is about to end.
    pub stop: CancellationToken,
}

impl ListenerContext {
    /// A whole HTTP/1.1 response for a request that no endpoint sees.
    pub fn refusal(&self, status: u16) -> Vec<u8> {
        let (response, call) = lendpay_api::refusal(self.side, self.tls.is_some(), status, self.clock.now());
        (self.note_call)(call);
        response
    }
}
