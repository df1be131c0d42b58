//! A buyer, which is also what remembers its idempotency key: the id follows from the key, and the fingerprint is here.

use super::Time;
use crate::codec::CodecError;
use lendpay_domain::buyer::{BankAccount, Buyer, Description};
use lendpay_domain::idempotency::Fingerprint;
use lendpay_domain::{BuyerId, PartnerId, Timestamp};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuyerRecord<'a> {
    pub partner: [u8; 16],
    pub created_at: Time,
    pub fingerprint: Option<[u8; 32]>,
    name: Option<&'a str>,
    pub registration_number: Option<&'a str>,
    country_code: Option<&'a str>,
    kind: Option<i32>,
    #[serde(borrow)]
    bank_account: Option<BankRecord<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct BankRecord<'a> {
    currency_code: Option<&'a str>,
    account_name: Option<&'a str>,
    sort_code: Option<&'a str>,
    account_number: Option<&'a str>,
    bic: Option<&'a str>,
    account_type: Option<&'a str>,
    iban: Option<&'a str>,
}

impl<'a> BuyerRecord<'a> {
    pub(crate) fn new(
        partner: PartnerId,
        created_at: Timestamp,
        fingerprint: Option<Fingerprint>,
        description: &'a Description,
    ) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Description { name, registration_number, country_code, kind, bank_account } = description;
        Self {
            partner: partner.to_bytes(),
            created_at: created_at.into(),
            fingerprint: fingerprint.map(Fingerprint::to_bytes),
            name: name.as_deref(),
            registration_number: registration_number.as_deref(),
            country_code: country_code.as_deref(),
            kind: *kind,
            bank_account: bank_account.as_ref().map(BankRecord::new),
        }
    }

    pub(crate) fn buyer(&self, id: BuyerId) -> Result<Buyer, CodecError> {
        let description = Description {
            name: owned(self.name),
            registration_number: owned(self.registration_number),
            country_code: owned(self.country_code),
            kind: self.kind,
            bank_account: self.bank_account.map(BankRecord::account),
        };
        let partner = PartnerId::from_bytes(self.partner);
        Ok(Buyer { id, partner, description, created_at: self.created_at.try_into()? })
    }
}

impl<'a> BankRecord<'a> {
    fn new(account: &'a BankAccount) -> Self {
        let BankAccount { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = account;
        Self {
            currency_code: currency_code.as_deref(),
            account_name: account_name.as_deref(),
            sort_code: sort_code.as_deref(),
            account_number: account_number.as_deref(),
            bic: bic.as_deref(),
            account_type: account_type.as_deref(),
            iban: iban.as_deref(),
        }
    }

    fn account(self) -> BankAccount {
        BankAccount {
            currency_code: owned(self.currency_code),
            account_name: owned(self.account_name),
            sort_code: owned(self.sort_code),
            account_number: owned(self.account_number),
            bic: owned(self.bic),
            account_type: owned(self.account_type),
            iban: owned(self.iban),
        }
    }
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}
