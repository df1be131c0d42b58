//! The partner side put together: the operations, the document and its pages, inside the shell.

use crate::caller::Gate;
use crate::clock::Clock;
use crate::counts::RequestCounts;
use crate::document::partner;
use crate::feed::Feed;
use crate::operations::Reads;
use crate::operations::accept_offer::AcceptOfferApi;
use crate::operations::create_buyer::CreateBuyerApi;
use crate::operations::decline_offer::DeclineOfferApi;
use crate::operations::get_buyer::GetBuyerApi;
use crate::operations::get_offer::GetOfferApi;
use crate::operations::list_applications::ListApplicationsApi;
use crate::operations::list_buyers::ListBuyersApi;
use crate::operations::list_events::ListEventsApi;
use crate::operations::list_offers::ListOffersApi;
use crate::operations::move_offer::Moves;
use crate::rate_limit::Limiter;
use crate::sandbox::{self, Sandbox};
use crate::shell::{Limits, Routes, Shell};
use crate::side::Side;
use crate::table::Table;
use crate::tokens::OAuth;
use crate::trace::Traces;
use lendpay_domain::buyer_checks::BuyerChecks;
use lendpay_domain::rate::{Leases, RateLimit};
use lendpay_domain::store::{Calls, Commands, Queries};
use poem::{Endpoint, EndpointExt as _, Request, Response, Route};
use std::sync::Arc;

/// What an operator may set.
#[derive(Clone, Default)]
pub struct PartnerSettings {
    /// How much is asked of a buyer.
    pub buyer_checks: BuyerChecks,
    /// What a request may take.
    pub limits: Limits,
    /// Where partners reach the service, for the document; without it the document names no host.
    pub public_url: Option<String>,
    /// OAuth 2.0; without it every token is refused.
    pub oauth: Option<OAuth>,
    /// How often a partner may call; without it as often as it likes, and addresses may fail to authenticate likewise.
    pub rate_limit: Option<RateLimit>,
    /// Where processes that share the store count a partner's requests together; without it this process counts alone.
    pub leases: Option<Arc<dyn Leases>>,
    /// Who collects traces.
    pub traces: Option<Arc<dyn Traces>>,
    /// The readers that wait for events, shared with the operator's side.
    pub feed: Arc<Feed>,
    /// What a sandbox lets its users do besides the operations. With it the service is a sandbox.
    pub sandbox: Option<Arc<dyn Sandbox>>,
}

impl PartnerSettings {
    /// The side that partners reach.
    pub const fn side(&self) -> Side {
        if self.sandbox.is_some() { Side::Sandbox } else { Side::Partner }
    }
}

/// The operations. The document lists them in this order.
pub(crate) type Operations<S> = (
    (AcceptOfferApi<S>, CreateBuyerApi<S>, DeclineOfferApi<S>),
    (ListApplicationsApi<S>, ListOffersApi<S>, GetOfferApi<S>),
    (ListBuyersApi<S>, GetBuyerApi<S>, ListEventsApi<S>),
);

fn operations<S: Commands + Queries>(store: Arc<S>, gate: Gate, feed: Arc<Feed>, checks: BuyerChecks) -> Operations<S> {
    let reads = Arc::new(Reads { store: Arc::clone(&store), gate: gate.clone(), feed });
    let r = || Arc::clone(&reads);
    let moves = Arc::new(Moves { store: Arc::clone(&store), gate: gate.clone() });
    (
        (AcceptOfferApi(Arc::clone(&moves)), CreateBuyerApi { store, gate, checks }, DeclineOfferApi(moves)),
        (ListApplicationsApi(r()), ListOffersApi(r()), GetOfferApi(r())),
        (ListBuyersApi(r()), GetBuyerApi(r()), ListEventsApi(r())),
    )
}

/// Everything that partners reach.
pub fn partner_side<S: Commands + Queries + Calls>(
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    settings: PartnerSettings,
) -> impl Endpoint<Output = Response> + 'static {
    counted_partner_side(store, clock, settings, Arc::default())
}

/// Everything that partners reach, counted.
pub fn counted_partner_side<S: Commands + Queries + Calls>(
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    settings: PartnerSettings,
    counts: Arc<RequestCounts>,
) -> impl Endpoint<Output = Response> + 'static {
    let side = settings.side();
    let (tokens, token_url) = settings.oauth.map(|oauth| (oauth.tokens, oauth.token_url)).unzip();
    let gate = Gate {
        tokens,
        limiter: settings.rate_limit.map(|limit| Arc::new(Limiter::new(limit, settings.leases))),
        turns: Arc::default(),
        of_sandbox: side == Side::Sandbox,
    };
    let document = partner::served(settings.public_url.as_deref(), token_url.as_deref());
    let (mut pages, of_pages) = document.pages().add(Route::new(), side);
    // Operations before pages: an address is looked for in this order.
    let mut routes = document.routes(side);
    routes.extend(of_pages);
    if let Some(sandbox) = &settings.sandbox {
        pages = sandbox::add(pages, &mut routes, sandbox, &clock);
    }
    counts.set_routes(routes.iter().map(|route| route.template.as_str()));
    let routes = Routes::new(routes);
    let operations = operations(Arc::clone(&store), gate, settings.feed, settings.buyer_checks);
    let inner = Inside { table: Table::new(operations, pages.boxed(), &routes), provokes: side == Side::Sandbox };
    let PartnerSettings { limits, traces, .. } = settings;
    Shell { inner, store, clock, limits, routes, side, counts, traces }
}

/// What there is, and in a sandbox what may be done to it.
struct Inside {
    table: Table,
    /// Whether requests may ask for an answer, as in a sandbox.
    provokes: bool,
}

impl Endpoint for Inside {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let path = request.uri().path();
        if self.provokes && (path.starts_with("/lending/") || path.starts_with("/payments/") || path == "/events") {
            sandbox::provoke(&self.table, request).await
        } else {
            self.table.call(request).await
        }
    }
}
