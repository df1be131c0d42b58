//! A request of somebody who has signed in, and what it can ask: operations of the operator's side, by their functions.

use super::frame::Frame;
use super::session::{is_token, token};
use super::{Pairs, stale_form};
use crate::context::Context;
use crate::failure::Failure;
use crate::operations::operator::move_offer::{Decline, MoveOfferApi, Moved};
use crate::operations::operator::webhooks::{get as get_webhook, list as list_webhooks, test as list_webhook_attempts};
use crate::operations::operator::{
    Operator, OperatorRequest, get_application, get_buyer, get_key, get_offer, get_operation, get_partner,
    list_applications, list_buyers, list_events, list_keys, list_offers, list_partners, read_buyer,
};
use crate::operations::{Failed, OfferPath, Operation, PathId, Query};
use crate::operator_key::PresentedKey;
use crate::operators::KnownOperator;
use crate::wire::endpoint::{WebhookAttemptList, WebhookList, WebhookProgress};
use crate::wire::event::EventList;
use crate::wire::json::Json;
use crate::wire::operation;
use crate::wire::operator_buyer::{BuyerList, OperatorBuyer};
use crate::wire::operator_offer::{OfferList, OperatorOffer};
use crate::wire::party::{Application, ApplicationList, KeyList, OwnedKey, Partner, PartnerList};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::text::Reason;
use lendpay_domain::{ApplicationId, BuyerId, EndpointId, KeyId, OperationId, PartnerId, Store, Timestamp};
use std::sync::Arc;

/// A request with a session.
pub(super) struct Visit<'a, S> {
    operator: &'a Arc<Operator<S>>,
    context: &'a Context,
    key: String,
    cookie: String,
    who: KnownOperator,
}

/// Parameters of an operation.
pub(super) type Parameters<'a> = &'a [(&'a str, &'a str)];

/// Operations, each with the id of its path.
macro_rules! operations {
    ($($operation:ident($($id:ty)?) -> $answer:ty = $api:ident, $found:ident::$variant:ident;)+) => {$(
        pub async fn $operation(&self, query: Parameters<'_> $(, id: Option<$id>)?) -> Result<$answer, Failure> {
            let (api, request) = ($operation::$api(Arc::clone(self.operator)), self.request(query));
            let answer = api.$operation(request $(, PathId::<$id>(id))?).await;
            let $operation::$found::$variant(Json(answer)) = answer.map_err(Failed::failure)?;
            Ok(answer)
        }
    )+};
}

impl<'a, S: Store> Visit<'a, S> {
    /// A visit with this key; none if it is nobody's.
    pub fn new(operator: &'a Arc<Operator<S>>, context: &'a Context, key: String, cookie: &str) -> Option<Self> {
        let who = operator.operators.find(&PresentedKey::typed(&key)).ok()?;
        context.set_actor(who.actor);
        Some(Self { operator, context, key, cookie: cookie.to_owned(), who })
    }

    pub fn now(&self) -> Timestamp {
        self.context.at
    }

    /// Whether the operator's role allows an operation: what it does not allow is not shown.
    pub fn may<O: Operation>(&self) -> bool {
        O::ROLE.is_some_and(|least| self.who.role >= least)
    }

    /// What stands around every page.
    pub fn frame(&self) -> Frame {
        Frame { who: self.who, token: self.token(), now: self.now() }
    }

    /// The token that a form has to have.
    pub fn token(&self) -> String {
        token(&self.cookie)
    }

    /// The form that was sent, if this session's pages have made it.
    pub async fn form(&self) -> Result<Pairs, Failure> {
        let form = read_form(self.context).await?;
        if is_token(&self.cookie, form.get("token")) { Ok(form) } else { Err(stale_form()) }
    }

    fn request(&self, query: Parameters<'_>) -> OperatorRequest {
        let query = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        OperatorRequest {
            context: self.context.clone(),
            key: PresentedKey::typed(&self.key),
            query: Query::new(query.collect()),
        }
    }

    operations! {
        list_partners() -> PartnerList = ListPartnersApi, Listed::Partners;
        get_partner(PartnerId) -> Partner = GetPartnerApi, Found::Partner;
        list_keys(PartnerId) -> KeyList = ListKeysApi, Listed::Keys;
        get_key(KeyId) -> OwnedKey = GetKeyApi, Found::Key;
        list_applications() -> ApplicationList = ListApplicationsApi, Listed::Applications;
        get_application(ApplicationId) -> Application = GetApplicationApi, Found::Application;
        list_offers(ApplicationId) -> OfferList = ListOffersApi, Listed::Offers;
        list_buyers() -> BuyerList = ListBuyersApi, Listed::Buyers;
        get_buyer(BuyerId) -> OperatorBuyer = GetBuyerApi, Found::Buyer;
        read_buyer(BuyerId) -> OperatorBuyer = ReadBuyerApi, Found::Buyer;
        get_operation(OperationId) -> operation::Operation = GetOperationApi, Found::Operation;
        list_events() -> EventList = ListEventsApi, Listed::Events;
        list_webhooks() -> WebhookList = ListWebhooksApi, Listed::Endpoints;
        get_webhook(EndpointId) -> WebhookProgress = GetWebhookApi, Found::Endpoint;
        list_webhook_attempts(EndpointId) -> WebhookAttemptList = TestWebhookApi, Listed::Attempts;
    }

    pub async fn get_offer(&self, path: OfferPath) -> Result<OperatorOffer, Failure> {
        let api = get_offer::GetOfferApi(Arc::clone(self.operator));
        let found = api.get_offer(self.request(&[]), path).await.map_err(Failed::failure)?;
        let get_offer::Found::Offer(Json(offer)) = found;
        Ok(offer)
    }

    pub async fn decline(&self, path: OfferPath, reason: Reason) -> Result<(), Failure> {
        let api = MoveOfferApi(Arc::clone(self.operator));
        let Moved::Offer(_) = api.go::<Decline>(Action::Decline, &self.request(&[]), path, Some(reason)).await?;
        Ok(())
    }
}

/// The form that was sent.
pub(super) async fn read_form(context: &Context) -> Result<Pairs, Failure> {
    Ok(Pairs(form_urlencoded::parse(&context.read_body().await?).into_owned().collect()))
}

/// Nothing, in place of something that was not found.
pub(super) fn if_found<T>(answer: Result<T, Failure>) -> Result<Option<T>, Failure> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.status().as_u16() == 404 => Ok(None),
        Err(failure) => Err(failure),
    }
}
