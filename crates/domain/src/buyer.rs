//! Buyers: companies that pay through the service.

use crate::idempotency::Fingerprint;
use crate::{BuyerId, PartnerId, Timestamp};
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::sync::Arc;

/// A buyer as its partner described it, before or after the checks: every field may be absent.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The company's name.
    pub name: Option<String>,
    /// The number under which the company is registered in its country.
    pub registration_number: Option<String>,
    /// ISO 3166-1 alpha-2.
    pub country_code: Option<String>,
    /// The kind of buyer; 0 is the only one.
    pub kind: Option<i32>,
    /// The company's bank account.
    pub bank_account: Option<BankAccount>,
}

/// A bank account as described. `Debug` shows none of it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct BankAccount {
    /// ISO 4217.
    pub currency_code: Option<String>,
    /// The name that the account is held in.
    pub account_name: Option<String>,
    /// Six digits, for accounts of the United Kingdom and Ireland.
    pub sort_code: Option<String>,
    /// The domestic account number.
    pub account_number: Option<String>,
    /// ISO 9362.
    pub bic: Option<String>,
    /// Free text, such as "Current".
    pub account_type: Option<String>,
    /// ISO 13616.
    pub iban: Option<String>,
}

impl Description {
    /// Every text that it holds.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        // Destructured, so that a new field cannot be forgotten here.
        let Self { name, registration_number, country_code, kind: _, bank_account } = self;
        let account = bank_account.iter().flat_map(BankAccount::texts);
        [name, registration_number, country_code].into_iter().chain(account).flatten().map(String::as_str)
    }
}

impl BankAccount {
    fn texts(&self) -> [&Option<String>; 7] {
        let Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = self;
        [currency_code, account_name, sort_code, account_number, bic, account_type, iban]
    }
}

impl fmt::Debug for BankAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BankAccount(…)")
    }
}

impl fmt::Debug for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Description")
            .field("country_code", &self.country_code)
            .field("kind", &self.kind)
            .field("bank_account", &self.bank_account)
            .finish_non_exhaustive()
    }
}

/// A description that has passed [`crate::buyer_checks`]: what a store may keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewBuyer(Arc<Description>);

impl NewBuyer {
    pub(crate) fn checked(description: Description) -> Self {
        Self(Arc::new(description))
    }

    /// The description.
    pub const fn description(&self) -> &Arc<Description> {
        &self.0
    }

    /// Takes the description out.
    pub fn into_description(self) -> Description {
        Arc::unwrap_or_clone(self.0)
    }

    /// The digest that tells whether a repeated creation has the same payload: SHA-256 over every field. The order of
    /// JSON members, spaces in an IBAN and the case of a code do not matter.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut field = |value: Option<&[u8]>| match value {
            None => hash.update([0]),
            Some(bytes) => {
                hash.update([1]);
                hash.update((bytes.len() as u64).to_be_bytes());
                hash.update(bytes);
            }
        };
        // Destructured, so that a new field cannot be forgotten here.
        let Description { name, registration_number, country_code, kind, bank_account } = &*self.0;
        for text in [name, registration_number, country_code] {
            field(text.as_deref().map(str::as_bytes));
        }
        field(kind.map(i32::to_be_bytes).as_ref().map(<[u8; 4]>::as_slice));
        field(bank_account.as_ref().map(|_| [].as_slice()));
        if let Some(account) = bank_account {
            for text in account.texts() {
                field(text.as_deref().map(str::as_bytes));
            }
        }
        Fingerprint::from_bytes(hash.finalize().into())
    }
}

/// A buyer that has been registered. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buyer {
    /// The buyer's id.
    pub id: BuyerId,
    /// The partner that registered it.
    pub partner: PartnerId,
    /// What the partner said about it.
    pub description: Description,
    /// When it was registered.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> BankAccount {
        BankAccount { iban: Some("GB33BUKB20201555555555".into()), ..BankAccount::default() }
    }

    #[test]
    fn a_fingerprint_tells_payloads_apart() {
        let empty = Description::default();
        let variants = [
            empty.clone(),
            Description { name: Some("a".into()), ..empty.clone() },
            Description { name: Some("ab".into()), ..empty.clone() },
            Description { registration_number: Some("a".into()), ..empty.clone() },
            Description { name: Some("a".into()), registration_number: Some("b".into()), ..empty.clone() },
            Description { country_code: Some("a".into()), ..empty.clone() },
            Description { kind: Some(0), ..empty.clone() },
            Description { bank_account: Some(BankAccount::default()), ..empty.clone() },
            Description { bank_account: Some(account()), ..empty.clone() },
            Description { bank_account: Some(BankAccount { bic: account().iban, ..BankAccount::default() }), ..empty },
        ];
        let prints: Vec<_> = variants.iter().map(|d| NewBuyer::checked(d.clone()).fingerprint()).collect();
        for (i, a) in prints.iter().enumerate() {
            for (j, b) in prints.iter().enumerate() {
                assert_eq!(a == b, i == j, "{:?} {:?}", variants[i], variants[j]);
            }
        }
    }

    #[test]
    fn debug_shows_no_bank_detail() {
        let buyer = Description { bank_account: Some(account()), ..Description::default() };
        assert!(!format!("{buyer:?}").contains("BUKB"));
    }
}
