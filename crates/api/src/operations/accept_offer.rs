//! `AcceptOffer`: a partner accepts a loan offer on behalf of its customer (contract 1.2, 2.1).

use super::{Area, Failed, OfferPath, Operation};
use crate::caller::{Credentials, Gate};
use crate::context::Context;
use crate::failure::Failure;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::json::Json;
use crate::wire::offer::Offer;
use lendpay_domain::StoreError;
use lendpay_domain::command::{MoveOffer, MoveOutcome};
use lendpay_domain::key;
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::store::{Commands, Queries};
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaMediaType, MetaRequest, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions, OpenApi};
use std::sync::Arc;

pub(crate) struct AcceptOfferApi<S> {
    pub store: Arc<S>,
    pub gate: Gate,
}

pub(crate) struct AcceptOffer;

#[derive(ApiResponse)]
enum Accepted {
    /// The offer, accepted now or already.
    #[oai(status = 200)]
    Offer(Json<Offer>),
}

impl Operation for AcceptOffer {
    const ID: &'static str = "AcceptOffer";
    const SHAPE: Shape = Shape::Lending;

    fn failures() -> Vec<Failure> {
        let refused =
            |from| Failure::OfferRefused(IllegalMove { from, to: Status::CustomerAccepted, indicative: false });
        vec![
            Failure::BadRequest,
            Failure::NoCredentials,
            Failure::InvalidApiKey,
            Failure::InvalidToken,
            Failure::InsufficientScope(key::Area::Lending),
            Failure::MissingScope(key::Area::Lending),
            Failure::RateLimited(1),
            Failure::OfferNotFound,
            Failure::Timeout,
            refused(Status::Expired),
            refused(Status::CustomerDeclined),
            refused(Status::Archived),
            Failure::TooLarge,
            Failure::Internal,
            Failure::Store(StoreError::Unavailable),
            Failure::Store(StoreError::OutcomeUnknown),
        ]
    }
}

#[OpenApi]
impl<S: Commands + Queries> AcceptOfferApi<S> {
    /// Accept an offer
    ///
    /// Accepts a loan offer that belongs to an application and returns the offer. Repeating the call is safe: an offer
    /// that is accepted already is returned as it stands. The body is ignored.
    #[oai(
        path = "/lending/applications/:applicationId/offers/:offerId/accept",
        method = "post",
        operation_id = "AcceptOffer",
        tag = "Area::Lending"
    )]
    async fn accept_offer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::AcceptOffers")] _token: OAuth2,
        path: OfferPath,
        body: Ignored,
    ) -> Result<Accepted, Failed<AcceptOffer>> {
        let caller = self.gate.admit(&*self.store, &credentials, key::Area::Lending, &context).await?;
        body.read().await?;
        let _turn = self.gate.turns.take(caller.partner).await?;
        let (application, offer) = path.both().ok_or(Failure::OfferNotFound)?;
        let (partner, stamp) = (Some(caller.partner), context.stamp(caller.actor));
        let command = MoveOffer { partner, application, offer, action: Action::Accept, stamp };
        match self.store.run(command).await? {
            MoveOutcome::Done(offer) => Ok(Accepted::Offer(Json(offer.into()))),
            MoveOutcome::Illegal(illegal) => Err(Failure::OfferRefused(illegal).into()),
            MoveOutcome::NotFound => Err(Failure::OfferNotFound.into()),
        }
    }
}

/// A body that may be anything, or nothing, up to the size limit.
struct Ignored(Context);

impl Ignored {
    async fn read(&self) -> Result<(), Failure> {
        self.0.read_body().await.map(drop)
    }
}

impl<'a> ApiExtractor<'a> for Ignored {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::RequestObject];
    type ParamType = ();
    type ParamRawType = ();

    fn request_meta() -> Option<MetaRequest> {
        Some(MetaRequest {
            description: Some("Ignored; any body is accepted, and none."),
            content: vec![MetaMediaType {
                content_type: "application/json",
                schema: MetaSchemaRef::Inline(Box::new(MetaSchema {
                    example: Some(serde_json::json!({})),
                    ..MetaSchema::ANY
                })),
            }],
            required: false,
        })
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<()>,
    ) -> poem::Result<Self> {
        Ok(Self(Context::of(request)?))
    }
}
