//! Bodies that are not what they must be: everything wrong is told at once, and nothing is done.

use crate::context::{Context, OPERATOR_KEY, application, id, offer, terms};
use serde_json::{Value, json};

/// Every operation with a body: method, path, a good body, a bad one and what is wrong with it.
fn cases() -> Vec<(&'static str, String, Value, Value, Value)> {
    vec![
        (
            "PUT",
            format!("/operator/partners/{}", id(5)),
            json!({ "name": "x" }),
            json!({ "name": " ", "oauthClientId": 1, "nmae": "SECRET" }),
            json!(["name: must have 1 to 256 characters", "oauthClientId: must be a string", "nmae: is not a known field"]),
        ),
        (
            "POST",
            format!("/operator/partners/{}/keys", id(1)),
            json!({ "name": "x", "areas": ["lending"] }),
            json!({ "areas": ["lending", "SECRET"], "expiresAt": "tomorrow" }),
            json!([
                "name: is required",
                "areas: must be one of lending, payments",
                "expiresAt: must be an RFC 3339 date-time",
            ]),
        ),
        (
            "PUT",
            application(5),
            json!({ "partnerId": id(1) }),
            json!({ "partnerId": "SECRET" }),
            json!(["partnerId: must be a UUID of 36 characters"]),
        ),
        (
            "PUT",
            offer(1, 5),
            terms(),
            json!({
                "details": "x".repeat(2_001), "fundingType": "SECRET", "offerType": 1, "annualPercentageRate": "0.09",
                "interestRate": -1, "expiryAt": 5, "redirectUrl": "javascript:SECRET", "amount": 1e16, "duration": "Month",
                "status": "Advanced",
            }),
            json!([
                "details: must have 1 to 2000 characters",
                "fundingType: must be one of TermLoan",
                "offerType: must be one of Indicative, Underwritten",
                "annualPercentageRate: must be a number",
                "interestRate: must be between 0 and 1000",
                "expiryAt: must be a string",
                "redirectUrl: must be an absolute http or https URL of at most 2048 ASCII characters",
                "amount: must be between 0 and 1000000000000000",
                "duration: must be one of HalfYear, Year, TwoYears, ThreeYears, FourYears, FiveYears, SixYears",
                "status: is not a known field",
            ]),
        ),
    ]
}

#[tokio::test]
async fn everything_that_is_wrong_with_fields_is_told_at_once() {
    let context = Context::new().await;
    context.partner(1).await;
    for (method, path, good, bad, wanted) in cases() {
        let answer = context.call(method, &path, &bad).await;
        assert_eq!(answer.is_error(400, "InvalidData")["errors"], wanted, "{path}");
        assert!(!answer.text().contains("SECRET"));
        context.call(method, &path, &good).await.is(201);
    }
}

#[tokio::test]
async fn what_is_no_json_object_is_refused() {
    let context = Context::new().await;
    context.partner(1).await;
    let key = ("x-operator-key", OPERATOR_KEY);
    let deep = format!("{{\"name\":{}1{}}}", "[".repeat(40), "]".repeat(40));
    for (method, path, good, ..) in cases() {
        for body in
            ["", "[]", "null", "\"x\"", "{", "{} {}", "{\"name\":\"a\",\"name\":\"b\"}", &deep, "{\"a\":\"\\ud800\"}"]
        {
            context.send(method, &path, &[key], body).await.is_error(400, "BadRequest");
        }
        for kind in ["text/plain", "application/xml", ""] {
            let answer = context.send(method, &path, &[key, ("content-type", kind)], &good.to_string()).await;
            answer.is_error(415, "UnsupportedMediaType");
        }
        let long = format!("{{\"name\":\"{}\"}}", "x".repeat(65_536));
        context.send(method, &path, &[key], &long).await.is_error(413, "RequestTooLarge");
        // The Content-Type may be left out.
        context.send(method, &path, &[key], &good.to_string()).await.is(201);
    }
}

#[tokio::test]
async fn routing_errors_have_the_shape_too_and_no_page_may_call() {
    let context = Context::new().await;
    let key = [("x-operator-key", OPERATOR_KEY)];
    for path in
        ["/operator", "/operator/nothing", "/nothing", "/lending/applications/1/offers/2/accept", "/openapi.json"]
    {
        context.send("GET", path, &key, "").await.is_error(404, "NotFound");
    }
    let answer = context.send("POST", "/operator/events", &key, "").await;
    answer.is_error(405, "MethodNotAllowed");
    assert_eq!(answer.headers["allow"], "GET");
    let preflight = [("origin", "https://evil.example"), ("access-control-request-method", "GET")];
    context.send("OPTIONS", "/operator/events", &preflight, "").await.is_error(405, "MethodNotAllowed");
}

#[tokio::test]
async fn the_document_and_its_pages_are_served_without_a_key() {
    let context = Context::new().await;
    let json = context.send("GET", "/operator/openapi.json", &[], "").await.is(200);
    assert_eq!(lendpay_api::document::in_place(&json), crate::document::value("operator.json"));
    for path in ["/operator/openapi.yaml", "/operator/docs", "/operator/", "/operator/reference", "/operator/guides/runbook"] {
        assert_eq!(context.send("GET", path, &[], "").await.status, 200);
    }
    let page = context.send("GET", "/operator/docs", &[], "").await;
    let options = page.text().rsplit("SwaggerUIBundle({").next().expect("the page starts Swagger UI");
    assert!(!options.contains("persistAuthorization"), "the operator's key is kept nowhere: {options}");
    let home = context.send("GET", "/", &[], "").await;
    assert_eq!((home.status, &home.headers["location"]), (307, &"/operator/".parse().expect("a value")));
}
