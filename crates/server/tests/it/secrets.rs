//! Keys and bank details: not in the log, and of a key not even on disk.

use crate::data::fill;
use crate::process::Server;

#[test]
fn no_key_is_in_the_log_or_on_disk_and_no_bank_detail_in_the_log() {
    const IBAN: &str = "GB33BUKB20201555555555";
    const WRONG: &str = "lendpay_wrongwrongwrongwrong";
    let directory = tempfile::tempdir().expect("a directory");
    let data = fill(directory.path(), 1);
    let server = Server::start(directory.path(), &["--log", "trace"]);
    let key = [("x-service-apikey", data.key.as_str())];
    let bodies = [
        (format!(r#"{{"bankAccount":{{"iban":"{IBAN}"}}}}"#), 201),
        (format!(r#"{{"bankAccount":{{"bic":"{IBAN}"}}}}"#), 400),
        (format!(r#"{{"bankAccount":{{"iban":"{IBAN}""#), 400),
    ];
    for (body, status) in &bodies {
        assert_eq!(server.post("/payments/buyers", &key, body).expect("an answer").status, *status);
        assert_eq!(
            server.post("/payments/buyers", &[("x-service-apikey", WRONG)], body).expect("an answer").status,
            401
        );
    }
    assert_eq!(server.post(&data.accept_path(data.offers[0]), &key, IBAN).expect("an answer").status, 200);
    server.process.signal("TERM");
    let (_, log) = server.process.wait();

    assert!(log.iter().filter(|line| line.contains("lendpay::request")).count() >= 7, "every request has its line");
    for secret in [&data.key, WRONG, IBAN, &IBAN[4..]] {
        assert!(!log.iter().any(|line| line.contains(secret)), "{secret} is in the log");
    }
    let files = std::fs::read_dir(directory.path()).expect("a directory").map(|file| file.expect("a file").path());
    for file in files.filter(|file| file.is_file()) {
        let bytes = std::fs::read(&file).expect("readable");
        let found = bytes.windows(data.key.len()).any(|window| window == data.key.as_bytes());
        assert!(!found, "the key is in {}", file.display());
    }
}
