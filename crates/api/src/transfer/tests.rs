//! Every record comes back as it was, and damage is found with its line.

use super::*;
use lendpay_domain::change::{Cause, Change, Record};
use lendpay_domain::testing::strategies::{actors, changes, moments};
use lendpay_domain::webhook::{Secrets, Step};
use lendpay_domain::{EventId, HistoryId, OperationId, Timestamp};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;
use uuid::Uuid;

prop_compose! {
    /// Records with any sequence, and with or without a cause: the format asks for neither.
    pub(super) fn records()(
        change in changes(),
        sequence in option::of(any::<u64>()),
        caused in any::<bool>(),
        ids in any::<[[u8; 16]; 2]>(),
        moment in moments(),
        actor in actors(),
    ) -> Record {
        let (event, operation) = (EventId::from_bytes(ids[0]), OperationId::from_bytes(ids[1]));
        let cause = Cause { event, at: change.at().unwrap_or(moment), actor, operation };
        Record { sequence, cause: caused.then_some(cause), change: without_secrets(change) }
    }
}

/// A file holds no secrets.
fn without_secrets(mut change: Change) -> Change {
    if let Change::EndpointPut { endpoint, .. } = &mut change {
        endpoint.secrets = Secrets::default();
    }
    change
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

/// What commit 57c173a exported: two partners, keys that are used, revoked and expired, offers in every status, and
/// values that later rules for input would reject.
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
        if kind == "key" {
            fields.insert("access".to_owned(), "full".into());
        }
        if kind == "terms" {
            fields.insert("partnerId".to_owned(), "00000001-0000-4000-8000-000000000001".into());
            fields.insert("before".to_owned(), Value::Null);
        }
        assert_eq!(one_spelling(new), one_spelling(&expected));
    }
    let written = read(&file(&records)).expect("complete");
    assert_eq!(written, records, "the same in format 2");
    let cut = read(&FORMAT_1[..FORMAT_1.len() - 1]).expect_err("cut off");
    assert!(cut.to_string().contains("cut off"), "{cut}");
}

/// Files that were written before keys could get an earlier expiry, and before old terms were kept.
#[test]
fn an_earlier_file_of_format_2_is_read() {
    let terms = lendpay_domain::testing::imports::terms_replaced(lendpay_domain::testing::samples::offer_key(1, 1));
    let record = lendpay_domain::testing::samples::record(1, terms);
    let mut lines = Lines::default();
    let mut early = lines.header(Timestamp::UNIX_EPOCH, HistoryId::new(HISTORY));
    let line = String::from_utf8(lines.record(&record)).expect("UTF-8");
    let (kept, _) = line.split_once(",\"before\":").expect("terms until then");
    let kept = format!("{kept}}}}}\n");
    early.extend(kept.as_bytes());
    let end = String::from_utf8(lines.end()).expect("UTF-8").replace("\"keyExpiry\":0,", "");
    let hash = |bytes: &[u8]| crate::hex::write(&<sha2::Sha256 as sha2::Digest>::digest(bytes));
    early.extend(end.replace(&hash(line.as_bytes()), &hash(kept.as_bytes())).as_bytes());
    let [read] = &read(&early).expect("complete")[..] else { panic!("one record") };
    assert!(read.change.replaced().is_none() && read.event().is_none(), "no event, as it was then");
    assert_eq!(read.cause, record.cause);
}

#[test]
fn no_secret_of_an_endpoint_is_in_a_file() {
    let endpoint = lendpay_domain::testing::samples::endpoint(1, 77);
    let sealed = endpoint.secrets.current.clone().expect("it has one");
    let put = Change::EndpointPut { endpoint: endpoint.into(), step: Step::Created };
    let record = lendpay_domain::testing::samples::record(1, put);
    let text = String::from_utf8(file(std::slice::from_ref(&record))).expect("UTF-8");
    assert!(!text.contains("secret") && !text.contains(&crate::hex::write(sealed.bytes())), "{text}");
    let read = read(text.as_bytes()).expect("complete");
    assert_eq!(read, [Record { change: without_secrets(record.change.clone()), ..record }]);
}

#[test]
fn terms_of_format_1_need_the_owner_of_their_application() {
    let text = std::str::from_utf8(FORMAT_1).expect("UTF-8");
    let lines: String =
        text.lines().filter(|line| !line.starts_with("{\"application\"")).map(|line| format!("{line}\n")).collect();
    let problem = read(lines.as_bytes()).expect_err("refused").to_string();
    assert_eq!(problem, "line 10: no line above it names the owner of its application");
}
