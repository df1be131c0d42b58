//! The yardsticks: what a server on this machine could reach that does nearly nothing.

use clap::Subcommand;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use poem::endpoint::make_sync;
use poem::{Route, Server, post};
use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

/// Answers of the size that the service's have.
const OFFER: &str = r#"{"id":"3e7b118e-bb4c-4e4b-981d-a62526cbbdce","status":"CustomerAccepted","details":"Representative Rate","fundingType":"TermLoan","offerType":"Underwritten","annualPercentageRate":0.0905,"interestRate":0.03,"expiryAt":"2032-06-03T12:15:44.050334200Z","redirectUrl":"https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce","amount":25000.55,"duration":"TwoYears","statusChangedAt":"2026-05-27T12:15:44.050386Z"}"#;
const BUYER: &str = r#"{"id":"01a1fb76-d1db-77f0-b5a3-dd9622e8a91c","name":"Northwind Bicycles 1 Ltd","registrationNumber":"09876543","countryCode":"GB","type":0,"bankAccount":{"currencyCode":"GBP","accountName":"Northwind Bicycles 1","sortCode":"202015","accountNumber":"****5555","bic":"BUKBGB22","accountType":"Business","iban":"******************5555"},"createdAt":"2026-11-21T00:17:10.619348Z"}"#;

/// Zeros at the start of the file, so that a sync has no new length to write down.
const ALLOCATED: usize = 256;

/// Which yardstick.
#[derive(Subcommand)]
pub enum Limit {
    /// hyper: reads the body, appends it to a file, syncs for all that wait, answers a constant.
    Disk {
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
        /// The file.
        #[arg(long)]
        file: PathBuf,
    },
    /// poem: answers a constant, to traces too.
    Poem {
        /// Where to listen.
        #[arg(long)]
        listen: SocketAddr,
    },
}

/// Serves until it is killed.
pub fn run(limit: Limit) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match limit {
        Limit::Disk { listen, file } => runtime.block_on(disk(listen, &file)),
        Limit::Poem { listen } => runtime.block_on(bare_poem(listen)),
    }
}

type Job = (Vec<u8>, oneshot::Sender<()>);

async fn disk(listen: SocketAddr, path: &Path) -> anyhow::Result<()> {
    let mut file = File::create(path)?;
    let zeros = vec![0; 1 << 20];
    for _ in 0..ALLOCATED {
        file.write_all(&zeros)?;
    }
    file.sync_all()?;
    file.rewind()?;
    let (jobs, received) = mpsc::channel::<Job>();
    std::thread::spawn(move || write(file, &received));
    let listener = TcpListener::bind(listen).await?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let jobs = jobs.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, jobs.clone()));
            // The client may go when it likes.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Groups what waits, like the service's committer.
fn write(mut file: File, jobs: &mpsc::Receiver<Job>) {
    let (mut buffer, mut waiting) = (Vec::new(), Vec::new());
    while let Ok(first) = jobs.recv() {
        for (record, reply) in std::iter::once(first).chain(jobs.try_iter()) {
            buffer.extend_from_slice(&record);
            waiting.push(reply);
        }
        if file.write_all(&buffer).and_then(|()| file.sync_data()).is_err() {
            return;
        }
        buffer.clear();
        for reply in waiting.drain(..) {
            // A client that is gone waits no more.
            let _ = reply.send(());
        }
    }
}

async fn answer(request: Request<Incoming>, jobs: mpsc::Sender<Job>) -> anyhow::Result<Response<Full<Bytes>>> {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let record = [path.as_bytes(), b" ", &body.collect().await?.to_bytes(), b"\n"].concat();
    let (status, text) =
        if path.starts_with("/payments") { (StatusCode::CREATED, BUYER) } else { (StatusCode::OK, OFFER) };
    let (reply, done) = oneshot::channel();
    jobs.send((record, reply))?;
    done.await?;
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

async fn bare_poem(listen: SocketAddr) -> anyhow::Result<()> {
    let constant = |status: StatusCode, text: &'static str| {
        make_sync(move |_| poem::Response::builder().status(status).content_type("application/json").body(text))
    };
    let route = Route::new()
        .at("/lending/applications/:application/offers/:offer/accept", post(constant(StatusCode::OK, OFFER)))
        .at("/payments/buyers", post(constant(StatusCode::CREATED, BUYER)))
        .at("/v1/traces", post(constant(StatusCode::OK, "")));
    Ok(Server::new(poem::listener::TcpListener::bind(listen)).run(route).await?)
}
