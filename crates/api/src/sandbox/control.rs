//! What a sandbox lets its users do besides the operations: move its clock, and begin again. It asks for no key.

use super::page;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::pages::own_page;
use crate::request_body::BODY;
use crate::shell;
use crate::wire::json::Json;
use crate::wire::time::Time;
use futures_util::future::BoxFuture;
use poem::endpoint::make;
use poem::{IntoResponse as _, Request, Response, Route, get, post};
use serde::Serialize;
use std::fmt;
use std::sync::Arc;

/// Whoever keeps the sandbox's store and clock.
pub trait Sandbox: fmt::Debug + Send + Sync + 'static {
    /// Moves the clock on by a span such as `30d`. It never goes back.
    fn move_clock<'a>(&'a self, by: &'a str) -> BoxFuture<'a, Result<(), Failure>>;

    /// Makes everything as it was in the beginning, the clock too.
    fn reset(&self) -> BoxFuture<'_, Result<(), Failure>>;
}

/// What the clock says.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClockState {
    now: Time,
    /// How far it is ahead of the system's clock.
    ahead_seconds: u64,
}

fn state(clock: &Arc<dyn Clock>) -> Response {
    Json(ClockState { now: Time(clock.now()), ahead_seconds: clock.ahead().as_secs() }).into_response()
}

/// Adds the page and the addresses of the clock and the reset.
pub(crate) fn add(
    router: Route,
    routes: &mut Vec<shell::Route>,
    sandbox: &Arc<dyn Sandbox>,
    clock: &Arc<dyn Clock>,
) -> Route {
    let tell = {
        let clock = Arc::clone(clock);
        make(move |_| std::future::ready(Ok::<_, poem::Error>(state(&clock))))
    };
    let both = || (Arc::clone(sandbox), Arc::clone(clock));
    let (kept, told) = both();
    let move_clock = make(move |request: Request| {
        let (sandbox, clock) = (Arc::clone(&kept), Arc::clone(&told));
        async move {
            let query: Vec<(String, String)> = request.params().expect("any query is pairs of strings");
            let by = query.iter().find(|(name, _)| name == "by").map_or("", |(_, by)| by);
            // In a query, + is a space.
            sandbox.move_clock(by.trim_start_matches([' ', '+'])).await?;
            Ok::<_, poem::Error>(state(&clock))
        }
    });
    let (kept, told) = both();
    let reset = make(move |_| {
        let (sandbox, clock) = (Arc::clone(&kept), Arc::clone(&told));
        async move {
            sandbox.reset().await?;
            Ok::<_, poem::Error>(state(&clock))
        }
    });
    for (template, allow) in
        [(page::PAGE, "GET, HEAD"), (page::CLOCK, "GET, POST, HEAD, OPTIONS"), (page::RESET, "POST, OPTIONS")]
    {
        let preflight = allow.ends_with("OPTIONS");
        routes.push(shell::Route { template: template.to_owned(), allow: allow.to_owned(), preflight, body: BODY });
    }
    router
        .at(page::PAGE, get(own_page(page::html)))
        .at(page::CLOCK, get(tell).post(move_clock))
        .at(page::RESET, post(reset))
}
