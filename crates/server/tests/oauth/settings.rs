//! Settings that stop the start.

use crate::party::Service;
use crate::process::{BINARY, command, run};
use crate::signer::{Signer, claims};
use std::path::Path;

#[test]
fn half_a_configuration() {
    let all = [
        ("--oauth-issuer", "https://id.example"),
        ("--oauth-audience", "https://api.example"),
        ("--oauth-token-url", "https://id.example/token"),
    ];
    let jwks = ("--oauth-jwks-url", "https://id.example/keys");
    let directory = tempfile::tempdir().expect("a directory");
    let store = format!("sled:{}", directory.path().display());
    for (set, missing) in [
        (vec![all[0]], vec![all[1], all[2]]),
        (vec![all[0], all[1]], vec![all[2]]),
        (vec![all[1], all[2], jwks], vec![all[0]]),
        (vec![jwks], vec![all[0], all[1], all[2]]),
        (vec![all[0], (all[1].0, " "), all[2]], vec![all[1]]),
    ] {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--store", &store];
        arguments.extend(set.iter().flat_map(|(flag, value)| [*flag, *value]));
        let ended = run(&arguments);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        assert!(ended.stderr.starts_with("lendpay: OAuth 2.0"), "{}", ended.stderr);
        for (flag, _) in missing {
            assert!(ended.stderr.contains(flag), "{flag}: {}", ended.stderr);
        }
        assert!(is_empty(directory.path()), "settings that do not work leave no store behind");
    }
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).expect("a directory").next().is_none()
}

#[test]
fn half_a_configuration_in_the_environment() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serve = command(BINARY);
    serve.arg("serve").env("LENDPAY_OAUTH_ISSUER", "https://id.example").current_dir(directory.path());
    let output = serve.output().expect("the binary runs");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("--oauth-audience") && stderr.lines().count() == 1, "{stderr}");
    assert!(is_empty(directory.path()), "no store in the default place either");
}

#[test]
fn addresses_that_cannot_be_trusted() {
    for flag in ["--oauth-issuer", "--oauth-token-url", "--oauth-jwks-url"] {
        for address in ["http://id.example", "id.example", "", "https://user:secret@id.example"] {
            let ended = run(&["serve", flag, address]);
            assert_eq!(ended.status.code(), Some(2), "{flag} {address}: {}", ended.stderr);
        }
    }
}

#[test]
fn without_oauth_every_token_is_refused() {
    let service = Service::start(&["northwind"], &[]);
    let signer = Signer::es256("a");
    assert!(!service.accepts(&signer.token(&claims("https://id.example"))));
    assert!(!service.accepts("x"));
}
