//! Swagger UI in a browser: Authorize with client credentials, then Try it out.

use crate::npm::node;
use crate::party::Service;
use crate::real_issuer::RealIssuer;

#[test]
fn authorize_and_try_it_out_work_in_a_browser() {
    let client = "northwind-es256";
    let issuer = RealIssuer::start(&[client]);
    let mut service = Service::with_issuer(&[client], &issuer.url, &[]);
    service.wait_for_keys();
    let mut ids = service.offers[0].split('/').filter(|part| part.len() == 36);
    let (application, offer) = (ids.next().expect("an id"), ids.next().expect("an id"));
    let mut browser = node("swagger.mjs");
    browser.arg(format!("http://{}/docs", service.server.address)).args([client, "secret", application, offer]);
    let output = browser.output().expect("node runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&output.stdout).trim_end(), "AcceptOffer 200\nCreateBuyer 201", "{}", text(&output.stderr));
    assert!(output.status.success());
}
