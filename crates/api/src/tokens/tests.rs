//! Tokens from the first sight to the last, with keys that change or cannot be had.

use super::{KeySource, Tokens, Verified};
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use lendpay_domain::Timestamp;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

const ISSUER: &str = "https://issuer.example";
const AUDIENCE: &str = "https://api.example";

/// A key of the issuer.
struct Signer {
    id: &'static str,
    key: EncodingKey,
}

impl Signer {
    fn new(id: &'static str) -> Self {
        let random = aws_lc_rs::rand::SystemRandom::new();
        let der = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).expect("a key");
        Self { id, key: EncodingKey::from_ec_der(der.as_ref()) }
    }

    fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, Algorithm::ES256).expect("a public key");
        jwk.common.key_id = Some(self.id.to_owned());
        serde_json::to_value(jwk).expect("JSON")
    }

    fn token_of(&self, header: &Header) -> String {
        let claims = json!({
            "iss": ISSUER, "aud": AUDIENCE, "exp": at(300).timestamp(), "client_id": "client",
            "scope": "lending.offers.accept", "jti": self.id,
        });
        jsonwebtoken::encode(header, &claims, &self.key).expect("a token")
    }

    fn header(&self) -> Header {
        let mut header = Header::new(Algorithm::ES256);
        (header.kid, header.typ) = (Some(self.id.to_owned()), Some("at+jwt".to_owned()));
        header
    }

    fn token(&self) -> String {
        self.token_of(&self.header())
    }
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(1_700_000_000 + seconds, 0).expect("in range")
}

/// What an issuer answers who is asked for its keys.
#[derive(Clone)]
enum Answer {
    Text(String),
    Refused,
    Never,
}

fn keys(keys: &[Value]) -> Answer {
    Answer::Text(json!({ "keys": keys }).to_string())
}

/// An issuer that counts how often it is asked.
#[derive(Clone)]
struct Issuer(Arc<Mutex<(Answer, usize)>>);

impl KeySource for Issuer {
    fn fetch(&self) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let mut state = self.0.lock().expect("unpoisoned");
        state.1 += 1;
        match state.0.clone() {
            Answer::Text(text) => std::future::ready(Ok(text.into_bytes())).boxed(),
            Answer::Refused => std::future::ready(Err("refused".to_owned())).boxed(),
            Answer::Never => std::future::pending().boxed(),
        }
    }
}

/// Tokens with an issuer, at the moment 0.
struct Case {
    issuer: Issuer,
    tokens: Arc<Tokens>,
    keeper: JoinHandle<()>,
}

impl Case {
    async fn new(answer: Answer) -> Self {
        let issuer = Issuer(Arc::new(Mutex::new((answer, 0))));
        let tokens = Arc::new(Tokens::new(ISSUER.into(), AUDIENCE.into(), issuer.clone()));
        let kept = Arc::clone(&tokens);
        let keeper = tokio::spawn(async move { match kept.keep_keys().await {} });
        // The keeper has asked for the first time.
        tokio::task::yield_now().await;
        Self { issuer, tokens, keeper }
    }

    fn answers(&self, answer: Answer) {
        self.issuer.0.lock().expect("unpoisoned").0 = answer;
    }

    fn fetches(&self) -> usize {
        self.issuer.0.lock().expect("unpoisoned").1
    }

    async fn accepts(&self, token: &str, seconds: i64) -> bool {
        self.tokens.verify(token, at(seconds)).await.is_ok()
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        self.keeper.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_is_accepted_until_its_end_and_a_minute() {
    let signer = Signer::new("a");
    let case = Case::new(keys(&[signer.public()])).await;
    let Verified { client, .. } = case.tokens.verify(&signer.token(), at(0)).await.expect("good");
    assert_eq!(&*client, "client");
    assert!(case.accepts(&signer.token(), 359).await);
    assert!(!case.accepts(&signer.token(), 360).await);
    let token = signer.token();
    assert!(case.accepts(&token, 0).await && case.accepts(&token, 359).await, "seen before");
    assert!(!case.accepts(&token, 360).await);
    assert_eq!(case.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn headers_decide_what_is_looked_at() {
    let signer = Signer::new("a");
    let case = Case::new(keys(&[signer.public()])).await;
    for (kind, good) in [
        (Some("at+jwt"), true),
        (Some("AT+JWT"), true),
        (Some("application/at+jwt"), true),
        (Some("JWT"), true),
        (Some("jwt"), true),
        (None, false),
        (Some("logout+jwt"), false),
        (Some(""), false),
    ] {
        let mut header = signer.header();
        header.typ = kind.map(str::to_owned);
        assert_eq!(case.accepts(&signer.token_of(&header), 0).await, good, "{kind:?}");
    }
    let mut header = signer.header();
    header.kid = None;
    assert!(case.accepts(&signer.token_of(&header), 0).await, "a token that names no key");
    header.crit = Some(vec!["exp".to_owned()]);
    assert!(!case.accepts(&signer.token_of(&header), 0).await);
    assert_eq!(case.fetches(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_new_key_is_known_after_one_fetch_and_an_old_one_is_forgotten() {
    let (old, new) = (Signer::new("old"), Signer::new("new"));
    let case = Case::new(keys(&[old.public()])).await;
    assert!(case.accepts(&old.token(), 0).await);
    let seen = old.token();
    assert!(case.accepts(&seen, 0).await);
    case.answers(keys(&[new.public()]));
    let fresh = new.token();
    let all = join_all((0..100).map(|_| case.accepts(&fresh, 0))).await;
    assert!(all.into_iter().all(|accepted| accepted), "all share the one fetch");
    assert_eq!(case.fetches(), 2);
    assert!(!case.accepts(&seen, 0).await, "a token that was seen is not kept alive");
    assert!(!case.accepts(&old.token(), 0).await);
    assert_eq!(case.fetches(), 4, "each unknown key caused one");
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_unknown_keys_does_not_lock_a_rotated_key_out() {
    let (old, new, stranger) = (Signer::new("old"), Signer::new("new"), Signer::new("stranger"));
    let case = Case::new(keys(&[old.public()])).await;
    assert!(!case.accepts(&stranger.token(), 0).await);
    case.answers(keys(&[new.public()]));
    assert!(case.accepts(&new.token(), 8).await, "a stranger's token came just before");
    assert_eq!(case.fetches(), 3);
}

#[tokio::test(start_paused = true)]
async fn random_keys_cause_three_fetches_a_minute_at_most() {
    let (good, bad) = (Signer::new("good"), Signer::new("bad"));
    let case = Case::new(keys(&[good.public()])).await;
    let attack = async |second: i64| {
        let tokens = (0..50).map(|n| {
            let mut header = bad.header();
            header.kid = Some(format!("{second} {n}"));
            bad.token_of(&header)
        });
        let tokens: Vec<_> = tokens.collect();
        join_all(tokens.iter().map(|token| case.accepts(token, second))).await.contains(&true)
    };
    assert!(!attack(0).await);
    assert_eq!(case.fetches(), 2, "the one at the start and one more");
    for (second, fetches) in [(1, 3), (30, 4), (31, 4), (59, 4), (60, 5), (61, 6), (62, 6), (89, 6), (90, 7)] {
        assert!(!attack(second).await);
        assert_eq!(case.fetches(), fetches, "{second}");
    }
    assert!(case.accepts(&good.token(), 91).await);
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_longer_than_two_seconds_for_an_issuer_that_does_not_answer() {
    let (good, new) = (Signer::new("good"), Signer::new("new"));
    let case = Case::new(Answer::Never).await;
    let start = Instant::now();
    let token = good.token();
    let all = join_all((0..100).map(|_| case.accepts(&token, 0))).await;
    assert!(!all.contains(&true));
    // The clock stands still but for what is waited for.
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    case.answers(keys(&[good.public()]));
    tokio::time::sleep(Duration::from_secs(10 + 60)).await;
    assert!(case.accepts(&token, 0).await, "tried again after a while");
    assert_eq!(case.fetches(), 2);

    case.answers(Answer::Never);
    let start = Instant::now();
    assert!(!case.accepts(&new.token(), 0).await);
    assert_eq!(start.elapsed(), Duration::from_secs(2));
    assert!(case.accepts(&token, 0).await && case.accepts(&good.token(), 0).await);
    assert_eq!(start.elapsed(), Duration::from_secs(2), "known keys do not wait");
}

#[tokio::test(start_paused = true)]
async fn the_last_good_keys_stay_while_the_issuer_is_down_or_mistaken() {
    let good = Signer::new("good");
    let case = Case::new(keys(&[good.public()])).await;
    let mut fetches = 1;
    for answer in [
        Answer::Refused,
        Answer::Never,
        Answer::Text("<html>".to_owned()),
        Answer::Text("[]".to_owned()),
        Answer::Text("{}".to_owned()),
        keys(&[json!({ "kty": "oct", "k": "AAAA" })]),
    ] {
        case.answers(answer);
        tokio::time::sleep(Duration::from_secs(10 * 60 + 10)).await;
        assert!(case.fetches() > fetches, "fetched from time to time");
        fetches = case.fetches();
        assert!(case.accepts(&good.token(), 0).await);
    }
    case.answers(keys(&[]));
    tokio::time::sleep(Duration::from_secs(10 * 60)).await;
    assert!(!case.accepts(&good.token(), 0).await, "an issuer that has no keys has no tokens");
}

#[tokio::test(start_paused = true)]
async fn a_broken_key_spoils_no_other() {
    let good = Signer::new("good");
    let mut other_use = good.public();
    other_use["use"] = json!("enc");
    let mut no_point = good.public();
    (no_point["kid"], no_point["x"]) = (json!("no point"), json!("AAAA"));
    let set = [
        json!(null),
        json!({}),
        json!({ "kty": "EC", "crv": "P-256", "x": "!", "y": "!", "kid": "good" }),
        json!({ "kty": "RSA", "n": 1 }),
        json!({ "kty": "new", "alg": "X1" }),
        other_use,
        no_point,
        good.public(),
    ];
    let case = Case::new(keys(&set)).await;
    assert!(case.accepts(&good.token(), 0).await);
    let mut header = good.header();
    header.kid = Some("no point".to_owned());
    assert!(!case.accepts(&good.token_of(&header), 0).await);
    assert_eq!(case.fetches(), 1);
}
