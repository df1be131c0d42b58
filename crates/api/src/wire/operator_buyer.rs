//! Buyers as the operator sees them: bank details in full (contract 2.9).

use super::buyer::BuyerType;
use super::page::page_of;
use super::time::Time;
use lendpay_domain::bank::masked;
use lendpay_domain::buyer;
use poem_openapi::Object;
use serde::Serialize;
use uuid::Uuid;

/// A buyer.
#[derive(Debug, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct OperatorBuyer {
    /// The identifier of the buyer.
    pub id: Uuid,
    /// The identifier of the partner that registered it.
    pub partner_id: Uuid,
    /// The company's name.
    #[oai(nullable)]
    pub name: Option<String>,
    /// The number under which the company is registered in its country.
    #[oai(nullable)]
    pub registration_number: Option<String>,
    /// The country that the company is registered in: ISO 3166-1 alpha-2.
    #[oai(nullable)]
    pub country_code: Option<String>,
    /// The kind of the buyer; null when it was not said.
    #[oai(rename = "type", nullable)]
    #[serde(rename = "type")]
    pub kind: Option<BuyerType>,
    /// Its bank account; null when there is none.
    #[oai(nullable)]
    pub bank_account: Option<FullAccount>,
    /// When the buyer was registered.
    pub created_at: Time,
}

/// A buyer's bank account, in full.
#[derive(Object, Serialize)]
#[oai(rename_all = "camelCase", rename = "FullBankAccount")]
#[serde(rename_all = "camelCase")]
pub struct FullAccount {
    /// The currency of the account: ISO 4217.
    #[oai(nullable)]
    pub currency_code: Option<String>,
    /// The name that the account is held in.
    #[oai(nullable)]
    pub account_name: Option<String>,
    /// The sort code.
    #[oai(nullable)]
    pub sort_code: Option<String>,
    /// The account number.
    #[oai(nullable)]
    pub account_number: Option<String>,
    /// The business identifier code.
    #[oai(nullable)]
    pub bic: Option<String>,
    /// What kind of account it is.
    #[oai(nullable)]
    pub account_type: Option<String>,
    /// The IBAN.
    #[oai(nullable)]
    pub iban: Option<String>,
}

impl std::fmt::Debug for FullAccount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FullAccount(…)")
    }
}

impl FullAccount {
    /// The same, as partners see it (contract 2.3).
    pub fn masked(self) -> Self {
        let hide = |value: Option<String>| value.as_deref().map(masked);
        Self { account_number: hide(self.account_number), iban: hide(self.iban), ..self }
    }
}

impl From<buyer::Buyer> for OperatorBuyer {
    fn from(buyer: buyer::Buyer) -> Self {
        let buyer::Buyer { id, partner, description, created_at } = buyer;
        Self {
            id: id.uuid(),
            partner_id: partner.uuid(),
            name: description.name,
            registration_number: description.registration_number,
            country_code: description.country_code,
            kind: description.kind.map(BuyerType),
            bank_account: description.bank_account.map(FullAccount::from),
            created_at: Time(created_at),
        }
    }
}

impl From<buyer::BankAccount> for FullAccount {
    fn from(account: buyer::BankAccount) -> Self {
        let buyer::BankAccount { currency_code, account_name, sort_code, account_number, bic, account_type, iban } =
            account;
        Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban }
    }
}

page_of! {
    OperatorBuyer,
    /// A page of buyers, in the order of their identifiers. With a filter a page may be short, or empty, and yet have a
    /// `next`.
    BuyerList
}
