//! `GetPartner`: one partner.

use super::*;
use crate::wire::party::Partner;
use lendpay_domain::PartnerId;

pub(crate) struct GetPartnerApi<S>(pub Arc<Operator<S>>);

pub(crate) struct GetPartner;

#[derive(ApiResponse)]
pub(crate) enum Found {
    /// The partner.
    #[oai(status = 200)]
    Partner(Json<Partner>),
}

impl Operation for GetPartner {
    const ID: &'static str = "GetPartner";
    const ROLE: Option<Role> = Some(Role::Read);

    fn failures() -> Vec<Failure> {
        failures([not_found(Resource::Partner)])
    }
}

#[OpenApi]
impl<S: Queries> GetPartnerApi<S> {
    /// Read a partner
    ///
    /// Its keys are listed by `ListKeys`.
    #[oai(path = "/operator/partners/:partnerId", method = "get", operation_id = "GetPartner", tag = "Tag::Partners")]
    pub async fn get_partner(
        &self,
        request: OperatorRequest,
        path: PathId<PartnerId>,
    ) -> Result<Found, Failed<GetPartner>> {
        let store = self.0.admit::<GetPartner>(&request)?;
        let id = path.0.ok_or_else(|| not_found(Resource::Partner))?;
        Ok(Found::Partner(Json(store.find_partner(id).await?.ok_or_else(|| not_found(Resource::Partner))?.into())))
    }
}
