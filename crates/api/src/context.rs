//! What is known of a request from its first byte on.

use crate::failure::Failure;
use crate::random;
use crate::rate_limit::Allowance;
use crate::request_body;
use crate::shell::Found;
use crate::trace::TraceParent;
use crate::turns::Crowd;
use lendpay_domain::command::Stamp;
use lendpay_domain::event::Actor;
use lendpay_domain::{ApplicationId, BuyerId, OfferId, OperationId, PartnerId, Timestamp};
use poem::{FromRequest, Request, RequestBody};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::Instant;

/// The request's id and time. The shell puts it into the request; operations read it and note the partner for the log.
#[derive(Clone)]
pub(crate) struct Context {
    pub operation: OperationId,
    pub at: Timestamp,
    /// The caller's span, of which this request is a part.
    pub caller: Option<TraceParent>,
    /// Who connected; unknown where there is no network.
    pub peer: Option<IpAddr>,
    /// When it must be answered.
    deadline: Instant,
    noted: Arc<Noted>,
}

/// The body, and what an operation finds out, for the shell.
struct Noted {
    found: Option<Found>,
    body: request_body::RequestBody,
    /// That of the connection, where requests come one after the other.
    crowd: Option<Arc<Crowd>>,
    partner: OnceLock<PartnerId>,
    actor: OnceLock<Actor>,
    named: Named,
    unchanged: AtomicBool,
    allowance: OnceLock<Allowance>,
    /// For how many microseconds it has waited for events.
    waited: AtomicU64,
}

/// What a request is about, as far as it names it.
#[derive(Default)]
pub(crate) struct Named {
    pub application: OnceLock<ApplicationId>,
    pub offer: OnceLock<OfferId>,
    pub buyer: OnceLock<BuyerId>,
}

impl Context {
    /// Takes the request's body, which may have so many bytes, so that nobody reads it unasked.
    pub fn new(
        request: &mut Request,
        at: Timestamp,
        deadline: Instant,
        found: Option<Found>,
        crowd: Option<Arc<Crowd>>,
        body_limit: usize,
    ) -> Self {
        let caller = TraceParent::of(request.headers());
        let operation = caller.map_or_else(random::operation_id, |caller| caller.trace);
        let peer = request.remote_addr().as_socket_addr().map(SocketAddr::ip);
        let body = request_body::RequestBody::new(request.take_body(), body_limit);
        let noted = Noted {
            found,
            body,
            crowd,
            partner: OnceLock::new(),
            actor: OnceLock::new(),
            named: Named::default(),
            unchanged: AtomicBool::new(false),
            allowance: OnceLock::new(),
            waited: AtomicU64::new(0),
        };
        Self { operation, at, caller, peer, deadline, noted: Arc::new(noted) }
    }

    /// What the shell has put into a request.
    pub fn of(request: &Request) -> poem::Result<Self> {
        Ok(request.data::<Self>().ok_or(Failure::Internal)?.clone())
    }

    /// The request's address, if there is such a one.
    pub fn found(&self) -> Option<&Found> {
        self.noted.found.as_ref()
    }

    /// Notes for whom the request is made.
    pub fn set_partner(&self, partner: PartnerId) {
        // A request is authenticated once; a second value would be the same.
        let _ = self.noted.partner.set(partner);
    }

    pub fn partner(&self) -> Option<PartnerId> {
        self.noted.partner.get().copied()
    }

    /// Notes who makes the request, once that is known.
    pub fn set_actor(&self, actor: Actor) {
        // As with the partner.
        let _ = self.noted.actor.set(actor);
    }

    pub fn actor(&self) -> Option<Actor> {
        self.noted.actor.get().copied()
    }

    /// What the request is about. Whoever finds out sets it.
    pub fn named(&self) -> &Named {
        &self.noted.named
    }

    /// Notes that the request succeeds and changes nothing, though it is no read: it repeats one before it.
    pub fn set_unchanged(&self) {
        self.noted.unchanged.store(true, Ordering::Relaxed);
    }

    pub fn is_unchanged(&self) -> bool {
        self.noted.unchanged.load(Ordering::Relaxed)
    }

    /// Notes what the partner has left.
    pub fn set_allowance(&self, allowance: Allowance) {
        // A request is counted once.
        let _ = self.noted.allowance.set(allowance);
    }

    pub fn allowance(&self) -> Option<&Allowance> {
        self.noted.allowance.get()
    }

    /// Until when a request waits that wants to wait for so long.
    pub fn wait_until(&self, wait: Duration) -> Instant {
        Instant::now() + wait.min(self.longest_wait())
    }

    /// How long the request may wait for something, which leaves it the time for an answer.
    pub fn longest_wait(&self) -> Duration {
        const ANSWER: Duration = Duration::from_secs(5);
        self.deadline.saturating_duration_since(Instant::now()).saturating_sub(ANSWER)
    }

    /// Notes that the request has waited for events, and was not worked on.
    pub fn note_wait(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).expect("less than 584,000 years");
        self.noted.waited.fetch_add(micros, Ordering::Relaxed);
    }

    /// For how long it has waited.
    pub fn waited(&self) -> Duration {
        Duration::from_micros(self.noted.waited.load(Ordering::Relaxed))
    }

    /// The crowd of the request's connection.
    pub fn crowd(&self) -> Option<&Crowd> {
        self.noted.crowd.as_deref()
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
