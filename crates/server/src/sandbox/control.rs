//! The commands that call a running sandbox.

use crate::client::http::refusal;
use crate::client::print;
use crate::outgoing;
use crate::settings::Reach;
use serde_json::Value;
use std::time::Duration;

/// How long the sandbox may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// `lendpay sandbox clock`.
pub fn move_clock(reach: &Reach, by: &str) -> Result<(), String> {
    let clock = call(reach, "/sandbox/clock", &[("by", by)])?;
    let now = clock["now"].as_str().expect("a sandbox tells its time");
    print(&format!("The sandbox's clock is at {now}.\n"))
}

/// `lendpay sandbox reset`.
pub fn reset(reach: &Reach) -> Result<(), String> {
    call(reach, "/sandbox/reset", &[])?;
    print("The sandbox is as it was in the beginning.\n")
}

fn call(reach: &Reach, path: &str, query: &[(&str, &str)]) -> Result<Value, String> {
    let url = reach.sandbox_url.as_str().trim_end_matches('/');
    let agent = outgoing::agent(&reach.sandbox_url, PATIENCE, &reach.trust)?;
    let unreachable = |error| format!("the sandbox cannot be reached at {url}: {error}");
    let request = agent.post(format!("{url}{path}")).query_pairs(query.iter().copied());
    let mut answer = request.send_empty().map_err(unreachable)?;
    let text = answer.body_mut().read_to_string().map_err(unreachable)?;
    let body = serde_json::from_str::<Value>(&text).ok().filter(|_| answer.headers().contains_key("x-sandbox"));
    let body = body.ok_or_else(|| format!("{url} answers, but is no sandbox; is --sandbox-url right?"))?;
    match answer.status().as_u16() {
        200 => Ok(body),
        status => Err(refusal(status, &body)),
    }
}
