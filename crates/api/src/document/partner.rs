//! The partners' document.

use super::finish::{OperationExamples, finish, published};
use super::no_store::{Described, NoStore};
use super::webhooks::ToPartners;
use super::{Finished, examples, operations_of, samples};
use crate::operations::accept_offer::AcceptOffer;
use crate::operations::decline_offer::DeclineOffer;
use crate::operations::get_buyer::GetBuyer;
use crate::operations::get_offer::GetOffer;
use crate::operations::list_applications::ListApplications;
use crate::operations::list_buyers::ListBuyers;
use crate::operations::list_events::ListEvents;
use crate::operations::list_offers::ListOffers;
use crate::partner_side::Operations;
use lendpay_domain::PartnerId;
use lendpay_domain::command::CreateBuyer;
use lendpay_domain::query::Scope;
use poem_openapi::OpenApiService;

/// The version of the document (semantic); `openapi/CHANGELOG.md` says what changed.
const VERSION: &str = "2.0.0";

const DESCRIPTION: &str = "\
Accept and decline loan offers on behalf of your customers, register companies as buyers, and read what you have.

**Authentication.** Send your API key in the header `X-Service-ApiKey`. Where the operator has set up OAuth 2.0, an
access token in the header `Authorization: Bearer` suffices as well; when both are there the key decides. A key
belongs to one partner and names the areas (lending, payments) that it may be used for, and may be narrowed to reading;
a token has scopes and its client belongs to one partner. Without a valid key or token the answer is 401, with one for
other operations 403.

**Errors.** Every error has a JSON body with `title`, `message`, `errors`, `date` and `operationId`; under `/lending`
it also has `errorCode`, a stable name for programs. Quote `operationId` to support; the header `X-Request-Id` of
every response has the same value. Send a W3C `traceparent` and it is your trace id. Read the status and `errorCode`
in a program, never the wording of `title`, `message` or `errors`; ignore members that you do not know, since more may
come.

| Status | What to do |
|---|---|
| 400, 413, 415, 422 | Fix the request; the same one fails again. |
| 401, 403 | Get another key; `message` says what is wrong with this one. |
| 404, 409 | Do not retry: you have no such thing, or the offer can no longer be accepted or declined. |
| 409 of `ListEvents` | Read from the beginning: what you passed as `after` is not known here. |
| 429 | Retry after the seconds in `Retry-After`. |
| 408, 500, 503 | Retry, first after a second (or what `Retry-After` says), then with exponential backoff. |

**Lists** answer `items` and `next`. Pass `next` as `after` to get the next page; it is null at the end. `limit` is 1 to
500, 100 when it is absent. A parameter that an operation does not list, or that is there twice, is refused with 400, so
that a misspelt filter is not ignored; operations that change something ignore all.

**Webhooks.** The operator can have your events sent to you: `x-webhooks` says what arrives, and in the form of OpenAPI 3.1
(its `webhooks`). Each request is signed by the Standard Webhooks specification. One event may arrive more than once, under
the same `webhook-id`; those of one offer or buyer arrive in order.

**Asking again.** A read of one offer or buyer has an `ETag`. Send it as `If-None-Match`, and the answer is 304 without a
body while nothing has changed.

**Retrying a call.** Reading, and accepting or declining an offer again is safe: it answers with the offer as it stands.
Creating a buyer is
safe to repeat with the same `Idempotency-Key`: the buyer is created once, and repetitions carry
`Idempotency-Replayed: true`. A UUID made for each buyer is a good key. Failures are not remembered, so that a
corrected request may use the key again.

**Life of an offer.** Offered → CustomerAccepted, CustomerDeclined, Expired or Archived; CustomerAccepted → Advanced
or Archived; Advanced, CustomerDeclined and Expired → Archived. An offer whose `expiryAt` has passed can no longer be
accepted or declined, and is read as Expired.

**Limits.** A body may have 65,536 bytes, a request may take 30 seconds. You may make as many requests as
`RateLimit-Policy` says (`q` in `w` seconds; usually 2000 in 300), all at once or spread; `RateLimit` says what you
have left.

**Times** are RFC 3339 in UTC, with `Z` and 0, 3, 6 or 9 digits of fraction. **Rates** are fractions: 0.09 is nine
percent. **Texts** that you send have at least one visible character, no control characters, and no bidirectional
embeddings, overrides or isolates (U+202A to U+202E, U+2066 to U+2069).";

/// The document as it is committed: with OAuth 2.0, at an example's token URL.
pub(crate) fn document() -> Finished {
    let operations = Described::<Operations<NoStore>>::new();
    let service = OpenApiService::new(operations, "Lendpay", VERSION).description(DESCRIPTION).server("/");
    let service = published(service.webhooks::<ToPartners>(), "Lendpay partner support");
    let examples = [
        OperationExamples::of::<AcceptOffer>(examples::offers(), None),
        OperationExamples::of::<CreateBuyer>(examples::buyers(), Some(examples::new_buyers()))
            .read_by("GetBuyer", "buyerId"),
        OperationExamples::of::<DeclineOffer>(examples::declined(), None),
        OperationExamples::of::<ListApplications>(examples::application_list(), None),
        OperationExamples::of::<ListOffers>(examples::offer_list(), None),
        OperationExamples::of::<GetOffer>(examples::read_offers(), None),
        OperationExamples::of::<ListBuyers>(examples::buyer_list(), None),
        OperationExamples::of::<GetBuyer>(examples::buyers(), None),
        OperationExamples::of::<ListEvents>(examples::event_list(), None),
    ];
    let raw = service.spec();
    let scope = Scope::Partner(PartnerId::from_bytes([0; 16]));
    Finished { value: finish(&raw, &examples, scope), page: service.swagger_ui_html(), raw }
}

/// The document as a server serves it: partners reach it at `public_url`, if it knows, and get tokens at `token_url`;
/// without one there is no OAuth 2.0.
pub(crate) fn served(public_url: Option<&str>, token_url: Option<&str>) -> Finished {
    let mut document = document();
    if let Some(url) = public_url.map(|url| url.trim_end_matches('/')) {
        document.value["servers"][0]["url"] = url.into();
        document.value["externalDocs"]["url"] = format!("{url}/").into();
        for operation in operations_of(&mut document.value) {
            let samples = operation["operationId"].as_str().and_then(|id| samples::of(id, url));
            operation["x-codeSamples"] = samples.expect("every operation has samples");
        }
    }
    let schemes = &mut document.value["components"]["securitySchemes"];
    if let Some(token_url) = token_url {
        schemes["OAuth2"]["flows"]["clientCredentials"]["tokenUrl"] = token_url.into();
        return document;
    }
    schemes.as_object_mut().expect("the document has security schemes").shift_remove("OAuth2");
    for operation in operations_of(&mut document.value) {
        let security = operation["security"].as_array_mut().expect("every operation says how it is secured");
        security.retain(|alternative| alternative.get("OAuth2").is_none());
    }
    document
}
