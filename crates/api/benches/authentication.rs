//! What authentication costs: by API key, and by a token that was seen before. Run with
//! `cargo bench -p lendpay-api --bench authentication`.
//!
//! Each kind of request goes through the whole partner side, on one thread, to an offer whose id is none: it is
//! answered right after authentication, with nothing asked of the store but who calls. A request without credentials is
//! answered even before, with an error of about the same size; what the others take more than that is their
//! authentication. Kinds take turns, and the best round of each counts. Time is the thread's own on the CPU, so that
//! other work on the machine matters little.

use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use lendpay_api::{Clock, KeySource, OAuth, PartnerSettings, Tokens, event_id, partner_side};
use lendpay_domain::command::{AddKey, PutPartner, Stamp};
use lendpay_domain::event::Actor;
use lendpay_domain::key::{Access, ApiKey, Area, KeyRecord};
use lendpay_domain::store::Commands as _;
use lendpay_domain::text::Name;
use lendpay_domain::{KeyId, OperationId, PartnerId, Timestamp};
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use poem::http::{Method, StatusCode};
use poem::{Endpoint, Request, Response};
use serde_json::{Value, json};
use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://api.example";

/// Partners in the store.
const PARTNERS: u8 = 100;

const ROUNDS: usize = 15;
const REQUESTS: u32 = 20_000;

/// The most that authentication by a token may cost, as a multiple of that by a key.
const ALLOWED: f64 = 1.5;

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_timestamp(1_700_000_000, 0).expect("it is in the range of times")
    }
}

struct Published(Vec<Value>);

impl KeySource for Published {
    fn fetch(&self) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        std::future::ready(Ok(json!({ "keys": self.0 }).to_string().into_bytes())).boxed()
    }
}

/// A kind of request, and its best round so far.
struct Kind {
    name: &'static str,
    header: Option<(&'static str, String)>,
    status: StatusCode,
    best: f64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure())
}

async fn measure() -> Result<ExitCode, Box<dyn Error>> {
    let directory = tempfile::tempdir()?;
    let store = Arc::new(EmbeddedStore::open(directory.path(), EmbeddedOptions::default())?);
    let key = fill(&store).await?;
    let random = aws_lc_rs::rand::SystemRandom::new();
    let es256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random)?;
    let ed25519 = Ed25519KeyPair::generate_pkcs8v1(&random)?;
    let (es256_jwk, es256) = token(Algorithm::ES256, &EncodingKey::from_ec_der(es256.as_ref()))?;
    let (eddsa_jwk, eddsa) = token(Algorithm::EdDSA, &EncodingKey::from_ed_der(ed25519.as_ref()))?;
    println!("tokens of {} and {} bytes, {PARTNERS} partners", es256.len(), eddsa.len());

    let tokens = Arc::new(Tokens::new(ISSUER.into(), AUDIENCE.into(), Published(vec![es256_jwk, eddsa_jwk])));
    let kept = Arc::clone(&tokens);
    tokio::spawn(async move { kept.keep_keys().await });
    let oauth = Some(OAuth { tokens, token_url: "https://issuer.example/token".into() });
    let endpoint = partner_side(store, Arc::new(Still), PartnerSettings { oauth, ..PartnerSettings::default() });

    let mut kinds = [
        ("no credentials", None, StatusCode::UNAUTHORIZED),
        ("API key", Some(("x-service-apikey", key)), StatusCode::NOT_FOUND),
        ("ES256 token", Some(("authorization", format!("Bearer {es256}"))), StatusCode::NOT_FOUND),
        ("EdDSA token", Some(("authorization", format!("Bearer {eddsa}"))), StatusCode::NOT_FOUND),
    ]
    .map(|(name, header, status)| Kind { name, header, status, best: f64::INFINITY });
    for _ in 0..ROUNDS {
        for kind in &mut kinds {
            kind.best = kind.best.min(round(&endpoint, kind).await?);
        }
    }
    let [nobody, key, tokens @ ..] = &kinds;
    let mut kept = true;
    for kind in &kinds {
        println!(
            "{:<15} {:>7.3} µs a request, {:>6.3} µs of it for who calls",
            kind.name,
            kind.best,
            kind.best - nobody.best
        );
    }
    for token in tokens {
        let ratio = (token.best - nobody.best) / (key.best - nobody.best);
        kept &= ratio <= ALLOWED;
        println!("{:<15} {ratio:>7.3} times an API key (at most {ALLOWED} are allowed)", token.name);
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Microseconds of CPU that a request takes.
async fn round(endpoint: &impl Endpoint<Output = Response>, kind: &Kind) -> Result<f64, Box<dyn Error>> {
    let start = on_cpu()?;
    for _ in 0..REQUESTS {
        let mut request = Request::builder()
            .method(Method::POST)
            .header("host", "localhost")
            .uri_str("/lending/applications/5b1a9f0e-3c55-4f5e-8a2e-0d6f4f3b7c21/offers/none/accept");
        if let Some((name, value)) = &kind.header {
            request = request.header(*name, value);
        }
        let status = endpoint.get_response(request.finish()).await.status();
        if status != kind.status {
            return Err(format!("{}: {status}", kind.name).into());
        }
    }
    Ok((on_cpu()? - start) / 1_000.0 / f64::from(REQUESTS))
}

/// How long this thread has been on a CPU, in nanoseconds.
fn on_cpu() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().expect("a split has a first part").parse()?)
}

/// Fills the store with partners that each have a key and a client; returns a key of one.
async fn fill(store: &EmbeddedStore) -> Result<String, Box<dyn Error>> {
    let (at, mut last) = (Still.now(), String::new());
    let operation = OperationId::from_bytes([1; 16]);
    let stamp = || Stamp { at, event: event_id(), actor: Actor::Operator, operation };
    for n in 0..PARTNERS {
        let (id, key) = (PartnerId::from_bytes([n; 16]), ApiKey::from_random([n; 32]));
        let name = Name::parse("A partner")?;
        let client = Some(format!("client-{n}"));
        store.run(PutPartner { id, name: name.clone(), oauth_client_id: client, stamp: stamp() }).await?;
        let record = KeyRecord {
            id: KeyId::from_bytes([n; 16]),
            partner: id,
            hash: key.hash(),
            name,
            areas: Area::ALL.into_iter().collect(),
            access: Access::Full,
            created_at: at,
            expires_at: None,
            revoked_at: None,
        };
        store.run(AddKey { key: record, stamp: stamp() }).await?;
        last = key.reveal().to_owned();
    }
    Ok(last)
}

/// A public key and a token of the last partner, like those of real authorization servers.
fn token(algorithm: Algorithm, key: &EncodingKey) -> Result<(Value, String), Box<dyn Error>> {
    let mut jwk = Jwk::from_encoding_key(key, algorithm)?;
    jwk.common.key_id = Some(format!("{algorithm:?}"));
    let mut header = Header::new(algorithm);
    (header.kid, header.typ) = (jwk.common.key_id.clone(), Some("at+jwt".to_owned()));
    let client = format!("client-{}", PARTNERS - 1);
    let now = Still.now().timestamp();
    let claims = json!({
        "jti": "1CVi72BeobJ2JFNg0D2eQ-D3Ar6KdV0_6G9HSLcGc9Vu", "sub": client, "iat": now, "exp": now + 600,
        "scope": "lending.offers.accept payments.buyers.create", "client_id": client, "iss": ISSUER, "aud": AUDIENCE,
    });
    Ok((serde_json::to_value(jwk)?, jsonwebtoken::encode(&header, &claims, key)?))
}
