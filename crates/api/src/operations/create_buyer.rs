//! `CreateBuyer`: a partner registers a company as a buyer (contract 1.3, 2.3–2.5).

use super::{Area, Body, Failed, Operation};
use crate::caller::{Credentials, Gate};
use crate::context::Context;
use crate::failure::Failure;
use crate::random;
use crate::side::Shape;
use crate::tokens::scheme::{OAuth2, Scope};
use crate::wire::buyer::{Buyer, NewBuyer, description};
use crate::wire::json::Json;
use lendpay_domain::buyer_checks::{self, BuyerChecks};
use lendpay_domain::command::{CreateBuyer, CreateBuyerOutcome};
use lendpay_domain::idempotency::IdempotencyKey;
use lendpay_domain::store::{Commands, Queries};
use lendpay_domain::{StoreError, buyer};
use poem::http::HeaderMap;
use poem::{Request, RequestBody};
use poem_openapi::registry::{MetaParamIn, MetaSchema, MetaSchemaRef};
use poem_openapi::{ApiExtractor, ApiExtractorType, ApiResponse, ExtractParamOptions, OpenApi};
use std::sync::Arc;

pub(crate) struct CreateBuyerApi<S> {
    pub store: Arc<S>,
    pub gate: Gate,
    pub checks: BuyerChecks,
}

#[derive(ApiResponse)]
enum Created {
    /// The buyer, created now or by an earlier request with the same Idempotency-Key.
    #[oai(status = 201)]
    Buyer(
        Json<Buyer>,
        /// The address that names the buyer: GetBuyer reads it.
        #[oai(header = "Location")]
        String,
        /// `true` when an earlier request with the same Idempotency-Key created the buyer; absent otherwise.
        #[oai(header = "Idempotency-Replayed")]
        Option<String>,
    ),
}

impl Created {
    fn new(buyer: buyer::Buyer, replayed: bool, context: &Context) -> Self {
        // A creation makes one buyer.
        let _ = context.named().buyer.set(buyer.id);
        let location = format!("/payments/buyers/{}", buyer.id);
        Self::Buyer(Json(buyer.into()), location, replayed.then(|| "true".to_owned()))
    }
}

impl Operation for CreateBuyer {
    const ID: &'static str = "CreateBuyer";
    const SHAPE: Shape = Shape::Payments;

    fn failures() -> Vec<Failure> {
        vec![
            Failure::BadBuyer(vec![
                "countryCode: must be an ISO 3166-1 alpha-2 country code".to_owned(),
                "bankAccount.iban: has wrong check digits".to_owned(),
            ]),
            Failure::BadBody("The body is not valid JSON (line 3, column 5).".to_owned()),
            Failure::BadIdempotencyKey,
            Failure::BadRequest,
            Failure::NoCredentials,
            Failure::InvalidApiKey,
            Failure::InvalidToken,
            Failure::InsufficientScope(Scope::CreateBuyers),
            Failure::ReadOnlyKey,
            Failure::MissingScope(Scope::CreateBuyers),
            Failure::RateLimited(1),
            Failure::Timeout,
            Failure::TooLarge,
            Failure::UnsupportedMediaType,
            Failure::IdempotencyKeyReused,
            Failure::Internal,
            Failure::Store(StoreError::Unavailable),
            Failure::Store(StoreError::OutcomeUnknown),
        ]
    }
}

#[OpenApi]
impl<S: Commands + Queries> CreateBuyerApi<S> {
    /// Create a buyer
    ///
    /// Registers a company as a buyer. With an Idempotency-Key it is safe to repeat the call: the buyer is created once
    /// and every repetition gets the original answer.
    #[oai(path = "/payments/buyers", method = "post", operation_id = "CreateBuyer", tag = "Area::Payments")]
    async fn create_buyer(
        &self,
        context: Context,
        credentials: Credentials,
        #[oai(scope = "Scope::CreateBuyers")] _token: OAuth2,
        /// Makes the call repeatable: 1 to 255 visible ASCII characters, bare or in double quotes, chosen by you for
        /// one buyer. It is remembered for as long as the buyer is.
        #[oai(name = "Idempotency-Key")]
        key: KeyHeader,
        body: Body<NewBuyer>,
    ) -> Result<Created, Failed<CreateBuyer>> {
        let caller = self.gate.admit(&*self.store, &credentials, Scope::CreateBuyers, &context).await?;
        let (key, buyer) = (key.0?, check(&body, self.checks).await?);
        let _turn = self.gate.turns.take(caller.partner, context.crowd()).await?;
        let (fresh, stamp) = (random::buyer_id(context.at), context.stamp(caller.actor));
        let command = CreateBuyer::new(caller.partner, fresh, key.as_ref(), buyer, stamp);
        match self.store.run(command).await? {
            CreateBuyerOutcome::Created(buyer) => Ok(Created::new(buyer, false, &context)),
            CreateBuyerOutcome::Replayed(buyer) => {
                context.set_unchanged();
                Ok(Created::new(buyer, true, &context))
            }
            CreateBuyerOutcome::KeyReused => Err(Failure::IdempotencyKeyReused.into()),
        }
    }
}

/// The header `Idempotency-Key`, judged only after the caller is authenticated.
struct KeyHeader(Result<Option<IdempotencyKey>, Failure>);

impl KeyHeader {
    fn of(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, Failure> {
        let mut values = headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(None) };
        let text = value.to_str().ok().filter(|_| values.next().is_none()).ok_or(Failure::BadIdempotencyKey)?;
        let bare = match text.trim().strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').ok_or(Failure::BadIdempotencyKey)?,
            None => text.trim(),
        };
        IdempotencyKey::parse(bare).map(Some).ok_or(Failure::BadIdempotencyKey)
    }
}

impl<'a> ApiExtractor<'a> for KeyHeader {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Header)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(MetaSchemaRef::Inline(Box::new(MetaSchema {
            min_length: Some(1),
            // With its quotes.
            max_length: Some(IdempotencyKey::MAX + 2),
            pattern: Some("^(\"[!-~]+\"|[!#-~][!-~]*)$".to_owned()),
            example: Some("5f0c6f4e-9a53-4d5d-9d0c-3a1f6f1c2b7a".into()),
            ..MetaSchema::new("string")
        })))
    }

    async fn from_request(
        request: &'a Request,
        _body: &mut RequestBody,
        _options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        Ok(Self(Self::of(request.headers())))
    }
}

/// Reads and judges a body; everything that is wrong is reported at once.
async fn check(body: &Body<NewBuyer>, checks: BuyerChecks) -> Result<buyer::NewBuyer, Failure> {
    let mut fields = body.fields().await?;
    let checked = buyer_checks::check(description(&mut fields), checks);
    let mut problems = fields.problems();
    match checked {
        Ok(buyer) if problems.is_empty() => return Ok(buyer),
        Ok(_) => {}
        Err(found) => problems.extend(found.iter().map(|p| format!("{}: {}", p.path, p.message))),
    }
    Err(Failure::BadBuyer(problems))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idempotency_key_may_be_bare_or_quoted() {
        let key = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append("idempotency-key", value.parse().expect("a header value"));
            }
            KeyHeader::of(&headers)
        };
        assert_eq!(key(&[]), Ok(None));
        assert_eq!(key(&["abc"]), Ok(IdempotencyKey::parse("abc")));
        assert_eq!(key(&["\"abc\""]), key(&["abc"]));
        assert_eq!(key(&[" abc "]), key(&["abc"]));
        for bad in [&[""][..], &["\"\""], &["\"abc"], &["\""], &["a b"], &["é"], &["abc", "abc"]] {
            assert_eq!(key(bad), Err(Failure::BadIdempotencyKey), "{bad:?}");
        }
        assert!(key(&[&"k".repeat(255)]).is_ok());
        assert!(key(&[&"k".repeat(256)]).is_err());
    }
}
