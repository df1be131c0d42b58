//! A store that cannot exist, for documents that are made without one.

use lendpay_domain::buyer::Buyer;
use lendpay_domain::calls::Call;
use lendpay_domain::change::Record;
use lendpay_domain::command::{Command, Stamp};
use lendpay_domain::event::EventPage;
use lendpay_domain::key::{KeyHash, KeyInUse, KeyRecord};
use lendpay_domain::offer::Offer;
use lendpay_domain::page::{Page, Window};
use lendpay_domain::partner::Partner;
use lendpay_domain::query::{
    Application, BuyerCursor, DueCursor, FindApplications, FindBuyers, FindEvents, FindOffers, FindPartners,
    OfferCursor, Scope,
};
use lendpay_domain::store::{Answer, Calls, Commands, Export, Exports, Queries, Webhooks};
use lendpay_domain::webhook::{Endpoint, FindEndpoints, Webhook};
use lendpay_domain::{
    ApplicationId, BuyerId, EndpointId, HistoryId, HolderId, KeyId, OfferId, OperationId, PartnerId, Timestamp,
};
use poem::endpoint::BoxEndpoint;
use poem::http::Method;
use poem_openapi::OpenApi;
use poem_openapi::registry::{MetaApi, MetaPath, Registry};
use std::collections::HashMap;
use std::marker::PhantomData;

/// No store at all.
pub(super) enum NoStore {}

impl Export for NoStore {
    fn history(&self) -> HistoryId {
        match *self {}
    }

    async fn next(&mut self) -> Answer<Vec<Record>> {
        match *self {}
    }
}

impl Exports for NoStore {
    type Export = Self;

    async fn export(&self) -> Answer<Self> {
        match *self {}
    }
}

impl Commands for NoStore {
    async fn run<C: Command>(&self, _: C) -> Answer<C::Outcome> {
        match *self {}
    }
    async fn expire(
        &self,
        _: Option<DueCursor>,
        _: Timestamp,
        _: usize,
        _: impl Fn() -> Stamp + Send + Sync,
    ) -> Answer<Option<DueCursor>> {
        match *self {}
    }
    fn note_use(&self, _: KeyHash, _: Timestamp) {
        match *self {}
    }
    async fn check(&self) -> Answer<()> {
        match *self {}
    }
}

impl Queries for NoStore {
    async fn find_key(&self, _: KeyHash) -> Answer<Option<KeyRecord>> {
        match *self {}
    }
    async fn keys_of(&self, _: PartnerId, _: Window<KeyId>) -> Answer<Option<Page<KeyInUse, KeyId>>> {
        match *self {}
    }
    async fn key_with_id(&self, _: KeyId) -> Answer<Option<KeyInUse>> {
        match *self {}
    }
    async fn find_client(&self, _: &str) -> Answer<Option<PartnerId>> {
        match *self {}
    }
    async fn find_partner(&self, _: PartnerId) -> Answer<Option<Partner>> {
        match *self {}
    }
    async fn find_partners(&self, _: FindPartners) -> Answer<Page<Partner, PartnerId>> {
        match *self {}
    }
    async fn find_application(&self, _: ApplicationId) -> Answer<Option<Application>> {
        match *self {}
    }
    async fn find_applications(&self, _: FindApplications) -> Answer<Page<Application, ApplicationId>> {
        match *self {}
    }
    async fn find_offer(&self, _: ApplicationId, _: OfferId, _: Timestamp) -> Answer<Option<Offer>> {
        match *self {}
    }
    async fn find_offers(&self, _: FindOffers) -> Answer<Page<Offer, OfferCursor>> {
        match *self {}
    }
    async fn find_buyer(&self, _: Scope, _: BuyerId) -> Answer<Option<Buyer>> {
        match *self {}
    }
    async fn find_buyers(&self, _: FindBuyers) -> Answer<Page<Buyer, BuyerCursor>> {
        match *self {}
    }
    async fn find_events(&self, _: FindEvents) -> Answer<EventPage> {
        match *self {}
    }
    async fn wait_for_changes(&self, _: u64) -> Answer<()> {
        match *self {}
    }
}

impl Webhooks for NoStore {
    async fn find_endpoints(&self, _: FindEndpoints) -> Answer<Page<Endpoint, EndpointId>> {
        match *self {}
    }
    async fn find_webhook(&self, _: EndpointId) -> Answer<Option<Webhook>> {
        match *self {}
    }
    async fn hold(&self, _: HolderId, _: Vec<EndpointId>) -> Answer<Vec<EndpointId>> {
        match *self {}
    }
    async fn release(&self, _: HolderId) -> Answer<()> {
        match *self {}
    }
}

impl Calls for NoStore {
    fn note_call(&self, _: Call) {
        match *self {}
    }
    async fn calls_of(&self, _: OperationId, _: Timestamp) -> Answer<Vec<Call>> {
        match *self {}
    }
}

/// The description of an API without a value of it.
pub(super) struct Described<T>(PhantomData<T>);

impl<T> Described<T> {
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: OpenApi> OpenApi for Described<T> {
    /// In one piece, with each path once: poem-openapi would write a path again for each file that has a method of it,
    /// and in JSON only the last one counts.
    fn meta() -> Vec<MetaApi> {
        let mut paths: Vec<MetaPath> = Vec::new();
        for path in T::meta().into_iter().flat_map(|api| api.paths) {
            match paths.iter_mut().find(|known| known.path == path.path) {
                Some(known) => known.operations.extend(path.operations),
                None => paths.push(path),
            }
        }
        vec![MetaApi { paths }]
    }

    fn register(registry: &mut Registry) {
        T::register(registry);
    }

    fn add_routes(self, _: &mut HashMap<String, HashMap<Method, BoxEndpoint<'static>>>) {}
}
