//! The console of the running binary: sessions of several processes, wrong keys, names of hosts.

use crate::operator::{Both, KEY};
use crate::operators::{new_key, write};

const HOME: &str = "/operator/console";

/// An answer: its status, its cookie and its page.
struct Answer {
    status: u16,
    cookie: Option<String>,
    page: String,
}

fn send(client: &ureq::Agent, url: &str, cookie: &str, form: Option<&str>) -> Answer {
    let mut answer = match form {
        None => client.get(url).header("cookie", cookie).call(),
        Some(form) => {
            let request = client.post(url).header("cookie", cookie);
            request.header("content-type", "application/x-www-form-urlencoded").send(form)
        }
    }
    .expect("an answer");
    let cookie = answer.headers().get("set-cookie").map(|set| set.to_str().expect("ASCII"));
    let cookie = cookie.and_then(|set| set.split(';').next()).map(str::to_owned);
    Answer { status: answer.status().as_u16(), cookie, page: answer.body_mut().read_to_string().expect("a text") }
}

fn client() -> ureq::Agent {
    ureq::Agent::config_builder().http_status_as_error(false).max_redirects(0).build().into()
}

/// The cookie of the form to sign in, and the form with a key.
fn form(client: &ureq::Agent, both: &Both, key: &str) -> (String, String) {
    let form = send(client, &format!("{}{HOME}/sign-in", both.url), "", None);
    let token = form.page.split_once("name=\"token\" value=\"").and_then(|(_, rest)| rest.split_once('"'));
    (form.cookie.expect("a cookie"), format!("token={}&key={key}", token.expect("a token").0))
}

fn sign_in(client: &ureq::Agent, both: &Both, key: &str) -> String {
    let (cookie, form) = form(client, both, key);
    let answer = send(client, &format!("{}{HOME}/sign-in", both.url), &cookie, Some(&form));
    assert_eq!(answer.status, 303, "{}", answer.page);
    answer.cookie.expect("a session")
}

#[test]
fn a_session_is_known_to_every_process_with_the_operators_line_and_to_none_without() {
    let directory = tempfile::tempdir().expect("a directory");
    let ((anna, anna_line), (_, bert_line)) = (new_key("anna", "support"), new_key("bert", "admin"));
    let files = [1, 2, 3].map(|n| directory.path().join(format!("operators-{n}")));
    write(&files[0], &[&anna_line], 0o600);
    write(&files[1], &[&bert_line, &anna_line], 0o600);
    write(&files[2], &[&bert_line], 0o600);
    let mut each = files.each_ref().map(|file| {
        let data = file.with_extension("data");
        Both::start(&data, &["--operators-file", &file.display().to_string()])
    });
    let client = client();
    let session = sign_in(&client, &each[0], &anna);
    let statuses = each.each_ref().map(|both| send(&client, &format!("{}{HOME}", both.url), &session, None).status);
    assert_eq!(statuses, [200, 200, 303]);
    assert!(send(&client, &format!("{}{HOME}", each[1].url), &session, None).page.contains("operator:anna (support)"));
    write(&files[1], &[&bert_line], 0o600);
    each[1].server.process.wait_for("the operators' file was read again");
    assert_eq!(send(&client, &format!("{}{HOME}", each[1].url), &session, None).status, 303, "she is removed");
}

#[test]
fn wrong_keys_are_limited_and_who_has_one_is_not_locked_out() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--log", "warn,lendpay::serve=info"]);
    let client = client();
    let (cookie, wrong) = form(&client, &both, "wrong");
    let url = format!("{}{HOME}/sign-in", both.url);
    let mut statuses = Vec::new();
    // Some come back while this runs: at most as many again.
    while statuses.last() != Some(&429) && statuses.len() < 2_000 {
        statuses.push(send(&client, &url, &cookie, Some(&wrong)).status);
    }
    assert!(statuses.len() > 1_000, "{}", statuses.len());
    assert!(statuses[..statuses.len() - 1].iter().all(|&status| status == 401));
    let session = sign_in(&client, &both, KEY);
    assert_eq!(send(&client, &format!("{}{HOME}", both.url), &session, None).status, 200);
}

#[test]
fn a_console_that_is_off_is_not_there() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--console", "off"]);
    assert_eq!(send(&client(), &format!("{}{HOME}", both.url), "", None).status, 404);
    let ended = crate::process::run(&["serve", "--console", "maybe"]);
    assert!(ended.status.code() == Some(2) && ended.stderr.contains("--console"), "{}", ended.stderr);
}
