//! `PutPartner`: creates or renames a partner.

use super::*;
use crate::wire::party::{NewPartner, Partner};
use lendpay_domain::PartnerId;
use lendpay_domain::command::{PutPartner, PutPartnerOutcome};

pub(crate) struct PutPartnerApi<S>(pub Arc<Operator<S>>);

#[derive(ApiResponse)]
enum Put {
    /// The partner existed; it has these values now.
    #[oai(status = 200)]
    Updated(Json<Partner>),
    /// A new partner.
    #[oai(status = 201)]
    Created(Json<Partner>),
}

impl Operation for PutPartner {
    const ID: &'static str = "PutPartner";
    const ROLE: Option<Role> = Some(Role::Admin);

    fn failures() -> Vec<Failure> {
        write_failures("name: must have 1 to 256 characters", [OperatorFailure::ClientIdTaken.into()])
    }
}

#[OpenApi]
impl<S: Commands> PutPartnerApi<S> {
    /// Create or rename a partner
    ///
    /// You choose the identifier. Repeating the call is safe.
    #[oai(path = "/operator/partners/:partnerId", method = "put", operation_id = "PutPartner", tag = "Tag::Partners")]
    async fn put_partner(
        &self,
        request: OperatorRequest,
        path: PathId<PartnerId>,
        body: Body<NewPartner>,
    ) -> Result<Put, Failed<PutPartner>> {
        let store = self.0.admit::<PutPartner>(&request)?;
        let id = new_id(path.0, "partnerId")?;
        let (name, oauth_client_id) = body.read(request.context.at).await?;
        match store.run(PutPartner { id, name, oauth_client_id, stamp: request.stamp() }).await? {
            PutPartnerOutcome::Created(partner) => Ok(Put::Created(Json(partner.into()))),
            PutPartnerOutcome::Updated(partner) => Ok(Put::Updated(Json(partner.into()))),
            PutPartnerOutcome::ClientTaken => Err(Failure::from(OperatorFailure::ClientIdTaken).into()),
        }
    }
}
