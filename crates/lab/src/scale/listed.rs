//! A store of two partners as a file to import: one of them has few offers and buyers, the other all the rest.

use crate::fill;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// The partner with few.
pub const FEW: &str = "00000000-0000-4000-8000-000000000002";

/// How many offers it has, and how many buyers.
pub const OF_FEW: usize = 10_000;

/// When everything happened.
const AT: &str = "2026-01-02T03:04:05Z";

/// Writes so many offers and as many buyers.
pub fn write(path: &Path, count: usize) -> anyhow::Result<()> {
    let mut file = Lines { file: BufWriter::new(File::create(path)?), hash: Sha256::new(), sequence: 0 };
    writeln!(
        file.file,
        r#"{{"export":{{"format":2,"createdAt":"{AT}","program":"lab","history":"{}"}}}}"#,
        fill::PARTNER
    )?;
    for partner in [fill::PARTNER, FEW] {
        file.record("partner", &format!(r#""id":"{partner}","name":"Lab","oauthClientId":null,"createdAt":"{AT}""#))?;
    }
    let mut applications = 0;
    let mut last = String::new();
    // The partner with few comes first; where its identifiers lie in the order of all does not depend on that.
    for (n, pair) in fill::offers(count).iter().enumerate() {
        let partner = if n < OF_FEW { FEW } else { fill::PARTNER };
        if pair.application != last {
            file.record("application", &format!(r#""id":"{}","partnerId":"{partner}""#, pair.application))?;
            last.clone_from(&pair.application);
            applications += 1;
        }
        file.record(
            "offer",
            &format!(
                r#""partnerId":"{partner}","applicationId":"{}","offerId":"{}","terms":{},"at":"{AT}""#,
                pair.application, pair.offer, TERMS
            ),
        )?;
        file.record(
            "buyer",
            &format!(
                r#""partnerId":"{partner}","buyerId":"{}","description":{{"name":"Northwind Bicycles Ltd","registrationNumber":"{n:08}","countryCode":"GB","type":0,"bankAccount":{{"currencyCode":"GBP","accountName":null,"sortCode":null,"accountNumber":null,"bic":"BUKBGB22","accountType":null,"iban":"GB33BUKB20201555555555"}}}},"fingerprint":null,"at":"{AT}""#,
                pair.offer
            ),
        )?;
    }
    file.end(&[("partner", 2), ("application", applications), ("offer", count), ("buyer", count)])
}

const TERMS: &str = r#"{"details":"Representative Rate","fundingType":"TermLoan","offerType":"Underwritten","annualPercentageRate":"0.0905","interestRate":"0.03","expiryAt":"2032-06-03T12:15:44Z","redirectUrl":"https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce","amount":"25000.5","duration":"TwoYears"}"#;

/// The request that caused a record: each has its own.
pub fn operation(sequence: usize) -> String {
    format!("{sequence:032x}")
}

struct Lines {
    file: BufWriter<File>,
    hash: Sha256,
    sequence: usize,
}

impl Lines {
    fn record(&mut self, kind: &str, fields: &str) -> anyhow::Result<()> {
        self.sequence += 1;
        let (n, operation) = (self.sequence, operation(self.sequence));
        let line = format!(
            "{{\"{kind}\":{{\"sequence\":{n},\"cause\":{{\"id\":\"00000000-0000-4000-8001-{n:012x}\",\"occurredAt\":\"{AT}\",\"actor\":\"operator\",\"operationId\":\"{operation}\"}},{fields}}}}}\n"
        );
        self.hash.update(&line);
        Ok(self.file.write_all(line.as_bytes())?)
    }

    fn end(mut self, counts: &[(&str, usize)]) -> anyhow::Result<()> {
        let kinds = ["partner", "key", "keyRevoked", "keyUsed", "application", "offer", "terms", "move", "buyer"];
        let count = |kind| counts.iter().find(|(of, _)| *of == kind).map_or(0, |(_, count)| *count);
        let records: Vec<_> = kinds.iter().map(|kind| format!("\"{kind}\":{}", count(*kind))).collect();
        let mut digest = String::new();
        for byte in self.hash.finalize() {
            write!(digest, "{byte:02x}")?;
        }
        writeln!(self.file, r#"{{"end":{{"records":{{{}}},"sha256":"{digest}"}}}}"#, records.join(","))?;
        Ok(self.file.flush()?)
    }
}
