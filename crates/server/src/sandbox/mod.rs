//! `lendpay sandbox`, which is also `lendpay demo`: a whole service with fixed contents, for an integrator's machine or
//! CI.

mod clock;
mod control;
mod directory;
mod seed;
mod store;

pub use directory::is_one;

use crate::runtime;
use crate::serve::{Parts, Service};
use crate::settings::{Sandbox, SandboxCommand};
use crate::sockets::Socket;
use crate::store::embedded_options;
use crate::telemetry;
use clock::SandboxClock;
use directory::Directory;
use lendpay_api::sandbox::{APPLICATION, KEY, OFFERS};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use store::SandboxStore;
use tempfile::TempDir;

/// How many of the offers the screen shows.
const SHOWN: usize = 5;

/// Runs a sandbox until Ctrl-C or SIGTERM, or calls one that runs.
pub fn run(settings: &Sandbox) -> Result<(), String> {
    match &settings.command {
        None => serve(settings),
        Some(SandboxCommand::Clock { by, reach }) => control::move_clock(reach, by),
        Some(SandboxCommand::Reset(reach)) => control::reset(reach),
    }
}

/// Leaves nothing behind unless a directory for the data is given.
fn serve(settings: &Sandbox) -> Result<(), String> {
    let log = telemetry::start(&settings.common)?;
    runtime::run(async {
        let parts = Parts::of_partners(bind(settings.listen)?, &settings.common, &log)?;
        let (directory, _thrown_away) = directory(settings)?;
        let clock = Arc::new(SandboxClock::default());
        let store = SandboxStore::open(directory, embedded_options(&settings.common), Arc::clone(&clock)).await?;
        let parts = Parts { clock, sandbox: Some(Arc::new(store.clone())), ..parts };
        // Before the screen invites to press Ctrl-C.
        let service = Service::start(parts, store, &settings.common)?;
        let address = service.partners.address;
        tracing::warn!("this is a sandbox: its keys are public, and anybody who reaches it can change and reset it");
        tracing::info!(%address, "ready");
        print!("{}", screen(address, settings));
        service.run(|| {}).await
    })
}

/// Where the sandbox keeps its data, and what is removed at the end, if it is in no directory of the user's.
fn directory(settings: &Sandbox) -> Result<(Directory, Option<TempDir>), String> {
    if let Some(path) = &settings.data {
        return Ok((Directory::of_sandbox(path)?, None));
    }
    let temporary = TempDir::with_prefix("lendpay-sandbox-");
    let temporary =
        temporary.map_err(|error| format!("no temporary directory can be made: {error}; name one with --data"))?;
    Ok((Directory::of_sandbox(temporary.path())?, Some(temporary)))
}

/// Listens on the wanted address, or on a free port of it.
fn bind(wanted: SocketAddr) -> Result<Socket, String> {
    let bound = match Socket::bind(wanted) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Socket::bind(SocketAddr::new(wanted.ip(), 0)),
        other => other,
    };
    bound.map_err(|error| format!("cannot listen on {wanted}: {error}; choose another address with --listen"))
}

fn screen(address: SocketAddr, settings: &Sandbox) -> String {
    let wanted = settings.listen;
    let moved = match address != wanted && wanted.port() != 0 {
        true => format!("  {wanted} is in use; this is a free port instead.\n"),
        false => String::new(),
    };
    let offer = |n: usize| format!("  Offer           {}  {}\n", OFFERS[n].id, OFFERS[n].about);
    let offers: String = (0..SHOWN).map(offer).collect();
    let first = OFFERS[0].id;
    let end = match &settings.data {
        None => "Ctrl-C ends the sandbox and throws its data away.".to_owned(),
        Some(path) => format!("The data stays in {}. Ctrl-C ends the sandbox.", path.display()),
    };
    format!(
        r#"Lendpay sandbox

{moved}  Start page      http://{address}/
  Documentation   http://{address}/docs
  All contents    http://{address}/sandbox
  API key         {KEY}
  Application     {APPLICATION}
{offers}
Accept the first offer:

curl -X POST http://{address}/lending/applications/{APPLICATION}/offers/{first}/accept -H 'X-Service-ApiKey: {KEY}'

Create a buyer:

curl -X POST http://{address}/payments/buyers -H 'X-Service-ApiKey: {KEY}' -d '{{"name":"Northwind Bicycles Ltd","countryCode":"GB","type":0,"bankAccount":{{"currencyCode":"GBP","iban":"GB33BUKB20201555555555"}}}}' -H 'Content-Type: application/json'

{end}
"#
    )
}
