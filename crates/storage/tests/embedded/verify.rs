//! Checks of a stopped store.

use crate::conformance::samples::*;
use crate::seen::fill;
use crate::{copy, copy_files, empty, files, open};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::store::Commands as _;
use lendpay_storage::{EmbeddedOptions, Finding, OpenError, Verified, verify_embedded};
use std::path::Path;
use tempfile::TempDir;

/// What a check finds. It leaves nothing and changes nothing.
pub fn verified(path: &Path) -> Result<(Verified, Vec<Finding>), OpenError> {
    let content = || -> Vec<_> {
        let read = |file: &Path| std::fs::read(path.join(file)).expect("readable");
        files(path).into_iter().map(|file| (read(&file), file)).collect()
    };
    let before = content();
    let mut findings = Vec::new();
    let verified = verify_embedded(path, EmbeddedOptions::default(), |finding| findings.push(finding));
    assert!(content() == before);
    assert!(!path.join("verify").exists());
    let verified = verified?;
    assert_eq!(verified.findings, findings.len() as u64);
    Ok((verified, findings))
}

async fn filled() -> TempDir {
    let directory = empty();
    fill(&open(directory.path())).await;
    directory
}

fn shown(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn a_damaged_record_is_named_with_what_is_in_it() {
    let directory = filled().await;
    let log = directory.path().join("log");
    let whole = std::fs::read(&log).expect("there");
    let begin = whole.len();
    let store = open(directory.path());
    store.run(creation(1, 0xaaaa, None, description(), 3)).await.expect("works");
    drop(store);
    let end = std::fs::metadata(&log).expect("there").len();
    // A later one stays readable.
    let store = open(directory.path());
    store.run(creation(1, 0xbbbb, None, description(), 3)).await.expect("works");
    drop(store);
    let mut bytes = std::fs::read(&log).expect("there");
    bytes[end as usize - 20] ^= 4;
    std::fs::write(&log, bytes).expect("writes");
    let (done, findings) = verified(directory.path()).expect("can be checked");
    let wanted = [
        format!("the log is damaged from byte {begin} to byte {end}"),
        format!(
            "the entry {} of the index's table buyers names a place in the log that cannot be read",
            hex(&[partner(1).to_bytes(), buyer_id(0xaaaa).to_bytes()].concat())
        ),
    ];
    assert_eq!(shown(&findings), wanted, "{done:?}");
    assert!(!open(directory.path()).open_report().rebuilt, "opening finds nothing of it");
}

/// The index of a store that went another way from the same state: as long, and wrong.
#[tokio::test]
async fn entries_that_are_not_what_the_log_says_are_named() {
    let one = filled().await;
    let other = copy(one.path());
    for (directory, action, application, buyer) in
        [(&one, Action::Accept, 8, 0xaaaa), (&other, Action::Archive, 9, 0xbbbb)]
    {
        let store = open(directory.path());
        store.run(put_offer(1, 900, terms(), 3)).await.expect("works");
        store.run(go(900, action, 4)).await.expect("works");
        store.run(put_application(application, 1)).await.expect("works");
        store.run(creation(1, buyer, None, description(), 3)).await.expect("works");
    }
    assert_eq!(verified(one.path()).expect("can be checked").1, []);
    std::fs::remove_dir_all(one.path().join("index")).expect("deletes");
    std::fs::create_dir(one.path().join("index")).expect("creates");
    copy_files(&other.path().join("index"), &one.path().join("index"));
    let (done, findings) = verified(one.path()).expect("can be checked");
    let entry = |table, key: &[u8], problem| Finding::Entry { table, key: hex(key), problem };
    let of = |second: [u8; 16]| [partner(1).to_bytes(), second].concat();
    let wanted = [
        entry("offers", &[application(1).to_bytes(), offer(900).to_bytes()].concat(), "is not what the log says"),
        entry("buyers", &of(buyer_id(0xaaaa).to_bytes()), "is missing"),
        entry("buyers", &of(buyer_id(0xbbbb).to_bytes()), "is not in the log"),
        entry("applications", &application(8).to_bytes(), "is missing"),
        entry("applications", &application(9).to_bytes(), "is not in the log"),
        entry("applications_of", &of(application(8).to_bytes()), "is missing"),
        entry("applications_of", &of(application(9).to_bytes()), "is not in the log"),
    ];
    assert_eq!(findings, wanted, "{done:?}");
}

#[tokio::test]
async fn a_store_that_was_not_closed_has_its_log_checked() {
    let directory = filled().await;
    let store = open(directory.path());
    let live = copy(directory.path());
    let error = verified(directory.path()).expect_err("it is open");
    assert!(matches!(error, OpenError::InUse { .. }), "{error}");
    drop(store);
    let (closed, _) = verified(directory.path()).expect("can be checked");
    let (killed, findings) = verified(live.path()).expect("can be checked");
    assert_eq!(findings, []);
    assert!(closed.entries.is_some());
    assert_eq!(Verified { entries: None, ..closed }, killed);
    // A group that was broken off.
    let log = live.path().join("log");
    let length = std::fs::metadata(&log).expect("there").len();
    std::fs::write(&log, [std::fs::read(&log).expect("there"), vec![7; 99]].concat()).expect("writes");
    let (torn, findings) = verified(live.path()).expect("can be checked");
    assert_eq!((torn, findings), (Verified { unfinished: 99, ..killed }, Vec::new()));
    // An end that is missing.
    std::fs::write(&log, &std::fs::read(&log).expect("there")[..length as usize - 1]).expect("writes");
    let (_, findings) = verified(live.path()).expect("can be checked");
    assert!(matches!(findings[..], [Finding::End { .. }, Finding::Frames { .. }]), "{findings:?}");
}

#[test]
fn what_is_no_store_is_not_checked() {
    let directory = empty();
    let absent = directory.path().join("absent");
    let error = verify_embedded(&absent, EmbeddedOptions::default(), drop).expect_err("nothing is there");
    assert!(matches!(error, OpenError::Directory { .. }), "{error}");
    let (_, findings) = verified(directory.path()).expect("can be read");
    assert_eq!(findings, [Finding::Head]);
    assert_eq!(files(directory.path()), Vec::<std::path::PathBuf>::new(), "nothing is created");
}
