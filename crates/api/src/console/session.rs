//! The session: a cookie that holds the operator's key, sealed (AES-256-GCM), and until when it holds.
//!
//! It is sealed with a key that follows from the hash of the operator's key, which each process has from its own copy
//! of the operators' file: any process opens it, no secret has to be shared besides, and removing the operator's line
//! ends it. Who can read the file has the hashes, but cannot make a session: that takes the key itself, which is
//! inside.

use crate::operator_key::same;
use crate::random;
use crate::sealing::SealingKey;
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use lendpay_domain::Timestamp;
use lendpay_domain::key::KeyHash;
use poem::Request;
use poem::http::uri::Scheme;
use poem::http::{HeaderValue, header};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How long a session lasts, in seconds.
const LASTS: i64 = 8 * 60 * 60;

const SESSION: &[u8] = b"lendpay console session";
const FORM: &[u8] = b"lendpay console form";

/// The cookies of a request, and how new ones are set.
pub(super) struct Wallet {
    values: Vec<String>,
    /// Whether the browser speaks TLS with this service.
    secure: bool,
}

impl Wallet {
    pub fn of(request: &Request) -> Self {
        let secure = *request.scheme() == Scheme::HTTPS;
        let name = Self { values: Vec::new(), secure }.name();
        let lines = request.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        // More than a few are no browser's, and each is tried with every key.
        let values = pairs.filter(|(known, _)| *known == name).take(4).map(|(_, value)| value.to_owned()).collect();
        Self { values, secure }
    }

    /// With the prefix, no other host of the domain and no page without TLS can set it (RFC 6265bis, section 4.1.3).
    const fn name(&self) -> &'static str {
        if self.secure { "__Host-lendpay-console" } else { "lendpay-console" }
    }

    fn set(&self, value: &str, seconds: i64) -> HeaderValue {
        let rest = if self.secure { "Path=/; Secure" } else { "Path=/operator/console" };
        let cookie = format!("{}={value}; Max-Age={seconds}; HttpOnly; SameSite=Strict; {rest}", self.name());
        cookie.try_into().expect("base64 is visible ASCII")
    }

    /// The cookie of somebody who has not signed in, for the token of the form, and how it is set.
    pub fn visitor(&self) -> (String, HeaderValue) {
        // One that is there serves on: the form may be open twice.
        let known =
            self.values.iter().find(|value| BASE64_URL_SAFE_NO_PAD.decode(value).is_ok_and(|it| it.len() == 32));
        let value = known.cloned().unwrap_or_else(|| BASE64_URL_SAFE_NO_PAD.encode(random::key_bits()));
        let cookie = self.set(&value, LASTS);
        (value, cookie)
    }

    /// Whether a form has the token of one of the cookies.
    pub fn has_made(&self, presented: &str) -> bool {
        self.values.iter().any(|value| is_token(value, presented))
    }

    /// A new session of who has this key, which was checked.
    pub fn session(&self, key: &str, now: Timestamp) -> HeaderValue {
        self.set(&seal(key, now.timestamp() + LASTS), LASTS)
    }

    /// Takes the cookie away.
    pub fn removal(&self) -> HeaderValue {
        self.set("", 0)
    }
}

/// The token that the forms of a cookie's pages have: only who has the cookie knows it.
pub(super) fn token(cookie: &str) -> String {
    let digest = Sha256::new().chain_update(FORM).chain_update(cookie).finalize();
    BASE64_URL_SAFE_NO_PAD.encode(digest)
}

pub(super) fn is_token(cookie: &str, presented: &str) -> bool {
    same(KeyHash::of(&token(cookie)), KeyHash::of(presented))
}

/// What seals the sessions of the key with this hash.
fn cipher(hash: KeyHash) -> SealingKey {
    SealingKey::new(Sha256::new().chain_update(SESSION).chain_update(hash.to_bytes()).finalize().into())
}

fn seal(key: &str, until: i64) -> String {
    let text = [&until.to_be_bytes()[..], key.as_bytes()].concat();
    BASE64_URL_SAFE_NO_PAD.encode(cipher(KeyHash::of(key)).seal(SESSION, &text, random::nonce()))
}

/// The key inside, and until when the session holds, if it is that of one of these keys.
fn open(cookie: &str, hashes: &[KeyHash]) -> Option<(String, i64)> {
    let bytes = BASE64_URL_SAFE_NO_PAD.decode(cookie).ok()?;
    hashes.iter().find_map(|hash| {
        let text = cipher(*hash).open(SESSION, &bytes)?;
        let (until, key) = text.split_first_chunk()?;
        Some((String::from_utf8(key.to_vec()).ok()?, i64::from_be_bytes(*until)))
    })
}

/// Opens sessions, and remembers those that were ended here, for as long as they would have lasted.
#[derive(Default)]
pub(super) struct Sessions {
    ended: Mutex<HashMap<String, i64>>,
}

impl Sessions {
    /// The key of the session, and its cookie.
    pub fn open(&self, wallet: &Wallet, hashes: &[KeyHash], now: Timestamp) -> Option<(String, String)> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        wallet.values.iter().find_map(|cookie| {
            let (key, until) = open(cookie, hashes)?;
            let holds = now.timestamp() < until && !ended.contains_key(&token(cookie));
            holds.then(|| (key, cookie.clone()))
        })
    }

    /// Ends the sessions of a request: whoever has copied a cookie cannot use it here any more.
    pub fn end(&self, wallet: &Wallet, now: Timestamp) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| now.timestamp() < *until);
        ended.extend(wallet.values.iter().map(|cookie| (token(cookie), now.timestamp() + LASTS)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(seconds, 0).expect("in range")
    }

    fn wallet(values: &[&str]) -> Wallet {
        Wallet { values: values.iter().map(|value| (*value).to_owned()).collect(), secure: true }
    }

    #[test]
    fn a_session_is_opened_for_8_hours_by_whoever_knows_the_hash_and_by_nobody_else() {
        let (anna, bert) = (KeyHash::of("anna's key"), KeyHash::of("bert's key"));
        let cookie = seal("anna's key", 1_000 + LASTS);
        let opened = |hashes: &[KeyHash], seconds| {
            Sessions::default().open(&wallet(&["x", &cookie]), hashes, at(seconds)).map(|(key, _)| key)
        };
        assert_eq!(opened(&[bert, anna], 1_000).as_deref(), Some("anna's key"));
        assert_eq!(opened(&[anna], 1_000 + LASTS - 1).as_deref(), Some("anna's key"));
        assert_eq!(opened(&[anna], 1_000 + LASTS), None);
        assert_eq!(opened(&[bert], 1_000), None, "the operator was removed");
        assert_eq!(opened(&[], 1_000), None);
        assert!(!cookie.contains("anna") && seal("anna's key", 5) != seal("anna's key", 5));
    }

    #[test]
    fn a_cookie_that_was_altered_opens_nothing() {
        let hashes = [KeyHash::of("a key")];
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(seal("a key", 1_000)).expect("base64");
        for n in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[n] ^= 1;
            assert_eq!(open(&BASE64_URL_SAFE_NO_PAD.encode(&bytes), &hashes), None, "byte {n}");
            assert_eq!(open(&BASE64_URL_SAFE_NO_PAD.encode(&bytes[..n]), &hashes), None, "cut at {n}");
        }
        for odd in ["", "=", "AAAA", "é"] {
            assert_eq!(open(odd, &hashes), None);
        }
    }

    #[test]
    fn a_session_that_was_ended_stays_so_and_others_go_on() {
        let hashes = [KeyHash::of("a key")];
        let (one, other) = (seal("a key", 9_000), seal("a key", 9_000));
        let sessions = Sessions::default();
        sessions.end(&wallet(&[&one]), at(0));
        assert_eq!(sessions.open(&wallet(&[&one]), &hashes, at(1)), None);
        assert!(sessions.open(&wallet(&[&other]), &hashes, at(1)).is_some());
        // What has lasted its time is forgotten.
        sessions.end(&wallet(&[]), at(LASTS));
        assert!(sessions.ended.lock().expect("not poisoned").is_empty());
    }
}
