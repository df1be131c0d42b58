//! HTTP/2 with heads of hundreds of fields, which take a byte each, and pages whose client gives no leave to send them.

use super::ROUND;
use crate::soak::Shared;
use anyhow::ensure;
use h2::client::Builder;
use hyper::{Method, Request, StatusCode};

/// How many connections there are at a time, one after the other in a round, and how many requests each has.
const CONNECTIONS: u32 = 20;
const STREAMS: usize = 32;

/// As many fields as fit into 32 KiB by HTTP/2's own measure.
const FIELDS: usize = 900;

pub fn attack(shared: &Shared) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        while !shared.over() {
            round(shared).await?;
        }
        Ok(())
    })
}

async fn round(shared: &Shared) -> anyhow::Result<()> {
    let settings = Builder::new().initial_window_size(0).clone();
    let mut held = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut client = shared.secure.connect(&settings).await?;
        for n in 0..STREAMS {
            let heads = n % 2 == 0;
            let (method, path) = if heads { (Method::POST, "/payments/buyers") } else { (Method::GET, "/docs") };
            let mut request = Request::builder().method(method).uri(format!("https://localhost{path}")).body(())?;
            for _ in 0..if heads { FIELDS } else { 0 } {
                request.headers_mut().append("x", "y".parse()?);
            }
            client = client.ready().await?;
            let (answer, body) = client.send_request(request, !heads)?;
            let answer = answer.await?;
            let wanted = if heads { StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE } else { StatusCode::OK };
            ensure!(answer.status() == wanted, "{path} in HTTP/2: {}", answer.status());
            held.push((answer, body, client.clone()));
        }
        tokio::time::sleep(ROUND / CONNECTIONS).await;
        if shared.over() {
            return Ok(());
        }
    }
    Ok(())
}
