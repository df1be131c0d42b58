//! The partners' document.

use super::finish::{OperationExamples, finish, published};
use super::no_store::{Described, NoStore};
use super::{Finished, examples};
use crate::operations::accept_offer::{AcceptOffer, AcceptOfferApi};
use crate::operations::create_buyer::CreateBuyerApi;
use crate::tokens::scheme::NO_TOKEN_URL;
use lendpay_domain::command::CreateBuyer;
use poem_openapi::OpenApiService;

/// The version of the document (semantic); `openapi/CHANGELOG.md` says what changed.
const VERSION: &str = "1.2.0";

const DESCRIPTION: &str = "\
Accept loan offers on behalf of your customers and register companies as buyers.

**Authentication.** Send your API key in the header `X-Service-ApiKey`, or an OAuth 2.0 access token in the header
`Authorization: Bearer`; either suffices, and when both are there the key decides. A key belongs to one partner and names the
areas (lending, payments) that it may be used for; a token has scopes and its client belongs to one partner. Without a valid
key or token the answer is 401, with one for other operations 403.

**Errors.** Every error has a JSON body with `title`, `message`, `errors`, `date` and `operationId`; under `/lending` it also
has `errorCode`, a stable name for programs. Quote `operationId` to support; the header `X-Request-Id` of every response
has the same value. Send a W3C `traceparent` and it is your trace id. Read the status and `errorCode` in a program, never the
wording of `title`, `message` or `errors`; ignore members that you do not know, since more may come.

| Status | What to do |
|---|---|
| 400, 413, 415, 422 | Mend the request; the same one fails again. |
| 401, 403 | Get another key; `message` says what is wrong with this one. |
| 404, 409 | Take it as the answer: there is no such offer, or it can no longer be accepted. |
| 429 | Repeat the call after the seconds in `Retry-After`. |
| 408, 500, 503 | Repeat the call, first after a second (or what `Retry-After` says), then after longer and longer pauses. |

**Repeating a call.** Accepting an offer again is safe: it answers with the offer as it stands. Creating a buyer is safe to
repeat with the same `Idempotency-Key`: the buyer is created once, and repetitions carry `Idempotency-Replayed: true`. A UUID
made for each buyer is a good key. Failures are not remembered, so that a mended request may use the key again.

**Life of an offer.** Offered → CustomerAccepted, CustomerDeclined, Expired or Archived; CustomerAccepted → Advanced or
Archived; Advanced, CustomerDeclined and Expired → Archived. An offer whose `expiryAt` has passed can no longer be accepted.

**Limits.** A body may have 65,536 bytes, a request may take 30 seconds. You may make as many requests as `RateLimit-Policy` says
(`q` in `w` seconds; usually 2000 in 300), all at once or spread; `RateLimit` says what you have left.

Times are RFC 3339 in UTC. Rates are fractions: 0.09 is nine percent.";

/// The document. `token_url` is where partners get tokens; nothing else in it depends on the server.
pub(crate) fn document(token_url: Option<&str>) -> Finished {
    let operations = Described::<(AcceptOfferApi<NoStore>, CreateBuyerApi<NoStore>)>::new();
    let service = OpenApiService::new(operations, "Lendpay", VERSION).description(DESCRIPTION).server("/");
    let service = published(service, "Lendpay partner support");
    let examples = [
        OperationExamples::of::<AcceptOffer>(examples::offers(), None),
        OperationExamples::of::<CreateBuyer>(examples::buyers(), Some(examples::new_buyers())),
    ];
    let raw = service.spec();
    let mut value = finish(&raw, &examples);
    let flow = &mut value["components"]["securitySchemes"]["OAuth2"]["flows"]["clientCredentials"];
    flow["tokenUrl"] = token_url.unwrap_or(NO_TOKEN_URL).into();
    Finished { value, page: service.swagger_ui_html(), raw }
}
