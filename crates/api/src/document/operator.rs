//! The operator's document.

use super::finish::{OperationExamples, finish, published};
use super::no_store::{Described, NoStore};
use super::{Finished, operator_examples as examples};
use crate::operations::operator::health::{HealthApi, Live, Ready};
use crate::operations::operator::metrics::{Metrics, MetricsApi};
use crate::operations::operator::{
    copy_log::CopyLog, export::Export, get_application::GetApplication, get_buyer::GetBuyer, get_offer::GetOffer,
    get_operation::GetOperation, get_partner::GetPartner, list_all_offers::ListAllOffers, list_events::ListEvents,
    list_keys::ListKeys, list_offers::ListOffers, move_offer::Advance, move_offer::Archive, move_offer::Decline,
    note_backup::NoteBackup, put_offers::PutOffers,
};
use crate::operator_side::Operations;
use lendpay_domain::command::{AddKey, ExpireKey, PutApplication, PutOffer, PutPartner, RevokeKey};
use lendpay_domain::offer::Status;
use lendpay_domain::query::{FindApplications, FindBuyers, FindPartners};
use poem_openapi::OpenApiService;

/// The version of the document (semantic); `openapi/CHANGELOG.md` says what changed.
const VERSION: &str = "3.0.0";

const DESCRIPTION: &str = "\
The operator's side of Lendpay: make partners and their keys, feed offers in, read what happened, move the data.

**Authentication.** Send an operator's key in the header `X-Operator-Key`: the one that the service was started with,
which may do everything, or one of the operators' file, which has a role. Only `/health/…` and `/metrics` need no key.

**Roles.** Each may do what those before it may: `read` reads everything but the export, bank details in full included;
`support` looks up operations and declines offers; `lending` puts applications and offers and moves offers; `admin` does the rest. Each
operation names the least role that may do it, in `x-least-role` too; an operator with less gets 403.

**Errors.** Every error has a JSON body with `title`, `message`, `errorCode` (a stable name for programs), `errors`,
`date` and `operationId`; the header `X-Request-Id` of every response has the same value as `operationId`.

**Lists** answer `items` and `next`. Pass `next` as `after` to get the next page; it is null at the end. `limit` is 1
to 500, 100 when it is absent. With a filter a page may be short, or empty, and yet have a `next`: the service looks at
a bounded number of records for a page.

**Bodies** are one JSON object. A field that is not listed is refused, so that a misspelt one is not ignored.

**Parameters** that an operation does not list, or that are there twice, are refused too, but for those of
`/health/…` and `/metrics`, which ignore them.

**Events.** An offer can no longer be accepted from its `expiryAt` on, and is read as Expired from then on. Its
`offer.expired` is recorded when the service next decides about the offer, at an accept or a transition, which may be
much later or never; its `occurredAt` is the `expiryAt`. Do not wait for this event to learn that an offer has
expired: read the offer.

What operators do to partners, keys and applications is an event too, here and not where partners read events. What
changes nothing is none.

**Support.** `GetOperation` says what became of a call, by the `operationId` that a partner quotes, also of one that was
refused.

**Browsers.** This side answers no cross-origin request: no page but its own documentation can call it.

**Times** are RFC 3339. Answers have them in UTC with `Z` and 0, 3, 6 or 9 digits of fraction; requests may have any
offset and 0 to 9 digits. **Rates** are fractions: 0.09 is nine percent. **Texts** have at least one visible
character, no control characters, and no bidirectional embeddings, overrides or isolates (U+202A to U+202E, U+2066 to
U+2069).";

pub(crate) fn document() -> Finished {
    let operations = Described::<(Operations<NoStore>, HealthApi<NoStore>, MetricsApi)>::new();
    let service = OpenApiService::new(operations, "Lendpay operator", VERSION).description(DESCRIPTION).server("/");
    let service = published(service, "Lendpay operations");
    let described = [
        OperationExamples::of::<PutPartner>(examples::partners(), Some(examples::new_partners())),
        OperationExamples::of::<FindPartners>(examples::partner_list(), None),
        OperationExamples::of::<GetPartner>(examples::partners(), None),
        OperationExamples::of::<AddKey>(examples::made_keys(), Some(examples::new_keys())),
        OperationExamples::of::<ListKeys>(examples::keys(), None),
        OperationExamples::of::<ExpireKey>(vec![], Some(examples::new_expiries())),
        OperationExamples::of::<RevokeKey>(vec![], None),
        OperationExamples::of::<PutApplication>(examples::applications(), Some(examples::new_applications())),
        OperationExamples::of::<FindApplications>(examples::application_list(), None),
        OperationExamples::of::<GetApplication>(examples::applications(), None),
        OperationExamples::of::<PutOffer>(examples::offers(), Some(examples::new_offers())),
        OperationExamples::of::<PutOffers>(examples::batch_answers(), Some(examples::new_batches())),
        OperationExamples::of::<ListAllOffers>(examples::offer_list(), None),
        OperationExamples::of::<ListOffers>(examples::offer_list(), None),
        OperationExamples::of::<GetOffer>(examples::offers(), None),
        OperationExamples::of::<Decline>(examples::moved(Status::CustomerDeclined), None),
        OperationExamples::of::<Advance>(examples::moved(Status::Advanced), None),
        OperationExamples::of::<Archive>(examples::moved(Status::Archived), None),
        OperationExamples::of::<FindBuyers>(examples::buyer_list(), None),
        OperationExamples::of::<GetBuyer>(examples::buyers(), None),
        OperationExamples::of::<ListEvents>(examples::events(), None),
        OperationExamples::of::<GetOperation>(examples::operation(), None),
        OperationExamples::of::<Export>(examples::export(), None),
        OperationExamples::of::<CopyLog>(examples::log(), None),
        OperationExamples::of::<NoteBackup>(vec![], Some(examples::new_backups())),
        OperationExamples::of::<Live>(examples::live(), None),
        OperationExamples::of::<Ready>(examples::ready(), None).answering(503, examples::not_ready()),
        OperationExamples::of::<Metrics>(examples::metrics(), None),
    ];
    let raw = service.spec();
    Finished { value: finish(&raw, &described), page: service.swagger_ui_html(), raw }
}
