//! The operator's side put together (contract 2.9).

use crate::clock::Clock;
use crate::counts::RequestCounts;
use crate::document::operator;
use crate::operations::operator::Operator;
use crate::operations::operator::copy_log::CopyLogApi;
use crate::operations::operator::create_key::CreateKeyApi;
use crate::operations::operator::export::ExportApi;
use crate::operations::operator::get_application::GetApplicationApi;
use crate::operations::operator::get_buyer::GetBuyerApi;
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
use crate::operations::operator::revoke_key::RevokeKeyApi;
use crate::operator_hosts::{Hosts, Named};
use crate::operators::Operators;
use crate::rate_limit::Failures;
use crate::shell::{Limits, Routes, Shell};
use crate::side::Side;
use crate::trace::Traces;
use lendpay_domain::Store;
use lendpay_domain::log::Log;
use poem::{Endpoint, Request, Response, Route};
use poem_openapi::OpenApiService;
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
    /// Set when the service is about to end: it is not ready any more, though it still answers.
    pub stopping: Arc<AtomicBool>,
    /// Writes what `/metrics` answers, in Prometheus' text format.
    pub metrics: WriteMetrics,
    /// Who collects traces.
    pub traces: Option<Arc<dyn Traces>>,
}

/// The operations with a key. The document lists them in this order.
pub(crate) type Operations<S> = (
    (PutPartnerApi<S>, ListPartnersApi<S>, GetPartnerApi<S>),
    (CreateKeyApi<S>, ListKeysApi<S>, PutKeyExpiryApi<S>, RevokeKeyApi<S>),
    (PutApplicationApi<S>, ListApplicationsApi<S>, GetApplicationApi<S>),
    (PutOfferApi<S>, PutOffersApi<S>, ListAllOffersApi<S>, ListOffersApi<S>, GetOfferApi<S>, MoveOfferApi<S>),
    (ListBuyersApi<S>, GetBuyerApi<S>),
    (ListEventsApi<S>, GetOperationApi<S>, ExportApi<S>),
    (CopyLogApi<S>, NoteBackupApi<S>),
);

fn operations<S: Store>(operator: &Arc<Operator<S>>, reason: fn(&S) -> Option<String>) -> Operations<S> {
    let o = || Arc::clone(operator);
    (
        (PutPartnerApi(o()), ListPartnersApi(o()), GetPartnerApi(o())),
        (CreateKeyApi(o()), ListKeysApi(o()), PutKeyExpiryApi(o()), RevokeKeyApi(o())),
        (PutApplicationApi(o()), ListApplicationsApi(o()), GetApplicationApi(o())),
        (
            PutOfferApi(o()),
            PutOffersApi(o()),
            ListAllOffersApi(o()),
            ListOffersApi(o()),
            GetOfferApi(o()),
            MoveOfferApi(o()),
        ),
        (ListBuyersApi(o()), GetBuyerApi(o())),
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
    let OperatorSettings { operators, hosts, limits, reason, log, stopping, metrics, traces } = settings;
    let operator = Arc::new(Operator { store: Arc::clone(&store), operators, failures: Failures::default(), log });
    let document = operator::document();
    let (pages, pages_at) = document.pages().add(Route::new(), Side::Operator);
    let mut routes = pages_at.clone();
    routes.extend(document.routes(Side::Operator));
    for batch in routes.iter_mut().filter(|route| route.template == PutOffers::PATH) {
        batch.body = PutOffers::BODY;
    }
    counts.set_routes(routes.iter().map(|route| route.template.as_str()));
    let addresses = Routes(pages_at);
    let operations = Route::new()
        .nest_no_strip("/operator", OpenApiService::new(operations(&operator, reason), "", ""))
        .nest_no_strip(
            "/health",
            OpenApiService::new(HealthApi { store: Arc::clone(&store), reason, stopping }, "", ""),
        )
        .nest_no_strip("/metrics", OpenApiService::new(MetricsApi { write: metrics }, "", ""));
    let inner = Named { inner: Inside { addresses, pages, operations }, hosts };
    Shell { inner, store, clock, limits, routes: Routes(routes), side: Side::Operator, counts, traces }
}

/// The pages beside the operations: of one router, what is nested at `/operator` would take `/operator/`.
struct Inside {
    addresses: Routes,
    pages: Route,
    operations: Route,
}

impl Endpoint for Inside {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let is_page = self.addresses.find(request.uri().path()).is_some();
        if is_page { self.pages.call(request).await } else { self.operations.call(request).await }
    }
}
