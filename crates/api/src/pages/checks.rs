//! What the guides say is what the code does: names, numbers and links. Something new without its text fails here.

use super::site;
use super::texts::Text;
use super::{reference, texts};
use crate::document::{operator, partner};
use crate::failure::Failure;
use crate::operations::accept_offer::AcceptOffer;
use crate::operations::decline_offer::DeclineOffer;
use crate::operations::get_buyer::GetBuyer;
use crate::operations::get_offer::GetOffer;
use crate::operations::list_applications::ListApplications;
use crate::operations::list_buyers::ListBuyers;
use crate::operations::list_events::ListEvents;
use crate::operations::list_offers::ListOffers;
use crate::operations::{Operation, parameters};
use crate::rate_limit::FAILURES;
use crate::request_body::BODY;
use crate::sandbox::{self, KEYS, OFFERS, ORDINARY};
use crate::shell::{FIELDS, Limits, SIZE};
use crate::side::Side;
use crate::tokens::scheme::Scope;
use crate::wire::fields::MAX_DEPTH;
use lendpay_domain::command::CreateBuyer;
use lendpay_domain::life_cycle::{Action, IllegalMove};
use lendpay_domain::offer::Status;
use lendpay_domain::page::RECORDS;
use lendpay_domain::rate::RateLimit;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The Markdown of a guide.
fn guide(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../openapi/guides");
    std::fs::read_to_string(folder.join(format!("{name}.md"))).expect("a guide")
}

/// What stands below a heading, up to the next of the same level.
fn section<'g>(guide: &'g str, heading: &str) -> &'g str {
    let (_, rest) = guide.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    let level = heading.split(' ').next().expect("a split has a first part");
    rest.split(&format!("\n{level} ")).next().expect("a split has a first part")
}

/// The rows of tables below their heads, as their cells.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let next = text.lines().skip(1).chain([""]);
    let rows = text.lines().zip(next).filter(|(_, next)| !next.starts_with("|--"));
    rows.filter_map(|(line, _)| Some(line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ").collect())).collect()
}

fn document() -> Value {
    partner::document().pages().document
}

fn operations(document: &Value) -> impl Iterator<Item = &Value> {
    document["paths"].as_object().expect("paths").values().flat_map(|item| item.as_object().expect("an item").values())
}

/// Every failure that partners can meet.
fn failures() -> Vec<Failure> {
    let of_operations = [
        AcceptOffer::all_failures(),
        CreateBuyer::all_failures(),
        DeclineOffer::all_failures(),
        ListApplications::all_failures(),
        ListOffers::all_failures(),
        GetOffer::all_failures(),
        ListBuyers::all_failures(),
        GetBuyer::all_failures(),
        ListEvents::all_failures(),
    ];
    assert_eq!(of_operations.len(), operations(&document()).count(), "each operation is here");
    let of_all = [Failure::NotFound, Failure::MethodNotAllowed(String::new()), Failure::HeadTooLarge, Failure::BadHost];
    of_operations.into_iter().flatten().chain(of_all).collect()
}

#[test]
fn every_error_has_its_text() {
    let guide = guide("errors");
    let by_name = section(&guide, "## By name");
    let codes: BTreeSet<_> = failures().iter().map(Failure::code).collect();
    let told: BTreeSet<_> = by_name.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    assert_eq!(told, codes);
    for failure in failures() {
        let text = section(by_name, &format!("### {}", failure.code()));
        for part in [failure.status().as_str(), "Status ", "**Cause:**", "**What to do:**", "**Repeat:**"] {
            assert!(text.contains(part), "{}: {part}", failure.code());
        }
    }
    let told: BTreeSet<_> =
        rows(section(&guide, "## By status")).iter().filter_map(|row| row[0].parse().ok()).collect();
    let statuses: BTreeSet<_> = failures().iter().map(|failure| failure.status().as_u16()).collect();
    assert_eq!(told, statuses);
}

#[test]
fn every_scope_stands_beside_its_operations() {
    let (guide, document) = (guide("authentication"), document());
    let rows = rows(section(&guide, "## What an operation needs"));
    for scope in Scope::ALL {
        let row = rows.iter().find(|row| row[2].contains(&format!("`{}`", scope.text())));
        let row = row.unwrap_or_else(|| panic!("no text about {}", scope.text()));
        let needs = |operation: &&Value| operation["security"][1]["OAuth2"][0] == scope.text();
        let ids: BTreeSet<_> = operations(&document)
            .filter(needs)
            .map(|operation| format!("`{}`", operation["operationId"].as_str().expect("an id")))
            .collect();
        assert_eq!(row[0].split(", ").map(str::to_owned).collect::<BTreeSet<_>>(), ids, "{}", scope.text());
        assert!(scope.areas().iter().all(|area| row[1].contains(&format!("`{}`", area.name()))), "{}", scope.text());
    }
}

#[test]
fn every_type_of_event_has_its_text() {
    let (paging, offers, document) = (guide("paging"), guide("offers"), document());
    let types = document["components"]["schemas"]["EventType"]["enum"].as_array().expect("an enumeration");
    let told: BTreeSet<_> = rows(section(&paging, "## Follow events")).iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(told, types.iter().map(|name| format!("`{}`", name.as_str().expect("a name"))).collect());
    for name in types.iter().filter_map(Value::as_str).filter(|name| name.starts_with("offer.")) {
        assert!(section(&offers, "## Events").contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_status_of_an_offer_has_its_text_and_its_answers() {
    let guide = guide("offers");
    let told: BTreeSet<_> = rows(section(&guide, "## The statuses")).iter().map(|row| row[0].to_owned()).collect();
    assert_eq!(told, Status::ALL.iter().map(|status| format!("`{status}`")).collect());
    for (action, heading) in [(Action::Accept, "## Accept"), (Action::Decline, "## Decline")] {
        let rows = rows(section(&guide, heading));
        for &from in Status::ALL {
            let row = rows.iter().find(|row| row[0].contains(&format!("`{from}`"))).expect("a row");
            let again = from == action.target() || action == Action::Accept && from == Status::Advanced;
            let answer = match from {
                Status::Offered => format!("200; it is `{}` from now on", action.target()),
                _ if again => "200; nothing changes".to_owned(),
                from => {
                    let refused = Failure::OfferRefused(IllegalMove { from, to: action.target(), indicative: false });
                    format!("409, [`{0}`](/guides/errors#{1})", refused.code(), refused.code().to_lowercase())
                }
            };
            assert_eq!(row[1], answer, "{heading} {from}");
        }
    }
}

#[test]
fn limits_are_those_of_the_code() {
    let thousands = |n: usize| format!("{},{:03}", n / 1000, n % 1000);
    let (limits, errors, paging) = (guide("limits"), guide("errors"), guide("paging"));
    let text = |limit: RateLimit| limit.to_string().replace('/', " in ").replace("s", " seconds");
    let seconds = format!("{} seconds", Limits::default().request_time.as_secs());
    let most = (parameters::LIMIT.schema)();
    let (most, usual) = (most["maximum"].as_f64().expect("a number"), most["default"].as_f64().expect("a number"));
    for (guide, words) in [
        (&limits, format!("usually {}", text(RateLimit::DEFAULT))),
        (&limits, text(FAILURES).replace("1000", "1,000")),
        (&limits, seconds.clone()),
        (&errors, seconds),
        (&limits, format!("{} bytes", thousands(BODY))),
        (&errors, format!("{} bytes", thousands(BODY))),
        (&limits, format!("{FIELDS} fields, {} bytes", thousands(SIZE))),
        (&errors, thousands(SIZE)),
        (&limits, format!("{MAX_DEPTH} levels")),
        (&limits, format!("{most}; of offers and buyers {RECORDS}")),
        (&paging, format!("1 to {most}, {usual} if it is absent")),
        (&paging, format!("{RECORDS} at most")),
        (&guide("authentication"), format!("{} characters", thousands(crate::tokens::LONGEST))),
    ] {
        assert!(guide.replace('\n', " ").contains(&words), "{words}");
    }
}

#[test]
fn every_member_of_a_new_buyer_has_its_text() {
    let (values, document) = (guide("values"), document());
    let resolved = |value: &Value| {
        let to = value["$ref"].as_str().or_else(|| value["allOf"][0]["$ref"].as_str()).expect("a reference");
        document.pointer(&to[1..]).expect("it leads somewhere").clone()
    };
    let create =
        operations(&document).find(|operation| operation["operationId"] == "CreateBuyer").expect("it is there");
    let buyer = resolved(&create["requestBody"]["content"]["application/json"]["schema"]);
    let account = resolved(&buyer["properties"]["bankAccount"]);
    let names = |schema: &Value, prefix: &str| {
        let names = schema["properties"].as_object().expect("properties").keys();
        names.filter(|name| *name != "bankAccount").map(|name| format!("`{prefix}{name}`")).collect::<BTreeSet<_>>()
    };
    let told = rows(section(&values, "## Buyers"));
    let told: BTreeSet<_> = told.iter().flat_map(|row| row[0].split(", ").map(str::to_owned)).collect();
    assert_eq!(told, names(&buyer, "").into_iter().chain(names(&account, "bankAccount.")).collect());
}

#[test]
fn nothing_is_deprecated_while_the_guide_says_so() {
    let deprecated = document().to_string().contains("\"deprecated\":true");
    assert_eq!(guide("versions").contains("Nothing is deprecated now."), !deprecated);
}

#[test]
fn samples_name_what_a_sandbox_has() {
    let known =
        [sandbox::PARTNER, sandbox::APPLICATION, sandbox::OTHER_APPLICATION, sandbox::OTHER_OFFER, sandbox::BUYER];
    let known: BTreeSet<_> = known.into_iter().chain(OFFERS.iter().map(|offer| offer.id)).collect();
    for text in Text::of(Side::Partner).iter().filter(|text| text.name != "changelog") {
        let markdown = guide(text.name);
        for (at, _) in markdown.match_indices("5a4db0c5-") {
            assert!(known.contains(&markdown[at..at + 36]), "{}: {}", text.name, &markdown[at..at + 36]);
        }
        for (at, _) in markdown.match_indices("lendpay_sandbox_") {
            let key: String = markdown[at..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            assert!(KEYS.iter().any(|known| known.key == key), "{}: {key}", text.name);
        }
    }
    assert!(ORDINARY.iter().all(|ordinary| guide("authentication").contains(ordinary.operation)));
}

/// Tests of OAuth 2.0 run the README's block.
#[test]
fn the_token_is_fetched_as_the_readme_does() {
    let guide = guide("authentication");
    let block = guide.split("```sh oauth\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    assert!(include_str!("../../../../README.md").contains(&format!("```sh\n{block}```")));
}

/// Every page of a side by its address.
fn pages(side: Side) -> BTreeMap<String, String> {
    let document = if side == Side::Operator { operator::document().pages().document } else { document() };
    let reference = [(reference::path(side), reference::page(side, &document))];
    let sandbox = (side == Side::Sandbox).then(|| ("/sandbox".to_owned(), sandbox::page()));
    let texts = texts::Text::of(side).iter().map(|text| (text.path(side), text.page(side)));
    texts.chain(reference).chain(sandbox).collect()
}

#[test]
fn links_lead_somewhere_and_anchors_are_unique() {
    for side in [Side::Partner, Side::Sandbox, Side::Operator] {
        let (pages, prefix) = (pages(side), side.pages());
        let others = ["/docs", "/openapi.json", "/openapi.yaml"].map(|path| format!("{prefix}{path}"));
        let attribute = |html: &str, name: &str| -> Vec<String> {
            let begin = format!(" {name}=\"");
            let values = html.split(&begin).skip(1);
            values.map(|rest| rest.split('"').next().expect("a split has a first part").to_owned()).collect()
        };
        let ids: BTreeMap<_, Vec<_>> = pages.iter().map(|(path, html)| (path, attribute(html, "id"))).collect();
        for (path, html) in &pages {
            let own = &ids[path];
            assert_eq!(own.iter().collect::<BTreeSet<_>>().len(), own.len(), "{path}: an id is there twice");
            for link in attribute(html, "href") {
                let (to, id) = link.split_once('#').map_or((&*link, None), |(to, id)| (to, Some(id)));
                let to = if to.is_empty() { path } else { to };
                if let Some(host) = to.strip_prefix("https://") {
                    assert!(
                        [
                            "www.rfc-editor.org/",
                            "datatracker.ietf.org/",
                            "www.standardwebhooks.com/",
                            "github.com/standard-webhooks/"
                        ]
                        .iter()
                        .any(|known| host.starts_with(known)),
                        "{link}"
                    );
                } else if !(others.iter().any(|other| other == to)
                    || to == "data:,"
                    || to.starts_with("http://127.0.0.1:8081/"))
                {
                    let found = ids.get(&to.to_owned()).unwrap_or_else(|| panic!("{path}: {link} leads nowhere"));
                    assert!(id.is_none_or(|id| found.iter().any(|known| known == id)), "{path}: {link}");
                }
            }
        }
    }
}

#[test]
fn what_is_inserted_is_escaped() {
    assert_eq!(site::escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
}
