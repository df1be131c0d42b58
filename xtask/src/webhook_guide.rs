//! The programs of the guide on webhooks: each is given requests that are signed, and some that are not as they should
//! be.

use std::os::unix::fs::symlink;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use serde_json::{Value, json};
use standardwebhooks::Webhook;
use xshell::{Shell, cmd};

use crate::tools::npm::NodeModules;
use crate::tools::python::WEBHOOKS;

const GUIDE: &str = "openapi/guides/webhooks.md";

/// The first one signs.
pub const SECRETS: [&str; 3] = [
    "whsec_TGVuZHBheSBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZXM=",
    "whsec_QW5vdGhlciBleGFtcGxlIHNlY3JldCwgMzIgYnl0ZQ==",
    "whsec_VGhlIHNlY3JldCBvZiBzb21lYm9keSBlbHNlLCAzMg==",
];

const PYTHON: &str = "\
import json
from receiver import receive

for case in json.load(open('cases.json')):
    status = receive(case['headers'], case['body'].encode())
    assert status == case['status'], case
";

const JAVASCRIPT: &str = "\
import { readFileSync } from 'node:fs';
import { receive } from './receiver.js';

for (const { headers, body, status } of JSON.parse(readFileSync('cases.json'))) {
  if (receive(headers, body) !== status) throw new Error(JSON.stringify({ headers, body, status }));
}
";

/// Runs those for which the machine has the official library. The compiler reads the one in Rust when tests are run.
pub fn test(shell: &Shell) -> anyhow::Result<()> {
    let guide = shell.read_file(GUIDE)?;
    let folder = &shell.current_dir().join("target/guide");
    shell.remove_path(folder)?;
    let _secret = shell.push_env("WEBHOOK_SECRET", SECRETS[0]);
    let python = WEBHOOKS.find_or_install(shell)?.join("python");
    let modules = NodeModules::find_or_install(shell)?;
    for (language, files) in [
        ("python", [("main.py", PYTHON), ("receiver.py", program(&guide, "python")?)]),
        ("javascript", [("main.js", JAVASCRIPT), ("receiver.js", program(&guide, "javascript")?)]),
    ] {
        println!("\n--- {language} ---");
        let _there = shell.push_dir(folder.join(language));
        shell.write_file("cases.json", cases()?.to_string())?;
        for (file, text) in files {
            shell.write_file(file, text)?;
        }
        if language == "python" {
            cmd!(shell, "{python} main.py").run()?;
            continue;
        }
        symlink(modules.folder(), shell.current_dir().join("node_modules")).context("cannot link the packages")?;
        shell.write_file("package.json", "{ \"private\": true, \"type\": \"module\" }\n")?;
        cmd!(shell, "node main.js").run()?;
    }
    Ok(())
}

/// The guide's program in a language.
fn program<'a>(guide: &'a str, language: &str) -> anyhow::Result<&'a str> {
    let (_, begin) = guide.split_once(&format!("```{language}\n")).with_context(|| format!("no {language}"))?;
    Ok(begin.split_once("```").context("a program without an end")?.0)
}

/// Requests, and the status that each has to get from a receiver with the first secret.
#[expect(clippy::disallowed_methods, reason = "the libraries compare it with the system's time")]
pub fn cases() -> anyhow::Result<Value> {
    let id = "01810583-ddf2-7d7e-9d5c-3f0e1b2a4c6e";
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
    let body = json!({
        "type": "buyer.created", "timestamp": "2022-05-27T12:15:44Z", "sequence": 41, "data": { "buyerId": id }
    });
    let body = body.to_string();
    let case = |secrets: &[&str], at: i64, sent: &str, status: u16| -> anyhow::Result<Value> {
        let sign = |secret: &&str| Ok(Webhook::new(secret)?.sign(id, at, body.as_bytes())?);
        let signatures = secrets.iter().map(sign).collect::<anyhow::Result<Vec<_>>>()?.join(" ");
        let headers = json!({ "webhook-id": id, "webhook-timestamp": at.to_string(), "webhook-signature": signatures });
        Ok(json!({ "headers": headers, "body": sent, "status": status }))
    };
    let [own, before, foreign] = SECRETS;
    Ok(json!([
        case(&[own], now, &body, 204)?,
        case(&[before, own], now, &body, 204)?,
        case(&[own, before], now, &body, 204)?,
        case(&[foreign], now, &body, 401)?,
        case(&[own], now, &body.replace("41", "42"), 401)?,
        case(&[own], now - 3_600, &body, 401)?,
        case(&[own], now + 3_600, &body, 401)?,
    ]))
}
