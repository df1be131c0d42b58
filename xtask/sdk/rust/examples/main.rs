//! The generated Rust client against the running service: every kind of answer, read through its types.

use lendpay_partner::types::{
    BankAccount, BuyerType, CreateBuyerIdempotencyKey, CreateBuyerRequest, LendingError, OfferStatus, OfferType,
};
use lendpay_partner::{Client, Error};
use reqwest::StatusCode;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

/// What the sandbox is asked for, and what AcceptOffer answers then.
const PROVOKED: [(&str, StatusCode, &str); 6] = [
    ("bad-request", StatusCode::BAD_REQUEST, "BadRequest"),
    ("timeout", StatusCode::REQUEST_TIMEOUT, "Timeout"),
    ("request-too-large", StatusCode::PAYLOAD_TOO_LARGE, "RequestTooLarge"),
    ("rate-limited", StatusCode::TOO_MANY_REQUESTS, "RateLimited"),
    ("internal-error", StatusCode::INTERNAL_SERVER_ERROR, "InternalError"),
    ("unavailable", StatusCode::SERVICE_UNAVAILABLE, "Unavailable"),
];

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|error| format!("{name}: {error}"))
}

fn http(key: &str) -> Result<reqwest::Client, Box<dyn std::error::Error>> {
    let key = HeaderValue::from_str(key)?;
    let headers = HeaderMap::from_iter([(HeaderName::from_static("x-service-apikey"), key)]);
    Ok(reqwest::Client::builder().default_headers(headers).build()?)
}

fn client(key: &str) -> Result<Client, Box<dyn std::error::Error>> {
    Ok(Client::new_with_client(&variable("LENDPAY_BASE")?, http(key)?))
}

/// A client whose requests ask the sandbox for something.
fn asking(asked: &str) -> Result<Client, Box<dyn std::error::Error>> {
    let key = HeaderValue::from_str(&variable("LENDPAY_KEY")?)?;
    let headers = HeaderMap::from_iter([
        (HeaderName::from_static("x-service-apikey"), key),
        (HeaderName::from_static("x-sandbox"), HeaderValue::from_str(asked)?),
    ]);
    let http = reqwest::Client::builder().default_headers(headers).build()?;
    Ok(Client::new_with_client(&variable("LENDPAY_BASE")?, http))
}

async fn create_and_replay(api: &Client) -> Outcome {
    let buyer = CreateBuyerRequest {
        name: Some("Northwind Bicycles Ltd".parse()?),
        country_code: Some("GB".parse()?),
        type_: Some(BuyerType::try_from(0)?),
        bank_account: Some(BankAccount {
            currency_code: Some("GBP".parse()?),
            iban: Some("GB33BUKB20201555555555".parse()?),
            ..BankAccount::default()
        }),
        ..CreateBuyerRequest::default()
    };
    let key: CreateBuyerIdempotencyKey = Uuid::new_v4().to_string().parse()?;
    let created = api.create_buyer(Some(&key), &buyer).await?;
    assert_eq!(created.status(), StatusCode::CREATED);
    assert_eq!(created.name.as_deref(), Some("Northwind Bicycles Ltd"));
    assert_eq!(created.registration_number, None);
    let location = format!("/payments/buyers/{}", created.id);
    assert_eq!(created.headers()["location"], location.as_str());

    let again = api.create_buyer(Some(&key), &buyer).await?;
    assert_eq!(again.headers()["idempotency-replayed"], "true");
    assert_eq!(again.id, created.id);
    Ok(())
}

async fn accept_with_nulls(api: &Client, application: &Uuid, indicative: &Uuid) -> Outcome {
    let offer = api.accept_offer(application, indicative, &serde_json::json!({})).await?;
    assert_eq!(offer.status, OfferStatus::CustomerAccepted);
    assert_eq!(offer.offer_type, OfferType::Indicative);
    assert_eq!((offer.amount, offer.annual_percentage_rate), (None, 0.0905));
    assert!(offer.redirect_url.is_some());
    Ok(())
}

async fn refused(api: &Client, application: &Uuid, offer: &Uuid) -> (StatusCode, LendingError) {
    match api.accept_offer(application, offer, &serde_json::json!({})).await {
        Err(Error::ErrorResponse(response)) => (response.status(), response.into_inner()),
        other => panic!("no failure of the service: {other:?}"),
    }
}

async fn every_other_status(api: &Client, application: &Uuid, offer: &Uuid) -> Outcome {
    for (asked, status, code) in PROVOKED {
        let (found, error) = refused(&asking(asked)?, application, offer).await;
        assert_eq!((found, error.error_code.as_str()), (status, code));
    }
    let (found, error) = refused(&client("lendpay_sandbox_key_without_areas")?, application, offer).await;
    assert_eq!((found, error.error_code.as_str()), (StatusCode::FORBIDDEN, "InsufficientScope"));
    match api.get_offer(application, offer, Some("*")).await {
        Err(Error::UnexpectedResponse(response)) => assert_eq!(response.status(), StatusCode::NOT_MODIFIED),
        other => panic!("no unchanged offer: {other:?}"),
    }
    let used: CreateBuyerIdempotencyKey = "sandbox-used".parse()?;
    for (api, key, status) in [
        (&asking("unsupported-media-type")?, None, StatusCode::UNSUPPORTED_MEDIA_TYPE),
        (api, Some(&used), StatusCode::UNPROCESSABLE_ENTITY),
    ] {
        match api.create_buyer(key, &CreateBuyerRequest::default()).await {
            Err(Error::ErrorResponse(response)) => {
                assert_eq!(response.status(), status);
                assert!(!response.title.is_empty());
            }
            other => panic!("no failure of the service: {other:?}"),
        }
    }
    Ok(())
}

async fn repeat_after_lost_replies(api: &Client, application: &Uuid, offer: &Uuid) -> Outcome {
    let losing = asking("lost-reply")?;
    let lost = losing.accept_offer(application, offer, &serde_json::json!({})).await;
    assert!(matches!(lost, Err(Error::CommunicationError(_))), "{lost:?}");
    let accepted = api.accept_offer(application, offer, &serde_json::json!({})).await?;
    assert_eq!(accepted.status, OfferStatus::CustomerAccepted);
    let happened = api.list_events(None, None, None, None).await?.into_inner().items;
    let accepted = happened.iter().filter(|event| event.type_.to_string() == "offer.accepted");
    assert_eq!(accepted.filter(|event| event.offer_id == Some(*offer)).count(), 1);

    let buyer = CreateBuyerRequest { registration_number: Some("lost".parse()?), ..CreateBuyerRequest::default() };
    let key: CreateBuyerIdempotencyKey = Uuid::new_v4().to_string().parse()?;
    let lost = losing.create_buyer(Some(&key), &buyer).await;
    assert!(matches!(lost, Err(Error::CommunicationError(_))), "{lost:?}");
    assert_eq!(api.create_buyer(Some(&key), &buyer).await?.headers()["idempotency-replayed"], "true");
    assert_eq!(api.list_buyers(None, None, Some("lost")).await?.items.len(), 1);
    Ok(())
}

async fn readme(base: &str, http: reqwest::Client, application_id: Uuid, offer_id: Uuid) -> Outcome {
    let api = lendpay_partner::Client::new_with_client(base, http);
    let offer = api.accept_offer(&application_id, &offer_id, &serde_json::json!({})).await?;
    let wanted = CreateBuyerRequest { name: Some("Northwind Bicycles Ltd".parse()?), ..CreateBuyerRequest::default() };
    let buyer = api.create_buyer(Some(&Uuid::new_v4().to_string().parse()?), &wanted).await?;
    println!("{} {}", offer.status, buyer.id);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let api = client(&variable("LENDPAY_KEY")?)?;
    let application = variable("LENDPAY_APPLICATION")?.parse()?;
    let (indicative, declined) = (variable("LENDPAY_INDICATIVE")?.parse()?, variable("LENDPAY_DECLINED")?.parse()?);
    create_and_replay(&api).await?;
    accept_with_nulls(&api, &application, &indicative).await?;

    for (api, offer, status, code) in [
        (&api, Uuid::new_v4(), StatusCode::NOT_FOUND, "OfferNotFound"),
        (&api, declined, StatusCode::CONFLICT, "OfferDeclined"),
        (&client("lendpay_wrong")?, indicative, StatusCode::UNAUTHORIZED, "InvalidApiKey"),
    ] {
        let (found, error) = refused(api, &application, &offer).await;
        assert_eq!((found, error.error_code.as_str()), (status, code));
    }
    let nowhere = CreateBuyerRequest { country_code: Some("XX".parse()?), ..CreateBuyerRequest::default() };
    match api.create_buyer(None, &nowhere).await {
        Err(Error::ErrorResponse(response)) => {
            assert_eq!(response.status(), StatusCode::BAD_REQUEST);
            assert!(response.errors[0].starts_with("countryCode:"));
        }
        other => panic!("no failure of the service: {other:?}"),
    }
    let offer = variable("LENDPAY_OFFER")?.parse()?;
    every_other_status(&api, &application, &offer).await?;
    repeat_after_lost_replies(&api, &application, &offer).await?;
    readme(&variable("LENDPAY_BASE")?, http(&variable("LENDPAY_KEY")?)?, application, indicative).await?;
    println!("rust: all answers as expected");
    Ok(())
}
