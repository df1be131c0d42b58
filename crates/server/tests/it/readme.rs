//! Every command block of the README runs as it stands, but for addresses (tests run side by side) and for what Cargo
//! builds: the binary is the one under test, and `cargo xtask test` is the test run itself. The block on OAuth 2.0 runs
//! in `tests/oauth`.

use crate::operator::Both;
use crate::process::{BINARY, Process, Server, command, readme_blocks};
use lendpay_cluster::Cluster;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// The sections with command blocks, and how many each has.
const SECTIONS: [(&str, usize); 4] =
    [("Try it", 4), ("Test it", 1), ("Run it for real", 6), ("Accept OAuth 2.0 tokens", 1)];

/// What stands in for Cargo.
const CARGO: &str = "#!/bin/sh
case \"$*\" in
    'run --release -- '*) shift 3; exec target/release/lendpay \"$@\" ;;
    'build --release' | 'xtask test --all') ;;
    *) echo \"not expected: cargo $*\" >&2; exit 1 ;;
esac
";

/// A directory as of a clone that was built.
fn clone() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let (bin, release) = (directory.path().join("bin"), directory.path().join("target/release"));
    std::fs::create_dir_all(&bin).expect("a directory");
    std::fs::create_dir_all(&release).expect("a directory");
    symlink(BINARY, release.join("lendpay")).expect("a link");
    std::fs::write(bin.join("cargo"), CARGO).expect("a file");
    std::fs::set_permissions(bin.join("cargo"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    directory
}

/// A shell in a clone. The binary is on the path only where a block puts it there.
fn bash(clone: &Path, script: &str) -> Command {
    let mut bash = command("bash");
    let script =
        format!("PATH=\"$PWD/bin:$PATH\"\n{script}").replace("curl ", "curl --silent --show-error --fail-with-body ");
    bash.args(["-euo", "pipefail", "-c", &script]).current_dir(clone);
    bash
}

/// Runs a script to its end; returns what it printed.
fn done(mut bash: Command) -> String {
    let output = bash.output().expect("bash runs");
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}\n{complained}");
    said.into_owned()
}

/// A block with the addresses of a service.
fn at(both: &Both, block: &str) -> String {
    block.replace("http://127.0.0.1:8081", &both.url).replace("127.0.0.1:8080", &both.server.address)
}

#[test]
fn every_command_block_is_run_by_a_test() {
    let readme = include_str!("../../../../README.md");
    for (section, count) in SECTIONS {
        assert_eq!(readme_blocks(section).len(), count, "{section}");
    }
    assert_eq!(readme.matches("```sh\n").count(), SECTIONS.iter().map(|(_, count)| count).sum::<usize>());
    assert_eq!(
        readme.matches("```bash").count() + readme.matches("```shell").count() + readme.matches("```console").count(),
        0
    );
}

#[test]
fn try_it_and_test_it() {
    let clone = clone();
    let blocks = readme_blocks("Try it");
    let mut demo = bash(clone.path(), blocks[0]);
    demo.env("LENDPAY_LISTEN", "127.0.0.1:0").env("TMPDIR", clone.path()).stdout(Stdio::piped());
    let mut demo = Process::spawn(demo);
    let lines = BufReader::new(demo.stdout()).lines().map_while(Result::ok);
    let screen: Vec<_> = lines.take_while(|line| !line.contains("Ctrl-C")).collect();
    let word = |begin: &str| {
        let line = screen.iter().find_map(|line| line.trim().strip_prefix(begin));
        line.and_then(|rest| rest.split_whitespace().next())
            .unwrap_or_else(|| panic!("no {begin}: {screen:#?}"))
            .to_owned()
    };
    let address = word("Documentation").replace("/docs", "");
    let told = ["\"status\":\"CustomerAccepted\"", "\"countryCode\":\"GB\"", "\"type\":\"offer.accepted\""];
    for (block, told) in blocks[1..].iter().zip(told) {
        let mut paste = bash(clone.path(), &block.replace("http://127.0.0.1:8080", &address));
        paste.env("KEY", word("API key")).env("APPLICATION", word("Application")).env("OFFER", word("Offer"));
        let said = done(paste);
        assert!(said.contains(told), "{said}");
    }
    done(bash(clone.path(), readme_blocks("Test it")[0]));
}

#[test]
fn run_it_for_real_and_back_it_up() {
    let clone = clone();
    let blocks = readme_blocks("Run it for real");
    done(bash(clone.path(), blocks[0]));
    let mut serve = bash(clone.path(), blocks[1]);
    serve.envs([("LENDPAY_LISTEN", "127.0.0.1:0"), ("LENDPAY_OPERATOR_LISTEN", "127.0.0.1:0")]);
    let both = Both::ready(Process::spawn(serve));
    // The other terminal.
    let script = at(&both, &blocks[2..5].concat());
    let mut terminal = bash(clone.path(), &script);
    let said = done({
        terminal.env("LENDPAY_OPERATOR_URL", &both.url);
        terminal
    });
    for told in
        ["\"status\":\"CustomerAccepted\"", "Southwind Platform", "second", "Representative rate", "offer.accepted"]
    {
        assert!(said.contains(told), "{told}: {said}");
    }
    for made in ["restored-data/log", "backup/log", "backup/mark"] {
        assert!(clone.path().join(made).exists(), "{made}");
    }
}

#[test]
fn on_postgresql() {
    let clone = clone();
    let example = "postgres://lendpay:secret@db1,db2/lendpay?sslmode=verify-full";
    let block = readme_blocks("Run it for real")[5];
    assert!(block.contains(example));
    let script = format!("PATH=target/release:$PATH; {}", block.replace(example, &Cluster::shared().database()));
    let mut serve = bash(clone.path(), &script);
    serve.envs([("LENDPAY_LISTEN", "127.0.0.1:0")]);
    let server = Server::ready(Process::spawn(serve));
    let answer = crate::process::client().get(format!("http://{}/openapi.json", server.address)).call();
    assert_eq!(answer.expect("an answer").status(), 200);
}
