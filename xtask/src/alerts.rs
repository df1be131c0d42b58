//! The alert rules and the dashboard, judged by Prometheus' promtool.

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use xshell::{Shell, cmd};

const FOLDER: &str = "crates/server/operations";

/// Judges the rules, tries them, and judges the dashboard's queries.
pub fn check(shell: &Shell) -> anyhow::Result<()> {
    let rules = format!("{FOLDER}/alerts.yaml");
    explained(&shell.read_file(&rules)?)?;
    cmd!(shell, "promtool check rules --lint=all --lint-fatal {rules}").run()?;
    cmd!(shell, "promtool test rules {FOLDER}/alerts-test.yaml").run()?;
    let dashboard = serde_json::from_str(&shell.read_file(format!("{FOLDER}/dashboard.json"))?)?;
    let scratch = shell.create_temp_dir()?;
    // JSON is YAML.
    let queries = scratch.path().join("dashboard.yaml");
    shell.write_file(&queries, as_rules(&dashboard)?.to_string())?;
    cmd!(shell, "promtool check rules --lint=none {queries}").run()?;
    Ok(())
}

/// Each rule says what it means, and what to do.
fn explained(rules: &str) -> anyhow::Result<()> {
    let count = |key: &str| rules.lines().filter(|line| line.trim_start().starts_with(key)).count();
    let alerts = count("- alert: ");
    for text in ["summary: \"", "description: \""] {
        ensure!(count(text) == alerts, "of {alerts} alerts {} have a {text}", count(text));
    }
    Ok(())
}

/// The queries of a dashboard as rules, which promtool can judge. Each panel says what it shows.
fn as_rules(dashboard: &Value) -> anyhow::Result<Value> {
    let mut rules = Vec::new();
    for panel in dashboard["panels"].as_array().context("a dashboard has panels")? {
        let title = panel["title"].as_str().context("a panel has no title")?;
        ensure!(panel["description"].as_str().is_some_and(|text| !text.is_empty()), "{title} has no description");
        for target in panel["targets"].as_array().context("a panel has no query")? {
            let query = target["expr"].as_str().context("a query has no expression")?;
            let record = format!("dashboard:query:{}", rules.len());
            rules.push(json!({ "record": record, "expr": query.replace("$__rate_interval", "5m") }));
        }
    }
    Ok(json!({ "groups": [{ "name": "dashboard", "rules": rules }] }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panel_or_a_rule_without_a_description_is_refused() {
        let panel = |description: &str| {
            let query = json!({ "expr": "rate(x[$__rate_interval])" });
            json!({ "panels": [{ "title": "X", "description": description, "targets": [query] }] })
        };
        let rules = as_rules(&panel("what it shows")).expect("good");
        assert_eq!(rules["groups"][0]["rules"][0]["expr"], "rate(x[5m])");
        let error = as_rules(&panel("")).expect_err("not good");
        assert_eq!(error.to_string(), "X has no description");
        let rule = "- alert: X\n  annotations:\n    summary: \"x\"\n";
        assert!(explained(rule).is_err());
        assert!(explained(&format!("{rule}    description: \"x\"\n")).is_ok());
    }
}
