//! Whether the running service does what the document says, whatever it is sent: schemathesis with all its checks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;

use crate::command::{command, run};
use crate::demo::Demo;
use crate::tools::python::SCHEMATHESIS;

/// The seed of the test run: the same requests every time, so that a failure has to do with what has changed.
pub const SEED: u32 = 1;

/// Where the partner's attack goes: an offer of the demo, and the answer that it must have got from AcceptOffer.
const OFFERS: [(&str, u64); 3] = [("LENDPAY_INDICATIVE", 200), ("LENDPAY_DECLINED", 409), ("LENDPAY_UNKNOWN", 404)];

/// An id that nothing has.
const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// Attacks the partner side, and fails when schemathesis finds something, or has not got as far as it should.
pub fn test(root: &Path, seed: u32) -> anyhow::Result<()> {
    let demo = Demo::start(root)?;
    for (offer, status) in OFFERS {
        let reached = attack(root, &demo, offer, seed)?;
        // 409 and 422 of CreateBuyer need two requests that belong together; the API's own tests make them.
        for wanted in [("lending", status), ("lending", 401), ("payments", 201), ("payments", 400), ("payments", 401)] {
            if !reached.contains(&(wanted.0.to_owned(), wanted.1)) {
                bail!(
                    "schemathesis has got no {} of the area {}, so that nothing was said about it",
                    wanted.1,
                    wanted.0
                );
            }
        }
    }
    Ok(())
}

/// One run of schemathesis; returns each status that it got in each area.
fn attack(root: &Path, demo: &Demo, offer: &str, seed: u32) -> anyhow::Result<BTreeSet<(String, u64)>> {
    // It keeps notes beside where it runs.
    let folder = root.join("target/conformance");
    fs::create_dir_all(&folder).context("cannot create target/conformance")?;
    let seed = seed.to_string();
    let program = SCHEMATHESIS.find_or_install(root)?.join("schemathesis");
    let mut attack = command::<&str>(&folder, program, &[]);
    attack.arg("--config-file").arg(root.join("xtask/tools/schemathesis.toml"));
    attack.arg("run").arg(root.join("openapi/partner.json")).args(["--url", &demo.base]);
    attack.args(["--checks", "all", "--mode", "all", "--continue-on-failure", "--seed", &seed]);
    attack.args(["--report", "har", "--report-har-path", "requests.har"]);
    demo.tell(&mut attack)?;
    attack.env("LENDPAY_UNKNOWN", UNKNOWN);
    let chosen = attack.get_envs().find(|(name, _)| *name == offer).and_then(|(_, value)| value);
    let chosen = chosen.with_context(|| format!("there is no {offer}"))?.to_owned();
    run(attack.env("LENDPAY_OFFER", chosen))?;
    let har = fs::read_to_string(folder.join("requests.har")).context("cannot read the report")?;
    let har: Value = serde_json::from_str(&har).context("the report is no JSON")?;
    let entries = har["log"]["entries"].as_array().context("the report has no entries")?;
    Ok(entries.iter().filter_map(|entry| area_and_status(entry, &demo.base)).collect())
}

fn area_and_status(entry: &Value, base: &str) -> Option<(String, u64)> {
    let path = entry["request"]["url"].as_str()?.strip_prefix(base)?;
    let area = path.split('/').nth(1)?;
    Some((area.to_owned(), entry["response"]["status"].as_u64()?))
}
