//! Contract 2.13: applications, offers and buyers are read, listed and found, a page at a time.

use crate::context::samples::{ACCOUNT_NUMBER, IBAN, buyer, start, terms, terms_until};
use crate::context::{Answer, BUYERS, Context, Placed, offers_of};
use lendpay_domain::OfferId;
use lendpay_domain::life_cycle::Action;
use poem::http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const APPLICATIONS: &str = "/lending/applications";
const HOUR: Duration = Duration::from_secs(3_600);

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["id"].as_str().expect("an id")).collect()
}

/// So many offers of an application, in the order of their ids.
async fn offers(context: &Context, count: usize) -> Vec<Placed> {
    let mut placed = Vec::new();
    for _ in 0..count {
        placed.push(context.offer(terms()).await);
    }
    placed.sort_by_key(|placed| placed.offer);
    placed
}

#[tokio::test]
async fn a_partner_lists_its_own_applications_in_the_order_of_their_ids() {
    let context = Context::new().await;
    let mut wanted = vec![context.a().application];
    for _ in 0..4 {
        wanted.push(context.a().new_application(context.store(), start()).await);
    }
    context.b().new_application(context.store(), start()).await;
    wanted.sort();
    let wanted: Vec<_> = wanted.iter().map(ToString::to_string).collect();
    for limit in [1, 2, 5, 500] {
        assert_eq!(ids(&context.partner_a().read_all(APPLICATIONS, limit).await), wanted, "{limit}");
    }
    let page = context.partner_a().read(APPLICATIONS).await;
    assert_eq!(page["items"][0], json!({ "id": wanted[0] }), "an application is its id");
    assert_eq!(page["next"], Value::Null);
    assert_eq!(context.partner_b().read_all(APPLICATIONS, 1).await.len(), 2);
}

#[tokio::test]
async fn an_offer_is_read_and_listed_exactly_as_it_is_accepted() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    let accepted = context.partner_a().accept(placed).await;
    let read = context.partner_a().get(&placed.own_path()).send().await;
    assert_eq!((read.status, &read.bytes), (200, &accepted.bytes));
    let listed = context.partner_a().get(&offers_of(placed.application)).send().await;
    assert_eq!(listed.text(), format!("{{\"items\":[{}],\"next\":null}}", accepted.text()));
}

#[tokio::test]
async fn offers_are_listed_a_page_at_a_time_each_once_and_in_order() {
    let context = Context::new().await;
    let placed = offers(&context, 7).await;
    let elsewhere = context.a().new_application(context.store(), start()).await;
    context.put_offer(Placed { application: elsewhere, offer: OfferId::new(lendpay_api::uuid()) }, terms()).await;
    let wanted: Vec<_> = placed.iter().map(|placed| placed.offer.to_string()).collect();
    let path = offers_of(context.a().application);
    for limit in [1, 3, 7, 500] {
        assert_eq!(ids(&context.partner_a().read_all(&path, limit).await), wanted, "{limit}");
    }
    assert_eq!(context.partner_a().read_all(&offers_of(elsewhere), 1).await.len(), 1);
}

#[tokio::test]
async fn offers_are_found_by_the_status_that_they_have_now() {
    let context = Context::new().await;
    let lapsing = context.offer(terms_until(start() + HOUR)).await;
    let [offered, accepted, declined, advanced, archived] = offers(&context, 5).await[..] else { panic!("five") };
    context.move_to(accepted, &[Action::Accept]).await;
    context.move_to(declined, &[Action::Decline]).await;
    context.move_to(advanced, &[Action::Accept, Action::Advance]).await;
    context.move_to(archived, &[Action::Archive]).await;
    let found = async |status: &str| {
        let path = format!("{}?status={status}", offers_of(offered.application));
        let items = context.partner_a().read_all(&path, 2).await;
        assert!(items.iter().all(|item| item["status"] == status), "{status} {items:?}");
        ids(&items).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let one = |placed: Placed| vec![placed.offer.to_string()];
    for (status, placed) in [
        ("CustomerAccepted", accepted),
        ("CustomerDeclined", declined),
        ("Advanced", advanced),
        ("Archived", archived),
    ] {
        assert_eq!(found(status).await, one(placed), "{status}");
    }
    assert_eq!((found("Offered").await.len(), found("Expired").await.len()), (2, 0));
    context.pass(HOUR);
    assert_eq!((found("Offered").await, found("Expired").await), (one(offered), one(lapsing)));
    assert_eq!(context.partner_a().read(&lapsing.own_path()).await["status"], "Expired");
    assert_eq!(context.events().await.len(), 11, "reading stores nothing");
}

#[tokio::test]
async fn location_names_the_buyer_as_it_was_created() {
    let context = Context::new().await;
    for payload in [buyer(), json!({})] {
        let created = context.partner_a().create(&payload).await;
        let location = created.header("location").expect("201");
        let read = context.partner_a().get(location).send().await;
        assert_eq!((read.status, &read.bytes), (200, &created.bytes));
        assert!(!read.text().contains(IBAN) && !read.text().contains(ACCOUNT_NUMBER), "masked: {read:?}");
        context.partner_b().get(location).send().await.is_error(404, None);
    }
}

#[tokio::test]
async fn buyers_are_listed_in_order_and_found_by_exactly_their_number() {
    let context = Context::new().await;
    let (a, b) = (context.partner_a(), context.partner_b());
    let mut all = Vec::new();
    for number in ["1", "1", "10", "Ж 7/ü&x"] {
        all.push(a.create(&json!({ "registrationNumber": number })).await.json());
    }
    all.push(a.create(&json!({})).await.json());
    b.create(&json!({ "registrationNumber": "1" })).await;
    b.create(&json!({ "registrationNumber": "B" })).await;
    all.sort_by_key(|buyer| buyer["id"].to_string());
    for limit in [1, 2, 5, 500] {
        assert_eq!(a.read_all(BUYERS, limit).await, all, "{limit}");
    }
    for (number, count) in [("1", 2), ("10", 1), ("%D0%96+7/%C3%BC%26x", 1), ("B", 0), ("", 0), ("01", 0), ("1%00", 0)] {
        let found = a.read_all(&format!("{BUYERS}?registrationNumber={number}"), 1).await;
        assert_eq!(found.len(), count, "{number}");
        assert!(found.iter().all(|buyer| all.contains(buyer)));
    }
    assert_eq!(b.read_all(BUYERS, 500).await.len(), 2);
}

#[tokio::test]
async fn parameters_that_are_wrong_are_400_all_at_once_in_the_shape_of_the_area() {
    let context = Context::new().await;
    let placed = context.offer(terms()).await;
    let other = context.a().new_application(context.store(), start()).await;
    let location = context.partner_a().create(&buyer()).await.header("location").expect("201").to_owned();
    let (offers, offer) = (offers_of(placed.application), placed.own_path());
    let limit = "limit: must be a whole number from 1 to 500";
    let after = "after: must be what an earlier answer gave";
    let unknown = "lmit: is not a known parameter";
    let elsewhere = format!("after={other}:{}", placed.offer);
    for path in [APPLICATIONS, &offers, BUYERS, "/events"] {
        let mut cases = vec![
            ("limit=0".to_owned(), vec![limit]),
            ("limit=501".to_owned(), vec![limit]),
            ("limit=".to_owned(), vec![limit]),
            ("limit=-1&after=x".to_owned(), vec![after, limit]),
            ("after=".to_owned(), vec![after]),
            ("after=x".to_owned(), vec![after]),
            ("after=%FF".to_owned(), vec![after]),
            ("limit=1&limit=1".to_owned(), vec!["limit: is there twice"]),
            ("lmit=1".to_owned(), vec![unknown]),
            ("Limit=1&lmit=1".to_owned(), vec!["Limit: is not a known parameter", unknown]),
            ("a%20b=1".to_owned(), vec!["A parameter with an unusual name is not known."]),
        ];
        if path == offers {
            let status = "status: must be one of Offered, Expired, CustomerAccepted, CustomerDeclined, Advanced, Archived";
            cases.extend([
                (elsewhere.clone(), vec![after]),
                ("status=".to_owned(), vec![status]),
                ("status=offered&limit=0".to_owned(), vec![status, limit]),
            ]);
        }
        for (query, problems) in cases {
            let answer = context.partner_a().get(&format!("{path}?{query}")).send().await;
            answer.is_error(400, path.starts_with("/lending").then_some("BadRequest"));
            assert_eq!(answer.errors(), problems, "{path} {query}");
        }
    }
    for path in [&offer, &location] {
        let answer = context.partner_a().get(&format!("{path}?lmit=1")).send().await;
        assert_eq!((answer.status, answer.errors()), (400, vec![unknown.to_owned()]), "{path}");
    }
}

/// The two single reads, with a way to change the first.
async fn single_reads(context: &Context) -> (Placed, [(String, Answer); 2]) {
    let placed = context.offer(terms()).await;
    let location = context.partner_a().create(&buyer()).await.header("location").expect("201").to_owned();
    let read = async |path: String| {
        let answer = context.partner_a().get(&path).send().await;
        (path, answer)
    };
    (placed, [read(placed.own_path()).await, read(location).await])
}

#[tokio::test]
async fn a_single_read_has_a_strong_tag_and_is_304_for_who_has_it() {
    let context = Context::new().await;
    let (placed, reads) = single_reads(&context).await;
    for (path, first) in &reads {
        let tag = first.header("etag").expect("a tag");
        assert!(tag.starts_with('"') && tag.ends_with('"') && tag.len() > 20, "strong: {tag}");
        for known in [tag.to_owned(), "*".to_owned(), format!("W/{tag}"), format!("\"x\", {tag}")] {
            let again = context.partner_a().get(path).header("if-none-match", &known).send().await;
            assert_eq!((again.status, again.header("etag"), again.bytes.len()), (304, Some(tag), 0), "{known}");
        }
        for other in ["\"x\"", "", &tag[1..], "\u{e9}"] {
            let again = context.partner_a().get(path).header("if-none-match", other).send().await;
            assert_eq!((again.status, &again.bytes), (200, &first.bytes), "{other}");
        }
        // Nobody learns by it what is another's.
        assert_eq!(context.partner_b().get(path).header("if-none-match", "*").send().await.status, 404);
        assert_eq!(context.anonymous().get(path).header("if-none-match", tag).send().await.status, 401);
        let head = context.partner_a().call(Method::HEAD, path).send().await;
        assert_eq!((head.status, head.header("etag"), head.bytes.len()), (200, Some(tag), 0));
    }
    let (path, first) = &reads[0];
    let tag = first.header("etag").expect("a tag");
    context.partner_a().accept(placed).await;
    let changed = context.partner_a().get(path).header("if-none-match", tag).send().await;
    assert_eq!((changed.status, &changed.json()["status"]), (200, &json!("CustomerAccepted")));
    assert_ne!(changed.header("etag"), Some(tag));
}

#[tokio::test]
async fn the_tag_of_an_offer_changes_when_it_expires() {
    let context = Context::new().await;
    let placed = context.offer(terms_until(start() + HOUR)).await;
    let first = context.partner_a().get(&placed.own_path()).send().await;
    let tag = first.header("etag").expect("a tag");
    context.pass(HOUR - Duration::from_nanos(1));
    let ask = || context.partner_a().get(&placed.own_path()).header("if-none-match", tag).send();
    assert_eq!(ask().await.status, 304);
    context.pass(Duration::from_nanos(1));
    assert_eq!(ask().await.json()["status"], "Expired");
}
