//! Offers and buyers, and a service that is full of offers.

use crate::http::{Answer, Connection, Operator};
use crate::lab::Lab;
use crate::load::wrk;
use crate::server::{OPERATOR_KEY, Server};
use anyhow::{Context as _, ensure};
use serde_json::Value;
use std::fmt::Write as _;

/// The partner.
pub const PARTNER: &str = "00000000-0000-4000-8000-000000000001";

/// Where a partner creates buyers.
pub const BUYERS: &str = "/payments/buyers";

/// A buyer with bank details.
pub const BUYER: &str = r#"{"name":"Northwind Bicycles Ltd","registrationNumber":"01234567","countryCode":"GB","type":0,"bankAccount":{"currencyCode":"GBP","iban":"GB33BUKB20201555555555","bic":"BUKBGB22"}}"#;

/// How many offers answer one application.
const OFFERS: usize = 5;

/// How many offers the driver is given at once: it keeps their requests in memory. Whole applications.
const PART: usize = 40_000 * OFFERS;

/// An application and one of its offers.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The number of the partner that owns them, from 0 on.
    pub partner: usize,
    /// The application's id.
    pub application: String,
    /// The offer's id.
    pub offer: String,
}

impl Pair {
    /// Where the operator finds the offer.
    pub fn operator_path(&self) -> String {
        format!("{}/offers/{}", self.application_path(), self.offer)
    }

    /// Where the operator finds the application.
    pub fn application_path(&self) -> String {
        format!("/operator/applications/{}", self.application)
    }

    /// Where the partner accepts it.
    pub fn accept_path(&self) -> String {
        format!("/lending/applications/{}/offers/{}/accept", self.application, self.offer)
    }
}

/// As many offers of one partner, with ids that lie all over the key space.
pub fn offers(count: usize) -> Vec<Pair> {
    offers_of(1, count)
}

/// The same for so many partners, who own the applications in turn.
pub fn offers_of(partners: usize, count: usize) -> Vec<Pair> {
    let id = |kind: u128, n: usize| {
        // Multiplication by an odd number visits every value once, in no order that a tree would like.
        let bits = ((kind << 64) | (n as u128 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        uuid::Builder::from_random_bytes(bits.to_be_bytes()).into_uuid().to_string()
    };
    let pair = |n| Pair { partner: n / OFFERS % partners, application: id(1, n / OFFERS), offer: id(2, n) };
    (0..count).map(pair).collect()
}

/// A partner's key.
pub struct Key {
    /// What the operator calls it by.
    pub id: String,
    /// What the partner sends.
    pub text: String,
}

impl Key {
    /// Creates one of a partner.
    pub fn create(operator: &mut Operator, partner: &str) -> anyhow::Result<Self> {
        let path = format!("/operator/partners/{partner}/keys");
        let key = operator.call("POST", &path, r#"{"name":"Lab","areas":["lending","payments"]}"#, &[201])?;
        let field = |name: &str| key[name].as_str().map(str::to_owned).with_context(|| format!("a key without {name}"));
        Ok(Self { id: field("keyId")?, text: field("key")? })
    }
}

/// Puts a partner into the service; returns a key of it.
pub fn partner(server: &Server, id: &str) -> anyhow::Result<Key> {
    let mut operator = Operator::new(server.operator);
    operator.call("PUT", &format!("/operator/partners/{id}"), r#"{"name":"Lab"}"#, &[201])?;
    Key::create(&mut operator, id)
}

/// The id of a partner by its number. The first is `PARTNER`.
pub fn partner_id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{:012}", number + 1)
}

/// What the operator says of an application of the first partner.
pub fn application() -> String {
    application_of(PARTNER)
}

fn application_of(partner: &str) -> String {
    format!(r#"{{"partnerId":"{partner}"}}"#)
}

/// The terms of an offer, with an amount that can be told apart.
pub fn terms(amount: usize) -> String {
    terms_until(amount, "2032-06-03T12:15:44.0503342+00:00")
}

/// The same, which hold until a moment.
pub fn terms_until(amount: usize, expiry: &str) -> String {
    format!(
        r#"{{"details":"Representative Rate","fundingType":"TermLoan","offerType":"Underwritten","annualPercentageRate":0.0905,"interestRate":0.03,"expiryAt":"{expiry}","redirectUrl":"https://onboarding.example/loans/3e7b118e-bb4c-4e4b-981d-a62526cbbdce","amount":{amount}.5,"duration":"TwoYears"}}"#
    )
}

/// The amount in an offer's terms.
pub fn amount(offer: &Value) -> Option<usize> {
    Some((offer["amount"].as_f64()? - 0.5) as usize)
}

/// Creates a buyer under an idempotency key.
pub fn create(connection: &mut Connection, key: &str, idempotency: &str) -> anyhow::Result<Answer> {
    connection.post(key, BUYERS, &[("Idempotency-Key", idempotency)], BUYER.as_bytes())
}

/// Puts the partner and all offers into the service; returns the partner's key.
pub fn fill(lab: &Lab, server: &Server, offers: &[Pair]) -> anyhow::Result<String> {
    fill_for(1, lab, server, offers)?.pop().context("a key")
}

/// Puts so many partners and all offers into the service; returns a key of each partner.
pub fn fill_for(partners: usize, lab: &Lab, server: &Server, offers: &[Pair]) -> anyhow::Result<Vec<String>> {
    let keys = (0..partners).map(|number| Ok(partner(server, &partner_id(number))?.text));
    let keys = keys.collect::<anyhow::Result<_>>()?;
    for (n, part) in offers.chunks(PART).enumerate() {
        let mut lines = String::new();
        for pair in part.iter().step_by(OFFERS) {
            writeln!(lines, "PUT {} {}", pair.application_path(), application_of(&partner_id(pair.partner)))?;
        }
        put(lab, server, lines)?;
        overwrite(lab, server, part, n * PART)?;
    }
    Ok(keys)
}

/// Puts terms for all offers, with amounts that begin at a number.
pub fn overwrite(lab: &Lab, server: &Server, offers: &[Pair], amount: usize) -> anyhow::Result<()> {
    let mut amounts = amount..;
    for part in offers.chunks(PART) {
        let mut lines = String::new();
        for (pair, amount) in part.iter().zip(&mut amounts) {
            writeln!(lines, "PUT {} {}", pair.operator_path(), terms(amount))?;
        }
        put(lab, server, lines)?;
    }
    Ok(())
}

/// Sends every line. wrk makes the first request once without sending it, to see what it is like, and stops with some
/// requests unanswered: the first line and the last ones come twice, so that these are repetitions.
pub fn put(lab: &Lab, server: &Server, mut lines: String) -> anyhow::Result<()> {
    const CONNECTIONS: usize = 64;
    let again: Vec<_> =
        lines.lines().take(1).chain(lines.lines().rev().take(4 * CONNECTIONS)).map(str::to_owned).collect();
    for line in again {
        writeln!(lines, "{line}")?;
    }
    let filled = wrk(lab, server.operator, ("X-Operator-Key", OPERATOR_KEY), CONNECTIONS, 600, &lines, false)?;
    ensure!(filled.errors == 0.0, "the store could not be filled: {} errors", filled.errors);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_distinct_uuids() {
        let offers = offers(10_000);
        assert_eq!(offers.iter().map(|pair| &pair.offer).collect::<HashSet<_>>().len(), 10_000);
        assert_eq!(offers.iter().map(|pair| &pair.application).collect::<HashSet<_>>().len(), 10_000 / OFFERS);
    }

    #[test]
    fn applications_belong_to_partners_in_turn() {
        assert_eq!(partner_id(0), PARTNER);
        let partners: Vec<_> = offers_of(3, 4 * OFFERS).iter().map(|pair| pair.partner).collect();
        assert_eq!(partners, [[0; OFFERS], [1; OFFERS], [2; OFFERS], [0; OFFERS]].concat());
    }

    #[test]
    fn an_amount_is_read_as_it_was_written() {
        assert_eq!(amount(&serde_json::from_str(&terms(7)).unwrap()), Some(7));
    }
}
