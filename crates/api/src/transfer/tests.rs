//! Every record comes back as it was, and damage is found with its line.

use super::*;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::event::{Actor, Event, Subject};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::key::{Area, KeyHash, KeyRecord};
use lendpay_domain::offer::{Details, Duration, FundingType, OfferType, RedirectUrl, Status, Terms};
use lendpay_domain::partner::Partner;
use lendpay_domain::record::Record;
use lendpay_domain::text::Name;
use lendpay_domain::{ApplicationId, BuyerId, EventId, KeyId, OfferId, OperationId, PartnerId, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

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
        kind in 0..KINDS.len(),
        sequence in 1..1_000_000_000_u64,
        numbered in any::<bool>(),
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
        let (partner, application, offer) =
            (PartnerId::from_bytes(a), ApplicationId::from_bytes(b), OfferId::from_bytes(c));
        let actors = [Actor::Key(KeyId::from_bytes(d)), Actor::OAuthClient, Actor::Operator, Actor::Clock];
        let event = |subject| Event {
            sequence,
            id: EventId::from_bytes(d),
            occurred_at: times.0,
            partner,
            subject,
            actor: actors[actor],
            operation: OperationId::from_bytes(c),
        };
        let offer_at = |status| Subject::Offer { application, offer, status };
        let number = numbered.then_some(sequence);
        match kind {
            0 => {
                let partner = Partner { id: partner, name: names.0, oauth_client_id: names.1, created_at: times.0 };
                Record::Partner { sequence: number, partner }
            }
            1 => Record::Key {
                sequence: number,
                key: KeyRecord {
                    id: KeyId::from_bytes(b),
                    partner,
                    hash: KeyHash::from_bytes(hash),
                    name: names.0,
                    areas: areas.into_iter().collect(),
                    created_at: times.0,
                    expires_at: times.1,
                    revoked_at: times.2,
                },
            },
            2 => Record::Application { sequence: number, id: application, partner },
            3 => Record::OfferCreated { event: event(offer_at(Status::Offered)), terms },
            4 => Record::OfferTerms { sequence: number, application, offer, terms },
            5 => Record::OfferMoved { event: event(offer_at(status)) },
            6 => Record::BuyerCreated {
                event: event(Subject::Buyer(BuyerId::from_bytes(b))),
                description,
                fingerprint: print.map(Fingerprint::from_bytes),
            },
            _ => Record::KeyUsed { key: KeyHash::from_bytes(hash), at: times.0 },
        }
    }
}

pub(super) fn file(records: &[Record]) -> Vec<u8> {
    let mut lines = Lines::default();
    let mut file = lines.header(Timestamp::UNIX_EPOCH);
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
        let mut all = all;
        for (n, record) in (1..).zip(&mut all) {
            if let Record::OfferCreated { event, .. } | Record::OfferMoved { event } | Record::BuyerCreated { event, .. } = record {
                event.sequence = n;
            }
            if let Record::Partner { sequence, .. } | Record::Key { sequence, .. } | Record::Application { sequence, .. }
                | Record::OfferTerms { sequence, .. } = record {
                *sequence = None;
            }
        }
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
        (whole.replace("\"format\":1", "\"format\":2"), "line 1: the file has format 2"),
        (whole.replace("\n{", "\n{\"partner\":{\"name\":\"SECRET\"}}\n{"), "line 2: is not a record"),
        (whole.replace("\"key\":0", "\"key\":1"), "line 2: counts or checksum"),
        (whole.clone() + "\n", "line 2: something follows"),
        (whole.lines().next().expect("a line").to_owned() + "\n", "line 2: the file ends before"),
    ] {
        let problem = read(file.as_bytes()).expect_err("refused").to_string();
        assert!(problem.starts_with(wanted) && !problem.contains("SECRET"), "{problem}");
    }
    assert_eq!(check(whole.as_bytes()).expect("whole"), Checked { records: 0 });
}
