//! Reading a file of offers.

use super::{FileFormat, Problems};
use crate::system_clock::SystemClock;
use lendpay_api::{Clock as _, check_offer, offer_of_line, offer_of_texts};
use lendpay_domain::{ApplicationId, OfferId, Timestamp};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{BufRead, Read};
use uuid::Uuid;

/// An offer of a file.
pub struct Line {
    /// Where it is in the file.
    pub number: u64,
    /// The offer as the service takes it.
    pub offer: Map<String, Value>,
}

impl Line {
    /// Names the owner of the application, if the line does not.
    pub fn add_partner(&mut self, partner: &str) {
        let named = self.offer.entry("partnerId").or_insert(Value::Null);
        if named.is_null() {
            *named = partner.into();
        }
    }
}

/// Reads and checks every line. The error is that of reading.
pub fn read(file: impl BufRead, format: FileFormat, problems: &mut Problems) -> Result<Vec<Line>, String> {
    let mut lines = Lines { good: Vec::new(), seen: HashMap::new(), problems, now: SystemClock.now() };
    match format {
        FileFormat::Csv => lines.csv(file)?,
        FileFormat::Ndjson => lines.ndjson(file)?,
    }
    Ok(lines.good)
}

struct Lines<'a> {
    good: Vec<Line>,
    /// The line of each offer.
    seen: HashMap<(ApplicationId, OfferId), u64>,
    problems: &'a mut Problems,
    now: Timestamp,
}

impl Lines<'_> {
    fn ndjson(&mut self, file: impl BufRead) -> Result<(), String> {
        for (number, line) in (1..).zip(file.split(b'\n')) {
            let line = line.map_err(|error| format!("cannot be read: {error}"))?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            match offer_of_line(&line) {
                Ok(offer) => self.add(number, offer),
                Err(problem) => self.problems.tell(number, &problem),
            }
        }
        Ok(())
    }

    fn csv(&mut self, file: impl Read) -> Result<(), String> {
        let mut file = csv::ReaderBuilder::new().trim(csv::Trim::Headers).from_reader(file);
        let fields = file.headers().map_err(|error| format!("the first line cannot be read: {error}"))?.clone();
        if let Some(twice) = fields.iter().enumerate().find(|(n, field)| fields.iter().take(*n).any(|it| it == *field))
        {
            return Err(format!("the first line names the field {} twice", twice.1));
        }
        for record in file.records() {
            match record {
                Ok(record) => {
                    let number = record.position().map_or(0, csv::Position::line);
                    self.add(number, offer_of_texts(fields.iter().zip(&record)));
                }
                Err(error) if error.is_io_error() => return Err(format!("cannot be read: {error}")),
                Err(error) => {
                    let number = error.position().map_or(0, csv::Position::line);
                    let problem = match error.kind() {
                        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                            format!("has {len} fields, and the first line names {expected_len}")
                        }
                        _ => "is not UTF-8".to_owned(),
                    };
                    self.problems.tell(number, &problem);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, number: u64, mut offer: Map<String, Value>) {
        let mut problems: Vec<_> = identify(&mut offer).err().map(str::to_owned).into_iter().collect();
        let checked = check_offer(offer.clone(), self.now);
        // That an id is missing was said with what may be there in its place.
        let found = checked.as_ref().err().into_iter().flatten();
        problems.extend(found.filter(|problem| *problem != "offerId: is required").cloned());
        match checked {
            Ok(ids) if problems.is_empty() => match self.seen.entry(ids) {
                Entry::Vacant(first) => {
                    first.insert(number);
                    self.good.push(Line { number, offer });
                }
                Entry::Occupied(first) => {
                    self.problems.tell(number, &format!("offerId: line {} has the same offer", first.get()));
                }
            },
            _ => problems.iter().for_each(|problem| self.problems.tell(number, problem)),
        }
    }
}

/// Gives an offer that has a `reference` in place of an id the id that follows from it and the application: the UUID of
/// version 5 (RFC 9562) of the reference in the name space of the application. So a file can be loaded again.
fn identify(offer: &mut Map<String, Value>) -> Result<(), &'static str> {
    let given = |value: &Value| !value.is_null();
    let has_id = offer.get("offerId").is_some_and(given);
    match offer.shift_remove("reference").filter(given) {
        None if has_id => Ok(()),
        None => Err("offerId: is required, or a reference that it follows from"),
        Some(_) if has_id => Err("reference: cannot be there beside offerId"),
        Some(Value::String(reference)) if !reference.is_empty() => {
            // An application that is no UUID is found by the check.
            let application = offer.get("applicationId").and_then(Value::as_str).and_then(ApplicationId::parse);
            let space = application.map_or(Uuid::nil(), ApplicationId::uuid);
            offer.insert("offerId".to_owned(), Uuid::new_v5(&space, reference.as_bytes()).to_string().into());
            Ok(())
        }
        Some(_) => Err("reference: must be a text of at least one character"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ID: &str = "5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21";

    fn identified(offer: Value) -> Result<Value, &'static str> {
        let Value::Object(mut offer) = offer else { panic!("an object") };
        identify(&mut offer).map(|()| Value::Object(offer))
    }

    #[test]
    fn an_id_follows_from_the_application_and_the_reference() {
        let of = |application: &str, reference: &str| {
            let offer = identified(json!({ "applicationId": application, "reference": reference })).expect("an id");
            assert!(offer.get("reference").is_none(), "the service does not know it");
            offer["offerId"].as_str().expect("an id").to_owned()
        };
        assert_eq!(of(ID, "A-1"), of(ID, "A-1"));
        assert!(of(ID, "A-1") != of(ID, "A-2") && of(ID, "A-1") != of(&ID.replace('5', "6"), "A-1"));
        // RFC 9562, A.4.
        assert_eq!(
            of("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2"
        );
        assert_eq!(identified(json!({ "offerId": ID, "reference": null })), Ok(json!({ "offerId": ID })));
        for bad in [
            json!({}),
            json!({ "offerId": ID, "reference": "x" }),
            json!({ "reference": 1 }),
            json!({ "reference": "" }),
        ] {
            assert!(identified(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_file_is_read_whole_and_everything_that_is_wrong_is_counted() {
        const HEADER: &str = "applicationId, reference,details,fundingType,offerType,annualPercentageRate,amount\n";
        let good = |n: u32| format!("{ID},\"A\n{n}\",\"Fixed, no fee\",TermLoan,Underwritten,0.09,25000\n");
        let read_all = |format, text: &str| {
            let mut problems = Problems::default();
            let lines = read(text.as_bytes(), format, &mut problems).expect("readable");
            (lines.iter().map(|line| line.number).collect::<Vec<_>>(), problems.count)
        };
        // A byte order mark, as spreadsheets write it, is no part of the first name.
        let text = format!("\u{feff}{HEADER}{}{}", good(1), good(2));
        assert_eq!(read_all(FileFormat::Csv, &text), (vec![2, 4], 0));
        let text = format!("{HEADER}{}{},x\n{ID},A-3\n{}", good(1), good(2).trim_end(), good(1));
        assert_eq!(read_all(FileFormat::Csv, &text), (vec![2], 3), "two of other lengths, one twice");
        let line = |n: u32| {
            json!({
                "applicationId": ID, "reference": format!("A-{n}"), "details": "-", "fundingType": "TermLoan",
                "offerType": "Indicative", "annualPercentageRate": 0.09,
            })
        };
        let text = format!("{}\n\n{}\r\n{{\n{}\n{}", line(1), line(2), line(2), line(3));
        assert_eq!(read_all(FileFormat::Ndjson, &text), (vec![1, 3, 6], 2));
        let mut problems = Problems::default();
        let twice = read("details,amount,details\n".as_bytes(), FileFormat::Csv, &mut problems);
        assert_eq!(twice.err().as_deref(), Some("the first line names the field details twice"));
    }
}
