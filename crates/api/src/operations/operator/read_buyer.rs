//! `ReadBuyerInFull`: one buyer, and an event that says who has read it.

use super::*;
use crate::wire::operator_buyer::OperatorBuyer;
use lendpay_domain::BuyerId;
use lendpay_domain::command::ReadBuyer;
use lendpay_domain::query::Scope;

pub(crate) struct ReadBuyerApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The buyer. That it was read is an event.
    #[oai(status = 200)]
    Buyer(Json<OperatorBuyer>),
}

impl Operation for ReadBuyer {
    const ID: &'static str = "ReadBuyerInFull";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Buyer), Failure::Store(StoreError::OutcomeUnknown)])
    }
}

#[OpenApi]
impl<S: Commands + Queries> ReadBuyerApi<S> {
    /// Read a buyer, and keep who did
    ///
    /// For people who look at one buyer, as the console does it: the event `buyer.read_in_full` says who has seen its bank
    /// details. `GetBuyer` answers the same without an event, for systems that read many.
    #[oai(
        path = "/operator/buyers/:buyerId/read",
        method = "post",
        operation_id = "ReadBuyerInFull",
        tag = "Tag::Buyers"
    )]
    pub async fn read_buyer(
        &self,
        request: OperatorRequest,
        path: PathId<BuyerId>,
    ) -> Result<Found, Failed<ReadBuyer>> {
        let store = self.0.admit::<ReadBuyer>(&request)?;
        let id = path.0.ok_or_else(|| not_found(Resource::Buyer))?;
        let partner = store.find_buyer(Scope::All, id).await?.ok_or_else(|| not_found(Resource::Buyer))?.partner;
        let found = store.run(ReadBuyer { partner, id, stamp: request.stamp() }).await?;
        Ok(Found::Buyer(Json(found.ok_or_else(|| not_found(Resource::Buyer))?.into())))
    }
}
