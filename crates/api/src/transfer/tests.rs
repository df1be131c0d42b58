//! Every record comes back as it was, and damage is found with its line.

use super::*;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::change::{Cause, Change, OfferKey, Record};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::Actor;
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{Area, KeyHash, KeyRecord};
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, EventId, HistoryId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;
use uuid::Uuid;

fn moments() -> impl Strategy<Value = Timestamp> {
    (-62_167_219_200_i64..253_402_300_800, 0..1_000_000_000_u32)
        .prop_map(|(seconds, nanoseconds)| Timestamp::from_timestamp(seconds, nanoseconds).expect("in range"))
}

fn digits(most: u64) -> impl Strategy<Value = String> {
    (0..=most, 0..12_usize)
        .prop_map(|(number, scale)| format!("{number}.{:0>scale$}1", ""))
        .prop_map(move |text| if text.starts_with(&most.to_string()) { most.to_string() } else { text })
}

fn texts() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..30).prop_map(String::from_iter)
}

fn names() -> impl Strategy<Value = Name> {
    texts().prop_filter_map("a name", |text| Name::parse(&text).ok())
}

prop_compose! {
    fn all_terms()(
        details in texts(),
        offer_type in select(OfferType::ALL),
        rate in digits(1_000),
        interest in option::of(digits(1_000)),
        expiry_at in option::of(moments()),
        path in option::of("[a-zA-Z0-9/?=&%-]{0,40}"),
        amount in option::of(digits(1_000_000_000_000_000)),
        duration in option::of(select(Duration::ALL)),
    ) -> Terms {
        Terms {
            details: Details::parse(&details).expect("short"),
            funding_type: FundingType::TermLoan,
            offer_type,
            annual_percentage_rate: Rate::from_digits(&rate).expect("in range"),
            interest_rate: interest.map(|rate| Rate::from_digits(&rate).expect("in range")),
            expiry_at,
            redirect_url: path.map(|path| RedirectUrl::parse(&format!("https://a.example/{path}")).expect("a URL")),
            amount: amount.map(|amount| Amount::from_digits(&amount).expect("in range")),
            duration,
        }
    }
}

prop_compose! {
    fn descriptions()(
        texts in vec(option::of(texts()), 10),
        kind in option::of(any::<i32>()),
        has_account in any::<bool>(),
    ) -> Description {
        let mut texts = texts.into_iter();
        let mut next = || texts.next().flatten();
        let (name, registration_number, country_code) = (next(), next(), next());
        let account = BankAccount {
            currency_code: next(),
            account_name: next(),
            sort_code: next(),
            account_number: next(),
            bic: next(),
            account_type: next(),
            iban: next(),
        };
        Description { name, registration_number, country_code, kind, bank_account: has_account.then_some(account) }
    }
}

prop_compose! {
    pub(super) fn records()(
        kind in 0..Line::KINDS.len(),
        sequence in option::of(any::<u64>()),
        caused in any::<bool>(),
        ids in any::<[[u8; 16]; 4]>(),
        hash in any::<[u8; 32]>(),
        names in (names(), option::of(texts())),
        times in (moments(), option::of(moments()), option::of(moments())),
        areas in vec(select(&Area::ALL[..]), 0..3),
        terms in all_terms(),
        status in select(Status::ALL),
        actor in 0..4_usize,
        description in descriptions(),
        print in option::of(any::<[u8; 32]>()),
    ) -> Record {
        let [a, b, c, d] = ids;
        let (partner, application) = (PartnerId::from_bytes(a), ApplicationId::from_bytes(b));
        let offer = OfferKey { partner, application, offer: OfferId::from_bytes(c) };
        let actors = [Actor::Key(KeyId::from_bytes(d)), Actor::OAuthClient, Actor::Operator, Actor::Clock];
        let cause = Cause {
            event: EventId::from_bytes(d),
            at: times.0,
            actor: actors[actor],
            operation: OperationId::from_bytes(c),
        };
        let (key, hash, at) = (KeyId::from_bytes(b), KeyHash::from_bytes(hash), times.0);
        let change = match kind {
            0 => Change::PartnerPut(Partner { id: partner, name: names.0, oauth_client_id: names.1, created_at: at }),
            1 => Change::KeyAdded(KeyRecord {
                id: key,
                partner,
                hash,
                name: names.0,
                areas: areas.into_iter().collect(),
                created_at: at,
                expires_at: times.1,
                revoked_at: times.2,
            }),
            2 => Change::KeyRevoked { partner, key, at },
            3 => Change::KeyUsed { key: hash, at },
            4 => Change::ApplicationPut { application, partner },
            5 => Change::OfferCreated { offer, terms, at },
            6 => Change::TermsReplaced { offer, terms },
            7 => Change::OfferMoved { offer, status, at },
            _ => Change::BuyerCreated {
                partner,
                buyer: BuyerId::from_bytes(b),
                description,
                fingerprint: print.map(Fingerprint::from_bytes),
                at,
            },
        };
        Record { sequence, cause: caused.then_some(cause), change }
    }
}

/// The history of every export here.
const HISTORY: Uuid = Uuid::from_u128(7);

pub(super) fn file(records: &[Record]) -> Vec<u8> {
    let mut lines = Lines::default();
    let mut file = lines.header(Timestamp::UNIX_EPOCH, HistoryId::new(HISTORY));
    for record in records {
        file.extend(lines.record(record));
    }
    file.extend(lines.end());
    file
}

fn read(file: &[u8]) -> Result<Vec<Record>, Problem> {
    let mut reader = Reader::new(file);
    let mut records = Vec::new();
    while let Some(record) = reader.next()? {
        records.push(record);
    }
    Ok(records)
}

proptest! {
    #[test]
    fn a_record_comes_back_as_it_was(record in records()) {
        let file = file(std::slice::from_ref(&record));
        let read = read(&file).map_err(|problem| problem.to_string());
        // Debug shows the scale of decimals, which equality does not.
        prop_assert_eq!(format!("{:?}", read), format!("{:?}", Ok::<_, String>(vec![record.clone()])));
        prop_assert!(read == Ok(vec![record]));
    }

    #[test]
    fn a_change_anywhere_below_the_header_is_found(all in vec(records(), 1..4), seed in any::<(usize, u8)>()) {
        let mut file = file(&all);
        prop_assert!(read(&file).is_ok());
        let header = file.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
        let at = header + seed.0 % (file.len() - header);
        let cut = read(&file[..at]).expect_err("cut off");
        prop_assert_eq!(cut.line as usize, file[..at].split(|byte| *byte == b'\n').count());
        let old = file[at];
        file[at] ^= seed.1 | 1;
        // White space between the tokens of the last line says the same.
        let blank = |byte: u8| byte == b' ' || byte == b'\t' || byte == b'\r';
        prop_assert!(blank(file[at]) || blank(old) || read(&file).is_err());
    }

    #[test]
    fn any_line_is_read_or_refused(text in "\\PC{0,80}") {
        let mut file = file(&[]);
        let header = file.iter().position(|byte| *byte == b'\n').expect("a line") + 1;
        file.splice(header..header, format!("{text}\n").into_bytes());
        prop_assert!(read(&file).is_err());
    }
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_not_quoted() {
    let whole = String::from_utf8(file(&[])).expect("UTF-8");
    for (file, wanted) in [
        (String::new(), "line 1: the file ends before its last line"),
        ("hello\n".to_owned(), "line 1: is not the header"),
        (whole.replace("\"format\":2", "\"format\":3"), "line 1: the file has format 3"),
        (whole.replace("\n{", "\n{\"partner\":{\"name\":\"SECRET\"}}\n{"), "line 2: is not a record"),
        (whole.replace("\"key\":0", "\"key\":1"), "line 2: counts or checksum"),
        (whole.clone() + "\n", "line 2: something follows"),
        (whole.lines().next().expect("a line").to_owned() + "\n", "line 2: the file ends before"),
    ] {
        let problem = read(file.as_bytes()).expect_err("refused").to_string();
        assert!(problem.starts_with(wanted) && !problem.contains("SECRET"), "{problem}");
    }
    assert_eq!(check(whole.as_bytes()).expect("whole"), Checked { records: 0, history: Some(HISTORY) });
}

/// What commit 57c173a exported: two partners, keys that are used, revoked and expired, offers in every status, and values that
/// later rules for input would reject.
pub(super) const FORMAT_1: &[u8] = include_bytes!("format-1.ndjson");

/// The same with every time spelled in one way.
fn one_spelling(value: &Value) -> Value {
    match value {
        Value::String(text) => {
            chrono::DateTime::parse_from_rfc3339(text).map_or_else(|_| value.clone(), |time| time.to_rfc3339().into())
        }
        Value::Array(items) => items.iter().map(one_spelling).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), one_spelling(value))).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

#[test]
fn an_export_of_format_1_is_read_without_loss() {
    let records = read(FORMAT_1).expect("complete");
    let lines: Vec<Value> = FORMAT_1
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("JSON"))
        .collect();
    assert_eq!(records.len(), lines.len() - 2);
    for (record, old) in records.iter().zip(&lines[1..]) {
        let new = serde_json::to_value(Line::from(record)).expect("JSON");
        let (kind, old) = old.as_object().expect("a line").iter().next().expect("a member");
        let new = &new[if kind == "keyUse" { "keyUsed" } else { kind }];
        let mut expected = old.clone();
        let fields = expected.as_object_mut().expect("an object");
        fields.entry("sequence").or_insert(Value::Null);
        fields.entry("cause").or_insert(Value::Null);
        if let Some(mut event) = fields.remove("event") {
            let event = event.as_object_mut().expect("an object");
            for field in ["sequence", "partnerId"] {
                fields.insert(field.to_owned(), event.remove(field).expect("a field"));
            }
            fields.insert("at".to_owned(), event["occurredAt"].clone());
            fields.insert("cause".to_owned(), Value::Object(event.clone()));
        }
        if kind == "terms" {
            fields.insert("partnerId".to_owned(), "00000001-0000-4000-8000-000000000001".into());
        }
        assert_eq!(one_spelling(new), one_spelling(&expected));
    }
    let written = read(&file(&records)).expect("complete");
    assert_eq!(written, records, "the same in format 2");
    let cut = read(&FORMAT_1[..FORMAT_1.len() - 1]).expect_err("cut off");
    assert!(cut.to_string().contains("cut off"), "{cut}");
}

#[test]
fn terms_of_format_1_need_the_owner_of_their_application() {
    let text = std::str::from_utf8(FORMAT_1).expect("UTF-8");
    let lines: String =
        text.lines().filter(|line| !line.starts_with("{\"application\"")).map(|line| format!("{line}\n")).collect();
    let problem = read(lines.as_bytes()).expect_err("refused").to_string();
    assert_eq!(problem, "line 10: no line above it names the owner of its application");
}
