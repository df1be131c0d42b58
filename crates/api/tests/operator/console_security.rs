//! What the console must not do: show or change anything without a session, beyond the role, or for another page.

use crate::browser::{Browser, HOME, form, token};
use crate::console::filled;
use crate::context::{Context, id, offer, terms};
use lendpay_domain::operator::Role;
use serde_json::{Value, json};

/// An address of every kind, with what can be posted to it.
async fn addresses(context: &Context) -> Vec<(String, bool)> {
    let (_, _, buyer) = filled(context).await;
    let offer = format!("{HOME}/applications/{}/offers/{}", id(1), id(1));
    vec![
        (HOME.to_owned(), false),
        (format!("{HOME}/search?q={}", id(1)), false),
        (format!("{HOME}/partners"), false),
        (format!("{HOME}/partners/{}", id(1)), false),
        (format!("{HOME}/applications/{}", id(1)), false),
        (offer.clone(), false),
        (format!("{offer}/decline"), true),
        (format!("{HOME}/buyers"), false),
        (format!("{HOME}/buyers/{buyer}"), true),
        (format!("{HOME}/operations/{}", "a".repeat(32)), false),
        (format!("{HOME}/events"), false),
    ]
}

#[tokio::test]
async fn no_page_is_shown_and_nothing_is_done_without_a_session() {
    let context = Context::new().await;
    let addresses = addresses(&context).await;
    let before = context.get("/operator/events").await.is(200);
    let sealed = Browser::of(&context, Role::Admin).await.cookie.into_inner().expect("not poisoned").expect("a cookie");
    let first = if sealed.starts_with('A') { 'B' } else { 'A' };
    let broken = format!("{first}{}", &sealed[1..]);
    let longer = format!("{sealed}A");
    let key = context.key_of(Role::Admin).to_owned();
    for cookie in [None, Some("".to_owned()), Some("x".repeat(43)), Some(key), Some(broken), Some(longer)] {
        let browser = Browser { cookie: cookie.clone().into(), ..Browser::new(&context) };
        for (path, posts) in &addresses {
            browser.get(path).await.leads_to(&format!("{HOME}/sign-in"));
            if *posts {
                let yes = form(&[("reason", "x"), ("sure", "yes"), ("token", "")]);
                browser.post(path, &yes).await.leads_to(&format!("{HOME}/sign-in"));
            }
        }
        browser.post(&format!("{HOME}/sign-out"), "").await.leads_to(&format!("{HOME}/sign-in"));
    }
    assert_eq!(context.get("/operator/events").await.is(200), before);
    // Neither does a key in a header open a page, nor a cookie an operation.
    let headers = [("x-operator-key", context.key_of(Role::Admin))];
    assert_eq!(context.send("GET", HOME, &headers, "").await.status, 303);
    let cookie = format!("lendpay-console={sealed}");
    let answer = context.send("GET", "/operator/partners", &[("cookie", &cookie)], "").await;
    answer.is_error(401, "InvalidOperatorKey");
}

#[tokio::test]
async fn a_session_ends_after_8_hours_with_its_operator_and_by_signing_out() {
    let context = Context::new().await;
    let browser = Browser::of(&context, Role::Read).await;
    let session = browser.cookie.lock().expect("not poisoned").clone();
    context.set_time(8 * 3_600 - 1);
    browser.get(HOME).await.page(200);
    context.set_time(8 * 3_600);
    browser.get(HOME).await.leads_to(&format!("{HOME}/sign-in"));
    context.set_time(0);
    let page = browser.get(HOME).await.page(200);
    // Signing out takes a token, and a copy of the cookie is of no use then.
    browser.post(&format!("{HOME}/sign-out"), "").await.page(400);
    browser.post(&format!("{HOME}/sign-out"), &form(&[("token", &token(&page))])).await;
    assert_eq!(*browser.cookie.lock().expect("not poisoned"), None, "it is taken away");
    let copied = Browser { cookie: session.into(), ..Browser::new(&context) };
    copied.get(HOME).await.leads_to(&format!("{HOME}/sign-in"));
    // Another session of the same operator goes on, until the operator is removed.
    let other = Browser::of(&context, Role::Read).await;
    other.get(HOME).await.page(200);
    context.remove_operators();
    other.get(HOME).await.leads_to(&format!("{HOME}/sign-in"));
}

#[tokio::test]
async fn a_wrong_key_opens_nothing_and_a_planted_cookie_is_no_session() {
    let context = Context::new().await;
    let browser = Browser::new(&context);
    for wrong in ["", "wrong", &context.key_of(Role::Admin)[1..], "<script>alert(1)</script>"] {
        let page = browser.sign_in(wrong).await.page(401);
        assert!(page.contains("No operator has this key.") && !page.contains("alert(1)"), "{page}");
    }
    // What was there before signing in, planted or not, is not what is there afterwards, and opens nothing.
    let planted = browser.cookie.lock().expect("not poisoned").clone();
    assert!(planted.is_some());
    browser.sign_in(context.key_of(Role::Admin)).await.leads_to(HOME);
    let session = browser.cookie.lock().expect("not poisoned").clone();
    assert_ne!(planted, session);
    let attacker = Browser { cookie: planted.into(), ..Browser::new(&context) };
    attacker.get(HOME).await.leads_to(&format!("{HOME}/sign-in"));
    // The form of another browser does not sign anybody in.
    let page = attacker.get(&format!("{HOME}/sign-in")).await.page(200);
    let victim = Browser::new(&context);
    victim.get(&format!("{HOME}/sign-in")).await.page(200);
    let sent = form(&[("token", &token(&page)), ("key", context.key_of(Role::Admin))]);
    victim.post(&format!("{HOME}/sign-in"), &sent).await.page(400);
}

#[tokio::test]
async fn a_form_without_the_sessions_token_does_nothing() {
    let context = Context::new().await;
    let addresses = addresses(&context).await;
    let browser = Browser::of(&context, Role::Admin).await;
    let other = Browser::of(&context, Role::Admin).await;
    let foreign = token(&other.get(HOME).await.page(200));
    let before = context.get("/operator/events").await.is(200);
    for (path, _) in addresses.iter().filter(|(_, posts)| *posts) {
        for token in ["", "x", &foreign] {
            let sent = form(&[("token", token), ("reason", "x"), ("sure", "yes")]);
            let page = browser.post(path, &sent).await.page(400);
            assert!(page.contains("token: is not that of this session"), "{page}");
        }
        browser.post(path, "{\"sure\":\"yes\"}").await.page(400);
        // What a form does cannot be had by an address.
        browser.get(&format!("{path}?sure=yes&reason=x&token={foreign}")).await.page(200);
    }
    assert_eq!(context.get("/operator/events").await.is(200), before);
}

#[tokio::test]
async fn nobody_sees_or_does_what_its_role_does_not_allow() {
    let context = Context::new().await;
    filled(&context).await;
    let path = format!("{HOME}/applications/{}/offers/{}", id(1), id(1));
    for role in Role::ALL {
        let browser = Browser::of(&context, role).await;
        let page = browser.get(&path).await.page(200);
        let may = role >= Role::Support;
        assert_eq!(page.contains("Decline this offer"), may, "{role}");
        let operation = browser.get(&format!("{HOME}/operations/{}", "a".repeat(32))).await;
        assert_eq!(operation.status, if may { 200 } else { 403 }, "{role}");
        assert_eq!(browser.get(HOME).await.page(200).contains("operationId"), may, "{role}");
        if !may {
            let sent = form(&[("token", &token(&page)), ("reason", "x"), ("sure", "yes")]);
            let refused = browser.post(&format!("{path}/decline"), &sent).await.page(403);
            assert!(refused.contains("support, lending or admin"), "{refused}");
        }
    }
    assert_eq!(context.get(&offer(1, 1)).await.is(200)["status"], "Offered");
}

#[tokio::test]
async fn no_text_of_a_partner_or_an_operator_is_part_of_a_page() {
    const BAD: &str = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;";
    let context = Context::new().await;
    let partner = format!("/operator/partners/{}", id(1));
    let body = json!({ "name": format!("name {BAD}"), "oauthClientId": format!("client {BAD}") });
    context.call("PUT", &partner, &body).await.is(201);
    let key = json!({ "name": format!("key {BAD}"), "areas": ["payments"] });
    let key = context.call("POST", &format!("{partner}/keys"), &key).await.is(201);
    context.call("PUT", &format!("/operator/applications/{}", id(1)), &json!({ "partnerId": id(1) })).await.is(201);
    let mut offered = terms();
    offered["details"] = json!(format!("details {BAD}"));
    offered["redirectUrl"] = json!("https://x.example/?'onclick='alert(3)");
    context.call("PUT", &offer(1, 1), &terms()).await.is(201);
    context.call("PUT", &offer(1, 1), &offered).await.is(200);
    let reason = json!({ "reason": format!("reason {BAD}") });
    let account = json!({ "accountName": format!("account {BAD}"), "accountType": "<script>\"'><b onclick=x>" });
    let buyer = json!({ "name": format!("buyer {BAD}"), "registrationNumber": "<script>\"'><b>", "bankAccount": account });
    let headers = [("x-service-apikey", key["key"].as_str().expect("a key"))];
    let buyer = context.as_partner("POST", "/payments/buyers", &headers, &buyer.to_string()).await.is(201);
    let buyer = format!("{HOME}/buyers/{}", buyer["id"].as_str().expect("an id"));

    // Each answer is searched for scripts, and for addresses elsewhere, by `Browser`.
    let browser = Browser::of(&context, Role::Support).await;
    let path = format!("{HOME}/applications/{}/offers/{}", id(1), id(1));
    let page = browser.get(&format!("{path}/decline")).await.page(200);
    let asked = form(&[("token", &token(&page)), ("reason", &format!("reason {BAD}"))]);
    let sure = browser.post(&format!("{path}/decline"), &asked).await.page(200);
    context.call("POST", &format!("{}/decline", offer(1, 1)), &reason).await.is(200);
    let in_full = browser.post(&buyer, &form(&[("token", &token(&page))])).await.page(200);
    let found = browser.get(&format!("{HOME}/search?{}", form(&[("q", BAD)]))).await;
    found.leads_to(&format!("{HOME}/partners/{}", id(1)));
    let searched = browser.get(&format!("{HOME}/search?{}", form(&[("q", &format!("{BAD}?"))]))).await.page(200);
    let mut pages = vec![sure, in_full, searched];
    for address in [
        "/partners".to_owned(),
        format!("/partners?{}", form(&[("name", BAD)])),
        format!("/partners/{}", id(1)),
        format!("/applications/{}", id(1)),
        format!("/applications/{}/offers/{}", id(1), id(1)),
        "/buyers".to_owned(),
        format!("/buyers?{}", form(&[("registrationNumber", BAD)])),
        "/events".to_owned(),
    ] {
        pages.push(browser.get(&format!("{HOME}{address}")).await.page(200));
    }
    pages.push(browser.get(&buyer).await.page(200));
    pages.push(browser.get(&format!("{HOME}/events?{}", form(&[("type", BAD)]))).await.page(400));
    let all = pages.concat();
    for text in ["name", "client", "key", "details", "reason", "buyer", "account"] {
        let escaped = format!("{text} &lt;script&gt;alert(1)&lt;/script&gt;&quot;");
        assert!(all.contains(&escaped), "{text} is shown, as a text");
    }
    assert!(!all.contains("<img") && !all.contains("<b>") && !all.contains("<b "), "{all}");
}

#[tokio::test]
async fn there_is_no_console_that_is_off() {
    let context = Context::without_console().await;
    for path in ["", "/sign-in", "/partners", "/style.css"] {
        context.send("GET", &format!("{HOME}{path}"), &[], "").await.is_error(404, "NotFound");
    }
}

#[tokio::test]
async fn over_tls_the_cookie_is_of_this_host_and_of_tls_only() {
    let context = Context::new().await;
    let answer = context.send_over_tls("GET", &format!("{HOME}/sign-in"), &[], "").await;
    let cookie = answer.headers["set-cookie"].to_str().expect("ASCII").to_owned();
    assert!(cookie.starts_with("__Host-lendpay-console="), "{cookie}");
    assert!(cookie.ends_with("; Max-Age=28800; HttpOnly; SameSite=Strict; Path=/; Secure"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a pair").to_owned();
    let sent = form(&[("token", &token(answer.text())), ("key", context.key_of(Role::Read))]);
    let answer = context.send_over_tls("POST", &format!("{HOME}/sign-in"), &[("cookie", &cookie)], &sent).await;
    assert_eq!(answer.status, 303);
    let session = answer.headers["set-cookie"].to_str().expect("ASCII");
    let session = session.split(';').next().expect("a pair");
    assert_eq!(context.send_over_tls("GET", HOME, &[("cookie", session)], "").await.status, 200);
    // Without TLS it has another name.
    assert_eq!(context.send("GET", HOME, &[("cookie", session)], "").await.status, 303);
}

#[tokio::test]
async fn methods_and_names_of_hosts_are_judged_as_everywhere() {
    let context = Context::new().await;
    context.send("DELETE", HOME, &[], "").await.is_error(405, "MethodNotAllowed");
    context.send("POST", HOME, &[], "").await.is_error(405, "MethodNotAllowed");
    context.send("GET", &format!("{HOME}/sign-out"), &[], "").await.is_error(405, "MethodNotAllowed");
    let answer = context.send("HEAD", &format!("{HOME}/sign-in"), &[], "").await;
    assert_eq!((answer.status, answer.bytes.len()), (200, 0));
    let answer = context.call("GET", &format!("{HOME}/nothing"), &Value::Null).await;
    answer.is_error(404, "NotFound");
}
