//! `lendpay demo`: the service with something in it, for trying it out.

mod seed;

use crate::serve::{self, Setup};
use crate::settings::{Demo, StorePlace};
use crate::sockets::Socket;
use crate::stop::StopSignals;
use crate::store::{Kept, open_postgres, open_sled};
use crate::telemetry;
use seed::Seeded;
use std::io;
use std::net::SocketAddr;
use tempfile::TempDir;

/// Runs until Ctrl-C; leaves nothing behind unless a place for the data is given.
pub fn run(settings: &Demo) -> Result<(), String> {
    let log = telemetry::start(&settings.common)?;
    serve::runtime()?.block_on(async {
        let setup = Setup::of_partners(bind(settings.listen)?, &settings.common, &log)?;
        let place = Place::of(settings)?;
        match place.store() {
            StorePlace::Sled(path) => show(settings, setup, open_sled(&path, &settings.common)?, &place).await,
            StorePlace::Postgres(address) => {
                lendpay_storage::postgres::migrate(&address).await.map_err(|error| error.to_string())?;
                show(settings, setup, open_postgres(&address, &settings.common).await?, &place).await
            }
        }
    })
}

async fn show(settings: &Demo, setup: Setup<Socket>, store: impl Kept, place: &Place) -> Result<(), String> {
    // Before the screen invites to press Ctrl-C.
    let signals = StopSignals::listen()?;
    let (setup, address) = setup.listen()?;
    let seeded = seed::fill(&store).await.map_err(|error| format!("the demo's data cannot be stored: {error}"))?;
    print!("{}", screen(address, settings.listen, &seeded, place));
    serve::until_stopped(setup, store, &settings.common, signals, || {}).await
}

/// Where the demo keeps its data.
enum Place {
    Kept(StorePlace),
    ThrownAway(TempDir),
}

impl Place {
    fn of(settings: &Demo) -> Result<Self, String> {
        match (&settings.data, &settings.store) {
            (Some(path), _) => Ok(Self::Kept(StorePlace::Sled(path.clone()))),
            (None, Some(store)) => Ok(Self::Kept(store.clone())),
            (None, None) => TempDir::with_prefix("lendpay-demo-")
                .map(Self::ThrownAway)
                .map_err(|error| format!("no temporary directory can be made: {error}; name one with --data")),
        }
    }

    fn store(&self) -> StorePlace {
        match self {
            Self::Kept(store) => store.clone(),
            Self::ThrownAway(directory) => StorePlace::Sled(directory.path().to_owned()),
        }
    }
}

/// Listens on the wanted address, or on a free port of it.
fn bind(wanted: SocketAddr) -> Result<Socket, String> {
    let bound = match Socket::bind(wanted) {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Socket::bind(SocketAddr::new(wanted.ip(), 0)),
        other => other,
    };
    bound.map_err(|error| format!("cannot listen on {wanted}: {error}; choose another address with --listen"))
}

fn screen(address: SocketAddr, wanted: SocketAddr, seeded: &Seeded, place: &Place) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let mut line = |line: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{line}");
    };
    line("Lendpay demo");
    line("");
    if address != wanted && wanted.port() != 0 {
        line(&format!("  {wanted} is in use; this is a free port instead."));
    }
    line(&format!("  Documentation   http://{address}/docs"));
    line(&format!("  API key         {}", seeded.key));
    line(&format!("  Application     {}", seeded.application));
    for (offer, what) in &seeded.offers {
        line(&format!("  Offer           {offer}  {what}"));
    }
    line("");
    line("Accept the first offer:");
    line("");
    line(&accept_line(address, seeded));
    line("");
    line("Create a buyer:");
    line("");
    line(&create_line(address, seeded));
    line("");
    line(&match place {
        Place::Kept(StorePlace::Sled(path)) => format!("The data stays in {}. Ctrl-C ends the demo.", path.display()),
        Place::Kept(place) => format!("The data stays at {place}. Ctrl-C ends the demo."),
        Place::ThrownAway(_) => "Ctrl-C ends the demo and throws its data away.".to_owned(),
    });
    text
}

fn accept_line(address: SocketAddr, seeded: &Seeded) -> String {
    let (offer, _) = seeded.offers[0];
    format!(
        "curl -X POST http://{address}/lending/applications/{}/offers/{offer}/accept -H 'X-Service-ApiKey: {}'",
        seeded.application, seeded.key
    )
}

fn create_line(address: SocketAddr, seeded: &Seeded) -> String {
    format!(
        "curl -X POST http://{address}/payments/buyers -H 'X-Service-ApiKey: {}' -d \
         '{{\"name\":\"Northwind Bicycles Ltd\",\"countryCode\":\"GB\",\"type\":0,\
         \"bankAccount\":{{\"currencyCode\":\"GBP\",\"iban\":\"GB33BUKB20201555555555\"}}}}' -H 'Content-Type: application/json'",
        seeded.key
    )
}
