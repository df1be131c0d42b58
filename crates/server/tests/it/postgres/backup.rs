//! Backups of a database are the database's.

use super::{Service, database};
use crate::operator::KEY;
use crate::process::{BINARY, command};

#[test]
fn a_backup_names_the_tools_of_the_database_and_makes_nothing() {
    let service = Service::start(&database(), &[]);
    let directory = tempfile::tempdir().expect("a directory");
    let to = directory.path().join("backup");
    let mut backup = command(BINARY);
    backup.args(["backup", "--operator-url", &service.operator, "--operator-key", KEY, "--to"]).arg(&to);
    let output = backup.output().expect("the binary runs");
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("pg_basebackup") && told.contains("WAL") && told.lines().count() == 1, "{told}");
    assert!(!to.exists());
    assert!(!service.metrics().contains("lendpay_copy_timestamp_seconds"));
}
