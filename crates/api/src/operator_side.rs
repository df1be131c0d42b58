//! The operator's side put together (contract 2.9).

use crate::clock::Clock;
use crate::console;
use crate::counts::RequestCounts;
use crate::document::operator;
use crate::feed::Feed;
use crate::operations::operator::Operator;
use crate::operations::operator::copy_log::CopyLogApi;
use crate::operations::operator::create_key::CreateKeyApi;
use crate::operations::operator::export::ExportApi;
use crate::operations::operator::get_application::GetApplicationApi;
use crate::operations::operator::get_buyer::GetBuyerApi;
use crate::operations::operator::get_key::GetKeyApi;
use crate::operations::operator::get_offer::GetOfferApi;
use crate::operations::operator::get_operation::GetOperationApi;
use crate::operations::operator::get_partner::GetPartnerApi;
use crate::operations::operator::health::HealthApi;
use crate::operations::operator::list_all_offers::ListAllOffersApi;
use crate::operations::operator::list_applications::ListApplicationsApi;
use crate::operations::operator::list_buyers::ListBuyersApi;
use crate::operations::operator::list_events::ListEventsApi;
use crate::operations::operator::list_keys::ListKeysApi;
use crate::operations::operator::list_offers::ListOffersApi;
use crate::operations::operator::list_partners::ListPartnersApi;
use crate::operations::operator::metrics::{MetricsApi, WriteMetrics};
use crate::operations::operator::move_offer::MoveOfferApi;
use crate::operations::operator::note_backup::NoteBackupApi;
use crate::operations::operator::put_application::PutApplicationApi;
use crate::operations::operator::put_key_expiry::PutKeyExpiryApi;
use crate::operations::operator::put_offer::PutOfferApi;
use crate::operations::operator::put_offers::{PutOffers, PutOffersApi};
use crate::operations::operator::put_partner::PutPartnerApi;
use crate::operations::operator::read_buyer::ReadBuyerApi;
use crate::operations::operator::revoke_key::RevokeKeyApi;
use crate::operations::operator::webhooks::add::AddWebhookApi;
use crate::operations::operator::webhooks::change::ChangeWebhookApi;
use crate::operations::operator::webhooks::delete::DeleteWebhookApi;
use crate::operations::operator::webhooks::get::GetWebhookApi;
use crate::operations::operator::webhooks::list::ListWebhooksApi;
use crate::operations::operator::webhooks::rotate::RotateWebhookApi;
use crate::operations::operator::webhooks::test::TestWebhookApi;
use crate::operator_hosts::{Hosts, Named};
use crate::operators::Operators;
use crate::rate_limit::Failures;
use crate::shell::{Limits, Routes, Shell};
use crate::side::Side;
use crate::table::Table;
use crate::trace::Traces;
use crate::webhook_secrets::SecretKeys;
use lendpay_domain::Store;
use lendpay_domain::log::Log;
use lendpay_domain::webhook::Deliveries;
use poem::{Endpoint, EndpointExt as _, Response, Route};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the operator's side needs besides the store and the clock.
pub struct OperatorSettings<S> {
    /// Who may call, and what each may do.
    pub operators: Arc<Operators>,
    /// By which names it may be called.
    pub hosts: Hosts,
    /// What a request may take.
    pub limits: Limits,
    /// Says why the store has failed, if it has.
    pub reason: fn(&S) -> Option<String>,
    /// The log of a store that has one of its own, for backups.
    pub log: Option<Arc<dyn Log>>,
    /// The readers that wait for events, shared with the partners' side.
    pub feed: Arc<Feed>,
    /// What webhooks need; without it they are off.
    pub webhooks: Option<WebhookSettings>,
    /// Set when the service is about to end: it is not ready any more, though it still answers.
    pub stopping: Arc<AtomicBool>,
    /// Writes what `/metrics` answers, in Prometheus' text format.
    pub metrics: WriteMetrics,
    /// Who collects traces.
    pub traces: Option<Arc<dyn Traces>>,
    /// Whether there is a console.
    pub console: bool,
}

/// What webhooks need.
#[derive(Clone)]
pub struct WebhookSettings {
    /// The keys that secrets are encrypted with.
    pub keys: Arc<SecretKeys>,
    /// Delivery in this process.
    pub deliveries: Arc<dyn Deliveries>,
    /// Whether an endpoint may have an address with http, for tests and sandboxes.
    pub plain_http: bool,
}

/// The operations with a key. The document lists them in this order.
pub(crate) type Operations<S> = (
    (PutPartnerApi<S>, ListPartnersApi<S>, GetPartnerApi<S>),
    (CreateKeyApi<S>, ListKeysApi<S>, GetKeyApi<S>, PutKeyExpiryApi<S>, RevokeKeyApi<S>),
    (PutApplicationApi<S>, ListApplicationsApi<S>, GetApplicationApi<S>),
    (PutOfferApi<S>, PutOffersApi<S>, ListAllOffersApi<S>, ListOffersApi<S>, GetOfferApi<S>, MoveOfferApi<S>),
    (ListBuyersApi<S>, GetBuyerApi<S>, ReadBuyerApi<S>),
    (
        (AddWebhookApi<S>, ListWebhooksApi<S>, GetWebhookApi<S>),
        (ChangeWebhookApi<S>, RotateWebhookApi<S>, TestWebhookApi<S>, DeleteWebhookApi<S>),
    ),
    (ListEventsApi<S>, GetOperationApi<S>, ExportApi<S>),
    (CopyLogApi<S>, NoteBackupApi<S>),
);

fn operations<S: Store>(operator: &Arc<Operator<S>>, reason: fn(&S) -> Option<String>) -> Operations<S> {
    let o = || Arc::clone(operator);
    (
        (PutPartnerApi(o()), ListPartnersApi(o()), GetPartnerApi(o())),
        (CreateKeyApi(o()), ListKeysApi(o()), GetKeyApi(o()), PutKeyExpiryApi(o()), RevokeKeyApi(o())),
        (PutApplicationApi(o()), ListApplicationsApi(o()), GetApplicationApi(o())),
        (
            PutOfferApi(o()),
            PutOffersApi(o()),
            ListAllOffersApi(o()),
            ListOffersApi(o()),
            GetOfferApi(o()),
            MoveOfferApi(o()),
        ),
        (ListBuyersApi(o()), GetBuyerApi(o()), ReadBuyerApi(o())),
        (
            (AddWebhookApi(o()), ListWebhooksApi(o()), GetWebhookApi(o())),
            (ChangeWebhookApi(o()), RotateWebhookApi(o()), TestWebhookApi(o()), DeleteWebhookApi(o())),
        ),
        (ListEventsApi(o()), GetOperationApi(o()), ExportApi { operator: o(), reason }),
        (CopyLogApi(o()), NoteBackupApi(o())),
    )
}

/// Everything that the operator reaches. It must never be served where partners connect.
pub fn operator_side<S: Store>(
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    settings: OperatorSettings<S>,
    counts: Arc<RequestCounts>,
) -> impl Endpoint<Output = Response> + 'static {
    let OperatorSettings { operators, hosts, limits, reason, log, feed, webhooks, stopping, metrics, traces, console } =
        settings;
    let (store_of, failures) = (Arc::clone(&store), Failures::default());
    let operator = Arc::new(Operator { store: store_of, operators, failures, log, feed, webhooks });
    let document = operator::document();
    let (mut pages, mut routes) = document.pages().add(Route::new(), Side::Operator);
    if console {
        pages = console::add(pages, &mut routes, &operator);
    }
    routes.extend(document.routes(Side::Operator));
    for batch in routes.iter_mut().filter(|route| route.template == PutOffers::PATH) {
        batch.body = PutOffers::BODY;
    }
    counts.set_routes(routes.iter().map(|route| route.template.as_str()));
    let routes = Routes::new(routes);
    let health = HealthApi { store: Arc::clone(&store), reason, stopping };
    let operations = (operations(&operator, reason), health, MetricsApi { write: metrics });
    let inner = Named { inner: Table::new(operations, pages.boxed(), &routes), hosts };
    Shell { inner, store, clock, limits, routes, side: Side::Operator, counts, traces }
}
