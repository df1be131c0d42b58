//! Whether the running service does what its documents say, whatever it is sent: schemathesis with all its checks.
//!
//! | module | subject |
//! |---|---|
//! | `partner` | the partner side, at offers of the demo |
//! | `operator` | the operator side, at a store with something for each operation |

mod operator;
mod partner;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::tools::python::SCHEMATHESIS;

/// The seed of the test run: the same requests every time, so that a failure has to do with what has changed.
pub const SEED: u32 = 1;

/// Attacks both sides, and fails when schemathesis finds something, or has not got as far as it should.
pub fn test(shell: &Shell, seed: u32) -> anyhow::Result<()> {
    partner::test(shell, seed)?;
    operator::test(shell, seed)
}

/// One run of schemathesis.
struct Attack<'a> {
    /// `partner` or `operator`: names the document, and what schemathesis is told in `xtask/tools`.
    side: &'static str,
    /// `http://127.0.0.1:PORT`.
    base: &'a str,
    seed: u32,
    /// What there is to try, for the configuration.
    environment: Vec<(&'static str, String)>,
}

/// What was answered: operations of the document, with a status.
type Reached = BTreeSet<(String, u64)>;

impl Attack<'_> {
    fn run(self, shell: &Shell) -> anyhow::Result<Reached> {
        let Self { side, base, seed, environment } = self;
        let root = shell.current_dir();
        let document = root.join(format!("openapi/{side}.json"));
        let program = SCHEMATHESIS.find_or_install(shell)?.join("schemathesis");
        // It keeps notes beside where it runs.
        let _there = shell.push_dir(shell.create_dir("target/conformance")?);
        let config = root.join(format!("xtask/tools/schemathesis-{side}.toml"));
        let seed = seed.to_string();
        let attack = cmd!(shell, "{program} --config-file {config} run {document} --url {base} --seed {seed}");
        let attack = attack.args(["--checks", "all", "--mode", "all", "--continue-on-failure"]);
        attack.args(["--report", "har", "--report-har-path", "requests.har"]).envs(environment).run()?;
        let document = json(shell, &document)?;
        let har = json(shell, Path::new("requests.har"))?;
        let entries = har["log"]["entries"].as_array().context("the report has no entries")?;
        Ok(entries.iter().filter_map(|entry| operation_and_status(&document, entry, base)).collect())
    }
}

fn json(shell: &Shell, path: &Path) -> anyhow::Result<Value> {
    serde_json::from_str(&shell.read_file(path)?).with_context(|| format!("{} is no JSON", path.display()))
}

/// The operation that answered; nothing when the request was for none, such as a method that a path has not.
fn operation_and_status(document: &Value, entry: &Value, base: &str) -> Option<(String, u64)> {
    let path = entry["request"]["url"].as_str()?.strip_prefix(base)?.split('?').next()?;
    let method = entry["request"]["method"].as_str()?.to_lowercase();
    let (_, operations) = document["paths"].as_object()?.iter().find(|(template, _)| fits(template, path))?;
    let name = operations[&method]["operationId"].as_str()?;
    Some((name.to_owned(), entry["response"]["status"].as_u64()?))
}

/// Whether a path is one of a template such as `/payments/buyers/{buyerId}`.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut found) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == found || wanted.starts_with('{') => {}
            _ => return false,
        }
    }
}

/// Fails unless the operation has answered with the status: otherwise nothing was said about that answer.
fn must_have(reached: &Reached, operation: &str, status: u64) -> anyhow::Result<()> {
    if !reached.contains(&(operation.to_owned(), status)) {
        bail!("schemathesis has got no {status} of {operation}, so that nothing was said about it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_fits_any_value_of_a_segment_and_no_more_segments() {
        assert!(fits("/payments/buyers", "/payments/buyers"));
        assert!(fits("/offers/{offerId}/accept", "/offers/17/accept"));
        assert!(!fits("/offers/{offerId}/accept", "/offers/17"));
        assert!(!fits("/offers/{offerId}", "/offers/17/accept"));
        assert!(!fits("/offers/{offerId}", "/buyers/17"));
    }
}
