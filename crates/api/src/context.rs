//! What is known of a request from its first byte on.

use crate::failure::Failure;
use crate::random;
use crate::rate_limit::Allowance;
use crate::request_body;
use crate::trace::TraceParent;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::Actor;
use lendpay_domain::{OperationId, PartnerId, Timestamp};
use poem::{FromRequest, Request, RequestBody};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

/// The request's id and time. The shell puts it into the request; operations read it and note the partner for the log.
#[derive(Clone)]
pub(crate) struct Context {
    pub operation: OperationId,
    pub at: Timestamp,
    /// The caller's span, of which this request is a part.
    pub caller: Option<TraceParent>,
    /// Who connected; unknown where there is no network.
    pub peer: Option<IpAddr>,
    noted: Arc<Noted>,
}

/// The body, and what an operation finds out, for the shell.
struct Noted {
    body: request_body::RequestBody,
    partner: OnceLock<PartnerId>,
    actor: OnceLock<Actor>,
    allowance: OnceLock<Allowance>,
}

impl Context {
    /// Takes the request's body, so that nobody reads it unasked.
    pub fn new(request: &mut Request, at: Timestamp) -> Self {
        let caller = TraceParent::of(request.headers());
        let operation = caller.map_or_else(random::operation_id, |caller| caller.trace);
        let peer = request.remote_addr().as_socket_addr().map(SocketAddr::ip);
        let body = request_body::RequestBody::new(request.take_body());
        let noted = Noted { body, partner: OnceLock::new(), actor: OnceLock::new(), allowance: OnceLock::new() };
        Self { operation, at, caller, peer, noted: Arc::new(noted) }
    }

    /// What the shell has put into a request.
    pub fn of(request: &Request) -> poem::Result<Self> {
        Ok(request.data::<Self>().ok_or(Failure::Internal)?.clone())
    }

    /// Notes for whom the request is made.
    pub fn set_partner(&self, partner: PartnerId) {
        // A request is authenticated once; a second value would be the same.
        let _ = self.noted.partner.set(partner);
    }

    pub fn partner(&self) -> Option<PartnerId> {
        self.noted.partner.get().copied()
    }

    /// Notes which operator makes the request.
    pub fn set_actor(&self, actor: Actor) {
        // A request is authenticated once.
        let _ = self.noted.actor.set(actor);
    }

    pub fn actor(&self) -> Option<Actor> {
        self.noted.actor.get().copied()
    }

    /// Notes what the partner has left.
    pub fn set_allowance(&self, allowance: Allowance) {
        // A request is counted once.
        let _ = self.noted.allowance.set(allowance);
    }

    pub fn allowance(&self) -> Option<&Allowance> {
        self.noted.allowance.get()
    }

    /// The request's body.
    pub fn body(&self) -> &request_body::RequestBody {
        &self.noted.body
    }

    /// Reads the request's body. For operations that have checked the caller.
    pub async fn read_body(&self) -> Result<Vec<u8>, Failure> {
        self.noted.body.read().await
    }

    /// The stamp for the command that this request carries.
    pub fn stamp(&self, actor: Actor) -> Stamp {
        Stamp { at: self.at, event: random::event_id(), actor, operation: self.operation }
    }
}

impl<'a> FromRequest<'a> for Context {
    async fn from_request(request: &'a Request, _body: &mut RequestBody) -> poem::Result<Self> {
        Self::of(request)
    }
}
