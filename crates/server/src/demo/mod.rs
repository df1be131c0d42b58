//! `lendpay demo`: the service with something in it, for trying it out.

mod seed;

use crate::runtime;
use crate::serve::{Parts, Service};
use crate::settings::{Demo, StorePlace};
use crate::sockets::Socket;
use crate::store::{Kept, open_postgres, open_sled};
use crate::telemetry;
use seed::Seeded;
use std::io;
use std::net::SocketAddr;
use tempfile::TempDir;

/// Runs until Ctrl-C; leaves nothing behind unless a place for the data is given.
pub fn run(settings: &Demo) -> Result<(), String> {
    let log = telemetry::start(&settings.common)?;
    runtime::run(async {
        let parts = Parts::of_partners(bind(settings.listen)?, &settings.common, &log)?;
        let (place, _thrown_away) = place(settings)?;
        match &place {
            StorePlace::Sled(path) => show(settings, parts, open_sled(path, &settings.common, false)?, &place).await,
            StorePlace::Postgres(address) => {
                lendpay_storage::postgres::migrate(address).await.map_err(|error| error.to_string())?;
                show(settings, parts, open_postgres(address, &settings.common).await?, &place).await
            }
        }
    })
}

async fn show(settings: &Demo, parts: Parts, store: impl Kept, place: &StorePlace) -> Result<(), String> {
    // Before the screen invites to press Ctrl-C.
    let service = Service::start(parts, store, &settings.common)?;
    let seeded = seed::fill(&*service.store).await;
    let seeded = seeded.map_err(|error| format!("the demo's data cannot be stored: {error}"))?;
    let end = match place {
        _ if settings.data.is_none() && settings.store.is_none() => {
            "Ctrl-C ends the demo and throws its data away.".into()
        }
        StorePlace::Sled(path) => format!("The data stays in {}. Ctrl-C ends the demo.", path.display()),
        place => format!("The data stays at {place}. Ctrl-C ends the demo."),
    };
    print!("{}", screen(service.partners.address, settings.listen, &seeded, &end));
    service.run(|| {}).await
}

/// Where the demo keeps its data, and the directory that is removed at the end, if it is in one.
fn place(settings: &Demo) -> Result<(StorePlace, Option<TempDir>), String> {
    let kept = settings.data.clone().map(StorePlace::Sled).or(settings.store.clone());
    if let Some(place) = kept {
        return Ok((place, None));
    }
    let directory = TempDir::with_prefix("lendpay-demo-");
    let directory =
        directory.map_err(|error| format!("no temporary directory can be made: {error}; name one with --data"))?;
    Ok((StorePlace::Sled(directory.path().to_owned()), Some(directory)))
}

/// Listens on the wanted address, or on a free port of it.
fn bind(wanted: SocketAddr) -> Result<Socket, String> {
    let bound = match Socket::bind(wanted) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Socket::bind(SocketAddr::new(wanted.ip(), 0)),
        other => other,
    };
    bound.map_err(|error| format!("cannot listen on {wanted}: {error}; choose another address with --listen"))
}

fn screen(address: SocketAddr, wanted: SocketAddr, seeded: &Seeded, end: &str) -> String {
    let Seeded { key, application, offers } = seeded;
    let moved = match address != wanted && wanted.port() != 0 {
        true => format!("  {wanted} is in use; this is a free port instead.\n"),
        false => String::new(),
    };
    let list: String = offers.iter().map(|(offer, what)| format!("  Offer           {offer}  {what}\n")).collect();
    let first = offers[0].0;
    format!(
        r#"Lendpay demo

{moved}  Documentation   http://{address}/docs
  API key         {key}
  Application     {application}
{list}
Accept the first offer:

curl -X POST http://{address}/lending/applications/{application}/offers/{first}/accept -H 'X-Service-ApiKey: {key}'

Create a buyer:

curl -X POST http://{address}/payments/buyers -H 'X-Service-ApiKey: {key}' -d '{{"name":"Northwind Bicycles Ltd","countryCode":"GB","type":0,"bankAccount":{{"currencyCode":"GBP","iban":"GB33BUKB20201555555555"}}}}' -H 'Content-Type: application/json'

{end}
"#
    )
}
