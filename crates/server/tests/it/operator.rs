//! The operator's side of the running binary, and the commands that call it.

use crate::process::{BINARY, Process, Server, arguments, command, run};
use serde_json::{Value, json};
use std::fs::Permissions;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

pub const KEY: &str = "0123456789abcdef0123456789abcdef-operator";

/// A server with an operator's side.
pub struct Both {
    pub server: Server,
    /// `http://127.0.0.1:PORT` of the operator's side.
    pub url: String,
}

impl Both {
    pub fn start(data: &Path, more: &[&str]) -> Self {
        let mut serve = command(BINARY);
        serve.args(arguments(data)).args(["--operator-listen", "127.0.0.1:0", "--operator-key", KEY]).args(more);
        Self::ready(Process::spawn(serve))
    }

    /// Waits until a process that serves is ready.
    pub fn ready(mut process: Process) -> Self {
        let ready = process.wait_for("ready");
        let text = |field: &str| ready[field].as_str().expect("an address").to_owned();
        let url = format!("http://{}", text("operator"));
        Self { server: Server { process, address: text("address") }, url }
    }

    /// A command that calls it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(BINARY);
        command.args(arguments).env("LENDPAY_OPERATOR_URL", &self.url).env("LENDPAY_OPERATOR_KEY", KEY);
        command
    }

    /// What `/metrics` answers.
    pub fn metrics(&self) -> String {
        let mut answer = crate::process::client().get(format!("{}/metrics", self.url)).call().expect("an answer");
        answer.body_mut().read_to_string().expect("a text")
    }

    /// Runs it to its end and gives what it printed.
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the binary runs");
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {complained}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// The same as JSON, one value a line.
    pub fn run_json(&self, arguments: &[&str]) -> Vec<Value> {
        let lines = self.run(&[arguments, &["--json"]].concat());
        lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// Runs a command that fails, and gives its sentence.
    pub fn fails(&self, arguments: &[&str], key: &str) -> String {
        let output = self.command(arguments).env("LENDPAY_OPERATOR_KEY", key).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).expect("UTF-8")
    }
}

#[test]
fn the_operators_side_cannot_be_reached_where_partners_connect() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let document: Value = serde_json::from_str(include_str!("../../../../openapi/operator.json")).expect("JSON");
    let agent = crate::process::client();
    let mut asked = 0;
    let operations = document["paths"].as_object().expect("paths").iter();
    let more = ["/operator/docs", "/operator/openapi.json", "/operator", "/operator/", "/operator/guides/runbook"]
        .map(|path| (path.to_owned(), "get".to_owned()));
    let all = operations
        .flat_map(|(path, item)| item.as_object().expect("a path").keys().map(|method| (path.clone(), method.clone())));
    for (path, method) in all.chain(more) {
        let path = path.replace(['{', '}'], "");
        let request = ureq::http::Request::builder()
            .method(method.to_uppercase().as_str())
            .uri(format!("http://{}{path}", both.server.address))
            .header("x-operator-key", KEY)
            .body(String::new())
            .expect("a request");
        let answer = agent.run(request).expect("an answer");
        assert_eq!(answer.status(), 404, "{method} {path}");
        asked += 1;
    }
    assert!(asked > 20);
    // Nor the other way round.
    let partner = ureq::http::Request::post(format!("{}/payments/buyers", both.url)).body("{}".to_owned());
    assert_eq!(agent.run(partner.expect("a request")).expect("an answer").status(), 404);
}

#[test]
fn without_a_good_key_there_is_no_operators_side() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut serve = command(BINARY);
    serve.args(arguments(directory.path()));
    let mut process = Process::spawn(serve);
    assert!(process.wait_for("ready").get("operator").is_none());
    drop(process);

    let file = directory.path().join("key");
    std::fs::write(&file, "too short\n").expect("a write");
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("a mode");
    let file = file.display().to_string();
    let arguments = arguments(directory.path());
    let start = |more: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).chain(more.iter().copied()).collect();
        run(&arguments)
    };
    for (more, code, word) in [
        (&["--operator-key", "0123456789abcdef0123456789abcde"][..], 1, "at least 32"),
        (&["--operator-key", ""], 1, "at least 32"),
        (&["--operator-key", "0123456789abcdef 0123456789abcdef"], 1, "visible ASCII"),
        (&["--operator-key", "changeme-changeme-changeme-changeme"], 1, "at least 10 of them different"),
        (&["--operator-key-file", &file], 1, "at least 32"),
        (&["--operator-key-file", "/nowhere/key"], 1, "/nowhere/key"),
        (&["--operator-listen", "127.0.0.1:0"], 1, "--operator-key"),
        (&["--operator-key", KEY, "--operator-key-file", &file], 2, "cannot be used with"),
    ] {
        let ended = start(more);
        assert_eq!(ended.status.code(), Some(code), "{more:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{more:?}: {}", ended.stderr);
        assert!(!ended.stderr.contains("0123456789abcdef"), "the key is not shown: {}", ended.stderr);
    }
    let help = command(BINARY).args(["serve", "--help"]).env("LENDPAY_OPERATOR_KEY", KEY).output().expect("runs");
    assert!(!String::from_utf8_lossy(&help.stdout).contains(KEY), "nor in the help");
}

#[test]
fn what_no_endpoint_sees_has_the_operators_shape_and_opens_nothing_to_pages() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &["--request-timeout", "1"]);
    let address = both.url.strip_prefix("http://").expect("a URL");
    for (bytes, status) in [(&b"what is this\r\n\r\n"[..], 400), (b"GET / HTTP/1.1\r\n", 408)] {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.write_all(bytes).expect("a write");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(!answer.contains("access-control") && answer.contains("\"errorCode\""), "{answer}");
    }
}

#[test]
fn the_commands_do_the_daily_work() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let partner = &both.run_json(&["partner", "add", "Northwind"])[0];
    let id = partner["id"].as_str().expect("an id");
    let renamed = both.run(&["partner", "add", "Südwind", "--id", id, "--oauth-client-id", "c"]);
    assert!(renamed.starts_with("PARTNER") && renamed.contains("Südwind") && renamed.contains(id), "{renamed}");

    let made =
        &both.run_json(&["key", "create", id, "first", "--area", "lending", "--expires", "2099-01-01T00:00:00Z"])[0];
    let (key, key_id) = (made["key"].as_str().expect("a key"), made["keyId"].as_str().expect("an id"));
    assert_eq!((&made["areas"], &made["expiresAt"]), (&json!(["lending"]), &json!("2099-01-01T00:00:00Z")));
    assert!(both.run(&["key", "create", id, "second"]).contains("lending,payments"));

    let offers = directory.path().join("offers.json");
    let (application, offer) = (lendpay_api::uuid().to_string(), lendpay_api::uuid().to_string());
    let terms = json!({
        "details": "x", "fundingType": "TermLoan", "offerType": "Underwritten", "annualPercentageRate": 0.09,
        "applicationId": application,
    });
    let (mut first, mut bad) = (terms.clone(), terms.clone());
    (first["id"], first["partnerId"]) = (json!(offer), json!(id));
    bad["amount"] = json!(-1);
    std::fs::write(&offers, format!("{first:#}\n{terms}{terms}")).expect("a write");
    let file = offers.display().to_string();
    assert_eq!(both.run_json(&["offer", "put", &file]).len(), 3);
    std::fs::write(&offers, format!("{first}{bad}")).expect("a write");
    let problem = both.fails(&["offer", "put", &file], KEY);
    assert!(problem.contains("offer 2 of") && problem.contains("amount: must be between"), "{problem}");
    let table = both.run(&["offer", "list", &application]);
    assert_eq!(table.lines().count(), 4, "{table}");
    assert!(table.contains("Underwritten") && table.contains(&offer), "{table}");

    let mut follow = both.command(&["events", "--follow", "--json"]).stdout(Stdio::piped()).spawn().expect("runs");
    let mut followed = BufReader::new(follow.stdout.take().expect("piped")).lines();
    let mut next =
        || -> Value { serde_json::from_str(&followed.next().expect("a line").expect("UTF-8")).expect("JSON") };
    for wanted in ["partner.created", "partner.updated", "key.created", "key.created", "application.created"] {
        assert_eq!(next()["type"], wanted);
    }
    for _ in 0..3 {
        assert_eq!(next()["type"], "offer.created");
    }
    let path = format!("/lending/applications/{application}/offers/{offer}/accept");
    let accept = || both.server.post(&path, &[("x-service-apikey", key)], "").expect("an answer").status;
    assert_eq!(accept(), 200);
    let event = next();
    assert_eq!((&event["type"], &event["offerId"]), (&json!("offer.accepted"), &json!(offer)));
    follow.kill().expect("it runs");
    follow.wait().expect("it ends");

    assert!(both.run(&["key", "list", id]).contains(key_id));
    both.run(&["key", "revoke", id, key_id]);
    assert_eq!(accept(), 401, "from the next request on");
    let events = both.run_json(&["events", "--after", &event["sequence"].to_string()]);
    assert_eq!((events.len(), &events[0]["type"], &events[0]["keyId"]), (1, &json!("key.revoked"), &json!(key_id)));
    let sequence = events[0]["sequence"].to_string();
    let events = both.run(&["events", "--after", &sequence]);
    assert_eq!(events.lines().count(), 1, "only the heading: {events}");

    let problem = both.fails(&["events"], "wrong-wrong-wrong-wrong-wrong-wrong-wrong");
    assert!(problem.starts_with("lendpay: 401 Invalid operator key") && problem.lines().count() == 1, "{problem}");
    let problem = both.fails(&["key", "revoke", id, "../buyers"], KEY);
    assert!(problem.contains("is no id"), "{problem}");
    let output = command(BINARY).arg("events").output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("--operator-key-file"));
    let output = both.command(&["events", "--operator-url", "http://127.0.0.1:1"]).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be reached at http://127.0.0.1:1"));
}

#[test]
fn metrics_tell_what_happened_and_both_sides_stop_in_order() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let id = both.run_json(&["partner", "add", "x"])[0]["id"].as_str().expect("an id").to_owned();
    let key = both.run_json(&["key", "create", &id, "x"])[0]["key"].as_str().expect("a key").to_owned();
    for _ in 0..3 {
        let answer = both.server.post("/payments/buyers", &[("x-service-apikey", &key)], "{}").expect("an answer");
        assert_eq!(answer.status, 201);
    }
    let mut metrics = ureq::get(format!("{}/metrics", both.url)).call().expect("an answer");
    let metrics = metrics.body_mut().read_to_string().expect("text");
    for line in [
        "lendpay_http_requests_total{side=\"partner\",route=\"/payments/buyers\",status=\"201\"} 3",
        "lendpay_http_request_duration_seconds_count{side=\"partner\",route=\"/payments/buyers\"} 3",
        "lendpay_http_request_duration_seconds_bucket{side=\"partner\",route=\"/payments/buyers\",le=\"+Inf\"} 3",
        "lendpay_events_total{type=\"buyer.created\"} 3",
        "lendpay_offer_transitions_total{transition=\"accepted\"} 0",
        "lendpay_store_queue_depth 0",
        "lendpay_store_up 1",
        &format!("lendpay_build_info{{version=\"{}\"}} 1", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line}\n{metrics}");
    }
    for name in
        ["lendpay_store_sync_seconds_count", "lendpay_store_sync_seconds_sum", "lendpay_store_group_commands_sum"]
    {
        let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        assert!(value.is_some_and(|value| value > 0.0), "{name}\n{metrics}");
    }
    for line in metrics.lines() {
        assert!(
            line.starts_with("# ") || line.rsplit_once(' ').is_some_and(|(_, n)| n.parse::<f64>().is_ok()),
            "{line}"
        );
    }
    both.server.process.signal("TERM");
    assert_eq!(both.server.process.wait().0.code(), Some(0));
    let address = both.url.strip_prefix("http://").expect("a URL").to_owned();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_table_that_is_wider_than_the_terminal_becomes_lines() {
    let directory = tempfile::tempdir().expect("a directory");
    let both = Both::start(directory.path(), &[]);
    let id = both.run_json(&["partner", "add", "Northwind"])[0]["id"].as_str().expect("an id").to_owned();
    for columns in [60, 200] {
        // script(1) runs it on a terminal.
        let list = format!("stty cols {columns}; '{BINARY}' partner add Northwind --id {id}");
        let mut script = command("script");
        script.args(["-qec", &list, "/dev/null"]).env("SHELL", "/bin/sh");
        let output = script.env("LENDPAY_OPERATOR_URL", &both.url).env("LENDPAY_OPERATOR_KEY", KEY).output();
        let output = output.expect("script runs");
        let screen = String::from_utf8(output.stdout).expect("UTF-8").replace('\r', "");
        assert!(screen.contains(&id) && screen.lines().all(|line| line.len() <= columns), "{columns}: {screen}");
        let lines: Vec<_> = screen.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines.len(), if columns == 60 { 4 } else { 2 }, "{columns}: {screen}");
        assert!(columns == 200 || lines[1] == "NAME          Northwind", "{screen}");
    }
}
