//! Contract 1.1, 2.6: addresses and methods that there are not.

use crate::context::samples::terms;
use crate::context::{BUYERS, Context, path};
use poem::http::Method;

#[tokio::test]
async fn an_unknown_path_under_lending_is_404_not_found_with_or_without_a_key() {
    let context = Context::new().await;
    let offer = context.offer(terms()).await.path();
    for path in [
        "/lending".to_owned(),
        "/lending/".to_owned(),
        "/lending/nowhere".to_owned(),
        "/lending/applications/".to_owned(),
        "/lending/applications/x".to_owned(),
        "/lending/applications/x/offers/y/archive".to_owned(),
        "/lending/applications/x/offers/y/decline/".to_owned(),
        "/lending/applications/offers/y/accept".to_owned(),
        "/lending/%FF".to_owned(),
        format!("{offer}/"),
        format!("{offer}/x"),
        offer.replace("/accept", "/Accept"),
    ] {
        for client in [context.anonymous(), context.partner_a()] {
            for method in [Method::POST, Method::GET] {
                client.call(method, &path).send().await.is_error(404, Some("NotFound"));
            }
        }
    }
    assert_eq!(context.event_types().await, ["offer.created"]);
}

#[tokio::test]
async fn an_unknown_path_elsewhere_is_404_without_an_error_code() {
    let context = Context::new().await;
    for path in [
        "/nowhere",
        "/payments",
        "/payments/",
        "/payments/buyers/",
        "/payments/buyers/3e7b118e-bb4c-4e4b-981d-a62526cbbdce/",
        "/events/",
        "/events/x",
        "/eventsx",
        "//payments/buyers",
        "/PAYMENTS/buyers",
        "/lendingx",
        "/LENDING/applications",
        "/v1/payments/buyers",
        "/docs/index.html",
        "/guides",
        "/guides/",
        "/guides/index",
        "/guides/errors/",
        "/reference/",
        "/openapi",
        "/openapi.xml",
        "/%FF",
        "/%00",
        "/..%2f",
        "/payments/%62uyers",
        "/payments/buyers%2F",
        "/payments/buyers;v=1",
    ] {
        for client in [context.anonymous(), context.partner_a()] {
            for method in [Method::POST, Method::GET] {
                client.call(method, path).send().await.is_error(404, None);
            }
        }
    }
}

#[tokio::test]
async fn the_operators_side_is_not_here() {
    let context = Context::new().await;
    for path in ["/operator", "/operator/events", "/operator/buyers", "/health/live", "/health/ready", "/metrics"] {
        context.partner_a().get(path).send().await.is_error(404, None);
    }
}

#[tokio::test]
async fn a_wrong_method_is_405_with_allow() {
    let context = Context::new().await;
    let offer = context.offer(terms()).await.path();
    for method in [Method::GET, Method::PUT, Method::DELETE, Method::PATCH, Method::TRACE, Method::HEAD] {
        for client in [context.anonymous(), context.partner_a()] {
            let answer = client.call(method.clone(), &offer).send().await;
            assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{method}");
            answer.is_error(405, Some("MethodNotAllowed"));
            if [Method::GET, Method::HEAD].contains(&method) {
                continue;
            }
            for (path, allow) in [(BUYERS, "POST, GET, HEAD, OPTIONS"), ("/events", "GET, HEAD, OPTIONS")] {
                let answer = client.call(method.clone(), path).send().await;
                assert_eq!(answer.header("allow"), Some(allow), "{method}");
                answer.is_error(405, None);
            }
        }
    }
    assert_eq!(context.event_types().await, ["offer.created"]);
}

#[tokio::test]
async fn a_wrong_method_with_a_bad_id_is_405_with_allow() {
    let context = Context::new().await;
    for path in [path("%FF", "%FF"), path("x", "y"), path("", "")] {
        let answer = context.anonymous().get(&path).send().await;
        answer.is_error(405, Some("MethodNotAllowed"));
        assert_eq!(answer.header("allow"), Some("POST, OPTIONS"), "{path}");
    }
}

#[tokio::test]
async fn options_of_everything_are_404() {
    let context = Context::new().await;
    context.anonymous().call(Method::OPTIONS, "*").send().await.is_error(404, None);
}

#[tokio::test]
async fn a_wrong_method_on_a_page_is_405_with_allow() {
    let context = Context::new().await;
    for page in ["/", "/docs", "/reference", "/guides/errors", "/openapi.json", "/openapi.yaml"] {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
            let answer = context.anonymous().call(method.clone(), page).send().await;
            assert_eq!(answer.header("allow"), Some("GET, HEAD"), "{method} {page}");
            answer.is_error(405, None);
        }
    }
}

#[tokio::test]
async fn a_method_of_ones_own_making_is_405() {
    let context = Context::new().await;
    let method = Method::from_bytes(b"BREW").expect("a token");
    context.partner_a().call(method, BUYERS).send().await.is_error(405, None);
}

#[tokio::test]
async fn bad_ids_are_401_without_a_key_and_404_with_one() {
    let context = Context::new().await;
    let good = context.offer(terms()).await;
    let (application, offer) = (good.application.to_string(), good.offer.to_string());
    for path in [
        path("x", &offer),
        path(&application, "x"),
        path("%FF", &offer),
        path(&application, "%FF"),
        path("%FF", "%C3%28"),
        path("", &offer),
        path(&application, ""),
        path(&application, format!("%7B{offer}%7D")),
    ] {
        context.anonymous().post(&path).send().await.is_error(401, Some("InvalidApiKey"));
        context.partner_a().post(&path).send().await.is_error(404, Some("OfferNotFound"));
    }
}
