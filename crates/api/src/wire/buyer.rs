//! Buyers on the wire (contract 1.3, 2.3).

use super::fields::{Fields, integer, text};
use super::page::page_of;
use super::time::Time;
use super::wire_type;
use crate::operations::Payload;
use lendpay_domain::bank::masked;
use lendpay_domain::buyer;
use poem_openapi::Object;
use poem_openapi::registry::MetaSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A company that is to become a buyer. No field is required; null counts as absent; other fields are ignored.
#[derive(Debug, Clone, Default, Object)]
#[oai(rename_all = "camelCase", rename = "CreateBuyerRequest")]
pub struct NewBuyer {
    /// The company's name: 1 to 256 characters.
    #[oai(nullable)]
    pub name: Option<String>,
    /// The number under which the company is registered in its country: 1 to 64 characters.
    #[oai(nullable)]
    pub registration_number: Option<String>,
    /// The country that the company is registered in: ISO 3166-1 alpha-2.
    #[oai(nullable)]
    pub country_code: Option<String>,
    /// The kind of the buyer.
    #[oai(rename = "type", nullable)]
    pub kind: Option<BuyerType>,
    pub bank_account: Option<NewBankAccount>,
}

/// A bank account of a company that is to become a buyer.
#[derive(Clone, Default, Object)]
#[oai(rename_all = "camelCase", rename = "BankAccount")]
pub struct NewBankAccount {
    /// The currency of the account: an active code of ISO 4217, of money (not of metals, units of account, funds or
    /// tests).
    pub currency_code: Option<String>,
    /// The name that the account is held in: 1 to 256 characters.
    pub account_name: Option<String>,
    /// A sort code of the United Kingdom or Ireland: six digits; hyphens and spaces are ignored.
    pub sort_code: Option<String>,
    /// The domestic account number: 6 to 8 digits beside a sort code, else 1 to 34 letters and digits.
    pub account_number: Option<String>,
    /// A business identifier code: ISO 9362, 8 or 11 characters.
    pub bic: Option<String>,
    /// What kind of account it is, in words: 1 to 64 characters.
    pub account_type: Option<String>,
    /// An international bank account number: ISO 13616; spaces are ignored.
    pub iban: Option<String>,
}

impl std::fmt::Debug for NewBankAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewBankAccount(…)")
    }
}

/// The kind of a buyer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BuyerType(pub i32);

wire_type!(BuyerType, "BuyerType", named: MetaSchema {
    description: Some("The kind of buyer: 0, a company, is the only one."),
    enum_items: vec![0.into()],
    ..MetaSchema::new_with_format("integer", "int32")
});

/// A buyer that has been registered.
#[derive(Debug, Clone, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Buyer {
    /// The identifier of the buyer.
    pub id: Uuid,
    /// The company's name.
    #[oai(nullable)]
    pub name: Option<String>,
    /// The number under which the company is registered in its country.
    #[oai(nullable)]
    pub registration_number: Option<String>,
    /// The country that the company is registered in: ISO 3166-1 alpha-2, upper case.
    #[oai(nullable)]
    pub country_code: Option<String>,
    /// The kind of the buyer; null when it was not said.
    #[oai(rename = "type", nullable)]
    #[serde(rename = "type")]
    pub kind: Option<BuyerType>,
    /// Its bank account; null when there is none.
    #[oai(nullable)]
    pub bank_account: Option<MaskedAccount>,
    /// When the buyer was registered, in UTC.
    pub created_at: Time,
}

/// A buyer's bank account, with the account number and the IBAN masked but for their last four characters.
#[derive(Clone, Default, Object, Serialize)]
#[oai(rename_all = "camelCase", rename = "MaskedBankAccount")]
#[serde(rename_all = "camelCase")]
pub struct MaskedAccount {
    /// The currency of the account: ISO 4217.
    #[oai(nullable)]
    pub currency_code: Option<String>,
    /// The name that the account is held in.
    #[oai(nullable)]
    pub account_name: Option<String>,
    /// The sort code: six digits.
    #[oai(nullable)]
    pub sort_code: Option<String>,
    /// The account number; all but its last four characters are asterisks.
    #[oai(nullable)]
    pub account_number: Option<String>,
    /// The business identifier code.
    #[oai(nullable)]
    pub bic: Option<String>,
    /// What kind of account it is.
    #[oai(nullable)]
    pub account_type: Option<String>,
    /// The IBAN; all but its last four characters are asterisks.
    #[oai(nullable)]
    pub iban: Option<String>,
}

impl std::fmt::Debug for MaskedAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MaskedAccount(…)")
    }
}

impl Payload for NewBuyer {
    const DESCRIPTION: &'static str = "The company. Content-Type may be left out.";
}

/// Reads the description of a company: types only, everything else is judged by the domain.
pub(crate) fn description(fields: &mut Fields) -> buyer::Description {
    buyer::Description {
        name: fields.optional("name", text),
        registration_number: fields.optional("registrationNumber", text),
        country_code: fields.optional("countryCode", text),
        kind: fields.optional("type", integer),
        bank_account: fields.object("bankAccount", "bankAccount.", |fields| buyer::BankAccount {
            currency_code: fields.optional("currencyCode", text),
            account_name: fields.optional("accountName", text),
            sort_code: fields.optional("sortCode", text),
            account_number: fields.optional("accountNumber", text),
            bic: fields.optional("bic", text),
            account_type: fields.optional("accountType", text),
            iban: fields.optional("iban", text),
        }),
    }
}

impl From<buyer::Buyer> for Buyer {
    fn from(buyer: buyer::Buyer) -> Self {
        let description = buyer.description;
        Self {
            id: buyer.id.uuid(),
            name: description.name,
            registration_number: description.registration_number,
            country_code: description.country_code,
            kind: description.kind.map(BuyerType),
            bank_account: description.bank_account.map(MaskedAccount::from),
            created_at: Time(buyer.created_at),
        }
    }
}

page_of! {
    Buyer,
    /// A page of your buyers, in the order of their identifiers. With a filter a page may be short, or empty, and yet have a
    /// `next`.
    BuyerList
}

impl From<buyer::BankAccount> for MaskedAccount {
    fn from(account: buyer::BankAccount) -> Self {
        Self {
            currency_code: account.currency_code,
            account_name: account.account_name,
            sort_code: account.sort_code,
            account_number: account.account_number.as_deref().map(masked),
            bic: account.bic,
            account_type: account.account_type,
            iban: account.iban.as_deref().map(masked),
        }
    }
}
