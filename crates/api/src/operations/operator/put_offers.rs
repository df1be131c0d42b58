//! `PutOffers`: creates many offers, or replaces their terms, each by itself.

use super::*;
use crate::wire::offer_batch::{
    BatchAnswer, BatchFailure, BatchResult, BatchedAnswer, NewOffers, ReadOffer, WholeOffer,
};
use futures_util::future::join_all;
use lendpay_domain::command::{PutApplication, PutApplicationOutcome, PutOffer, PutOfferOutcome};
use lendpay_domain::{ApplicationId, OfferId, PartnerId};
use std::collections::{HashMap, HashSet};

pub(crate) struct PutOffersApi<S>(pub Arc<Operator<S>>);

pub(crate) struct PutOffers;

impl PutOffers {
    /// Its path.
    pub const PATH: &'static str = "/operator/offers/batch";

    /// The most bytes of its body. 500 offers with the longest details and addresses have 5,500,000.
    pub const BODY: usize = 8 * 1024 * 1024;
}

#[derive(ApiResponse)]
enum Put {
    /// What became of each offer.
    #[oai(status = 200)]
    Answers(Json<BatchAnswer>),
}

impl Operation for PutOffers {
    const ID: &'static str = "PutOffers";
    const ROLE: Option<Role> = Some(Role::Lending);

    fn failures() -> Vec<Failure> {
        let failures = write_failures("items: must be an array of 1 to 500 offers", []).into_iter();
        let own = |failure| if failure == Failure::TooLarge { OperatorFailure::BatchTooLarge.into() } else { failure };
        failures.map(own).collect()
    }
}

#[OpenApi]
impl<S: Commands> PutOffersApi<S> {
    /// Create offers or replace their terms
    ///
    /// Up to 500 offers, each as `PutOffer` takes it, with its identifiers, and answered by itself: one that fails leaves
    /// the others alone. With `partnerId` the application is created too if it is not there; it stays if its offer is
    /// refused. Repeating the call is safe, and changes nothing: an offer that has the same terms already is `unchanged`,
    /// in whatever status it is. An offer that is in the batch twice fails twice.
    ///
    /// An item whose failure has the status 503 may be sent again after a second. The whole call answers 503 when nothing
    /// of it could be done.
    #[oai(path = "/operator/offers/batch", method = "post", operation_id = "PutOffers", tag = "Tag::Offers")]
    async fn put_offers(&self, request: OperatorRequest, body: Body<NewOffers>) -> Result<Put, Failed<PutOffers>> {
        let store = self.0.admit::<PutOffers>(&request)?;
        let items = body.read(request.context.at).await?;
        let batch = Batch { store, request: &request };
        let ids: Vec<_> = items.iter().map(|item| (item.application, item.offer)).collect();
        let items = once_each(items);
        // Given together, so that they are made durable together.
        let owners = batch.put_applications(&items).await;
        let results = join_all(items.into_iter().map(|item| batch.put(item, &owners))).await;
        let undone = |result: &Result<BatchResult, Failure>| {
            matches!(result, Err(Failure::Store(StoreError::Overloaded | StoreError::Unavailable)))
        };
        if results.iter().all(undone) {
            return Err(Failure::Store(StoreError::Unavailable).into());
        }
        let answer = |((application, offer), result): ((Option<ApplicationId>, Option<OfferId>), _)| {
            let (result, failure) = match result {
                Ok(result) => (result, None),
                Err(failure) => (BatchResult::Failed, Some(BatchFailure::from(&failure))),
            };
            let (application_id, offer_id) = (application.map(ApplicationId::uuid), offer.map(OfferId::uuid));
            BatchedAnswer { application_id, offer_id, result, failure }
        };
        Ok(Put::Answers(Json(BatchAnswer { items: ids.into_iter().zip(results).map(answer).collect() })))
    }
}

/// An item, or what is wrong with it.
type Item = Result<WholeOffer, Vec<String>>;

/// Items that name the same offer are refused: which terms it should have is not known.
fn once_each(items: Vec<ReadOffer>) -> Vec<Item> {
    let mut counts: HashMap<_, u32> = HashMap::new();
    for item in &items {
        *counts.entry((item.application, item.offer)).or_default() += 1;
    }
    let once = |item: ReadOffer| {
        let offer = item.whole?;
        match counts[&(Some(offer.application), Some(offer.offer))] {
            1 => Ok(offer),
            _ => Err(vec!["offerId: is there twice in the batch".to_owned()]),
        }
    };
    items.into_iter().map(once).collect()
}

/// What became of the applications that items bring along.
type Owners = HashMap<(ApplicationId, PartnerId), Result<(), Failure>>;

struct Batch<'a, S> {
    store: &'a S,
    request: &'a OperatorRequest,
}

impl<S: Commands> Batch<'_, S> {
    async fn put_applications(&self, items: &[Item]) -> Owners {
        let mut seen = HashSet::new();
        let named = items.iter().flatten().filter_map(|offer| Some((offer.application, offer.partner?)));
        let each = named.filter(|named| seen.insert(*named)).map(|(id, partner)| async move {
            let stamp = self.request.stamp();
            let result = match self.store.run(PutApplication { id, partner, stamp }).await {
                Ok(PutApplicationOutcome::Created | PutApplicationOutcome::Unchanged) => Ok(()),
                Ok(PutApplicationOutcome::OwnedByAnother) => Err(OperatorFailure::ApplicationOwned.into()),
                Ok(PutApplicationOutcome::NoPartner) => Err(not_found(Resource::Partner)),
                Err(error) => Err(error.into()),
            };
            ((id, partner), result)
        });
        join_all(each).await.into_iter().collect()
    }

    async fn put(&self, item: Item, owners: &Owners) -> Result<BatchResult, Failure> {
        let WholeOffer { application, offer, partner, terms } = item.map_err(OperatorFailure::BadFields)?;
        if let Some(partner) = partner {
            owners[&(application, partner)].clone()?;
        }
        match self.store.run(PutOffer { application, offer, terms, stamp: self.request.stamp() }).await? {
            PutOfferOutcome::Created(_) => Ok(BatchResult::Created),
            PutOfferOutcome::Replaced(_) => Ok(BatchResult::Replaced),
            PutOfferOutcome::Unchanged(_) | PutOfferOutcome::Fixed { equal: true, .. } => Ok(BatchResult::Unchanged),
            PutOfferOutcome::Fixed { status, equal: false } => Err(OperatorFailure::TermsFixed(status).into()),
            PutOfferOutcome::NoApplication => Err(not_found(Resource::Application)),
        }
    }
}
