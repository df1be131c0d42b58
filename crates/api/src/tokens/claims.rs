//! What a token must say (RFC 9068, section 4).

use super::Verified;
use super::refusal::Refusal;
use super::scheme::Scope;
use lendpay_domain::Timestamp;
use serde::Deserialize;

/// How far the clocks of the authorization server and ours may be apart, in microseconds.
const SKEW: i64 = 60_000_000;

/// Whose tokens are accepted, and for whom they must be.
#[derive(Debug)]
pub(super) struct Expected {
    pub issuer: String,
    pub audience: String,
}

/// The claims that are looked at. Times are NumericDates: seconds since 1970, perhaps with a fraction.
#[derive(Deserialize)]
pub(super) struct Claims {
    iss: String,
    aud: Audience,
    exp: f64,
    nbf: Option<f64>,
    client_id: Option<String>,
    /// The client in OpenID Connect's words.
    azp: Option<String>,
    scope: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn includes(&self, wanted: &str) -> bool {
        match self {
            Self::One(one) => one == wanted,
            Self::Several(several) => several.iter().any(|one| one == wanted),
        }
    }
}

impl Claims {
    /// Holds the claims of a token whose signature is right against what is expected at the moment `now`.
    pub fn check(self, expected: &Expected, now: Timestamp) -> Result<Verified, Refusal> {
        if self.iss != expected.issuer {
            return Err(Refusal::Issuer);
        }
        if !self.aud.includes(&expected.audience) {
            return Err(Refusal::Audience);
        }
        let now = now.timestamp_micros();
        let until = microseconds(self.exp).saturating_add(SKEW);
        if now >= until {
            return Err(Refusal::Expired);
        }
        if self.nbf.is_some_and(|begin| now.saturating_add(SKEW) < microseconds(begin)) {
            return Err(Refusal::NotYet);
        }
        let client = self.client_id.or(self.azp).filter(|client| !client.is_empty()).ok_or(Refusal::NoClient)?;
        let scopes = self.scope.unwrap_or_default();
        let granted = |scope: &Scope| scopes.split(' ').any(|granted| granted == scope.text());
        Ok(Verified { client: client.into(), scopes: Scope::ALL.into_iter().filter(granted).collect(), until })
    }
}

/// A NumericDate in microseconds; what is out of range is the end of time on its side.
fn microseconds(date: f64) -> i64 {
    // A cast of a float saturates.
    (date * 1_000_000.0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const NOW: i64 = 1_700_000_000;

    fn good() -> Value {
        json!({
            "iss": "https://issuer.example", "aud": "https://api.example", "exp": NOW + 300, "nbf": NOW - 10,
            "client_id": "client", "scope": "openid lending.offers.accept", "sub": "client", "jti": "1", "iat": NOW,
        })
    }

    fn check_at(claims: &Value, seconds: f64) -> Result<Verified, Refusal> {
        let expected = Expected { issuer: "https://issuer.example".into(), audience: "https://api.example".into() };
        let claims: Claims = serde_json::from_value(claims.clone()).map_err(|_| Refusal::Malformed)?;
        claims.check(&expected, Timestamp::from_timestamp_micros(microseconds(seconds)).expect("in range"))
    }

    fn with(name: &str, value: Value) -> Result<Verified, Refusal> {
        let mut claims = good();
        claims[name] = value;
        check_at(&claims, NOW as f64)
    }

    fn without(name: &str) -> Result<Verified, Refusal> {
        let mut claims = good();
        claims.as_object_mut().expect("an object").remove(name);
        check_at(&claims, NOW as f64)
    }

    #[test]
    fn good_claims_name_the_client_and_its_scopes() {
        let verified = with("nbf", json!(NOW)).expect("good");
        assert_eq!(&*verified.client, "client");
        assert_eq!(verified.scopes, [Scope::AcceptOffers].into_iter().collect());
        for (text, scopes) in [
            ("", &[][..]),
            ("lending.offers.accept payments.buyers.create", &[Scope::AcceptOffers, Scope::CreateBuyers]),
            ("payments.buyers.create lending.offers", &[Scope::CreateBuyers]),
            ("events.read  lending.offers.read events", &[Scope::ReadEvents, Scope::ReadOffers]),
            ("lending.offers.accepted LENDING.OFFERS.ACCEPT payments.buyers.create,x", &[]),
        ] {
            let verified = with("scope", json!(text)).expect("good");
            assert_eq!(verified.scopes, scopes.iter().copied().collect(), "{text}");
        }
        assert_eq!(without("scope").expect("good").scopes, [].into_iter().collect());
        let every = Scope::ALL.map(Scope::text).join(" ");
        let every = with("scope", json!(every)).expect("good").scopes;
        assert!(Scope::ALL.into_iter().all(|scope| every.contains(scope)));
    }

    #[test]
    fn an_issuer_and_an_audience_are_compared_letter_by_letter() {
        for issuer in ["https://issuer.example/", "https://ISSUER.example", "http://issuer.example", ""] {
            assert_eq!(with("iss", json!(issuer)), Err(Refusal::Issuer), "{issuer}");
        }
        for audience in [json!("https://api.example/"), json!([]), json!(["a", "b"]), json!("")] {
            assert_eq!(with("aud", audience.clone()), Err(Refusal::Audience), "{audience}");
        }
        assert!(with("aud", json!(["a", "https://api.example"])).is_ok());
    }

    #[test]
    fn times_have_a_skew_of_a_minute() {
        let at = |seconds: f64| check_at(&good(), NOW as f64 + seconds);
        assert!(at(359.999).is_ok());
        assert_eq!(at(360.0), Err(Refusal::Expired));
        assert!(at(-70.0).is_ok());
        assert_eq!(at(-70.001), Err(Refusal::NotYet));
        assert!(with("exp", json!(NOW as f64 + 0.5)).is_ok());
        assert!(with("exp", json!(1e300)).is_ok());
        assert_eq!(with("exp", json!(-1e300)), Err(Refusal::Expired));
        assert_eq!(with("nbf", json!(1e300)), Err(Refusal::NotYet));
        assert!(without("nbf").is_ok());
    }

    #[test]
    fn a_client_may_be_named_in_either_way() {
        assert_eq!(without("client_id"), Err(Refusal::NoClient));
        assert_eq!(with("client_id", json!("")), Err(Refusal::NoClient));
        let mut claims = good();
        claims["client_id"] = Value::Null;
        claims["azp"] = json!("other");
        assert_eq!(&*check_at(&claims, NOW as f64).expect("good").client, "other");
        claims["client_id"] = json!("client");
        assert_eq!(&*check_at(&claims, NOW as f64).expect("good").client, "client");
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_malformed() {
        for name in ["iss", "aud", "exp"] {
            assert_eq!(without(name), Err(Refusal::Malformed), "{name}");
        }
        for (name, value) in [
            ("exp", json!("1800000000")),
            ("exp", json!(null)),
            ("nbf", json!("x")),
            ("aud", json!(1)),
            ("scope", json!([])),
        ] {
            assert_eq!(with(name, value), Err(Refusal::Malformed), "{name}");
        }
    }
}
