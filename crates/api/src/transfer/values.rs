//! The values that lines hold: terms, descriptions, names, hashes. Each was checked when it was stored, perhaps by
//! rules that have changed since, and is not checked by today's rules for input.

use super::records::NotARecord;
use crate::hex;
use crate::wire::offer::{Duration, FundingType, OfferType};
use crate::wire::time::Time;
use lendpay_domain::buyer::{BankAccount, Description};
use lendpay_domain::decimal::{Amount, Rate};
use lendpay_domain::offer::{Details, RedirectUrl, Terms};
use lendpay_domain::text::Name;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TermsLine {
    details: String,
    funding_type: FundingType,
    offer_type: OfferType,
    annual_percentage_rate: String,
    interest_rate: Option<String>,
    expiry_at: Option<Time>,
    redirect_url: Option<String>,
    amount: Option<String>,
    duration: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DescriptionLine {
    name: Option<String>,
    registration_number: Option<String>,
    country_code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<i32>,
    bank_account: Option<AccountLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AccountLine {
    currency_code: Option<String>,
    account_name: Option<String>,
    sort_code: Option<String>,
    account_number: Option<String>,
    bic: Option<String>,
    account_type: Option<String>,
    iban: Option<String>,
}

pub(super) fn name(text: &str) -> Result<Name, NotARecord> {
    Name::parse(text).map_err(|_| NotARecord)
}

pub(super) fn bytes(digits: &str) -> Result<[u8; 32], NotARecord> {
    hex::read(digits).ok_or(NotARecord)
}

impl From<&Terms> for TermsLine {
    fn from(terms: &Terms) -> Self {
        Self {
            details: terms.details.as_str().to_owned(),
            funding_type: FundingType(terms.funding_type),
            offer_type: OfferType(terms.offer_type),
            annual_percentage_rate: terms.annual_percentage_rate.decimal().to_string(),
            interest_rate: terms.interest_rate.map(|rate| rate.decimal().to_string()),
            expiry_at: terms.expiry_at.map(Time),
            redirect_url: terms.redirect_url.as_ref().map(|url| url.as_str().to_owned()),
            amount: terms.amount.map(|amount| amount.decimal().to_string()),
            duration: terms.duration.map(Duration),
        }
    }
}

impl TermsLine {
    pub(super) fn terms(self) -> Result<Terms, NotARecord> {
        let rate = |text: String| Rate::from_digits(&text).map_err(|_| NotARecord);
        Ok(Terms {
            details: Details::parse(&self.details).map_err(|_| NotARecord)?,
            funding_type: self.funding_type.0,
            offer_type: self.offer_type.0,
            annual_percentage_rate: rate(self.annual_percentage_rate)?,
            interest_rate: self.interest_rate.map(rate).transpose()?,
            expiry_at: self.expiry_at.map(|time| time.0),
            redirect_url: self.redirect_url.map(RedirectUrl::restored),
            amount: self.amount.map(|text| Amount::from_digits(&text)).transpose().map_err(|_| NotARecord)?,
            duration: self.duration.map(|duration| duration.0),
        })
    }
}

impl From<&Description> for DescriptionLine {
    fn from(description: &Description) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Description { name, registration_number, country_code, kind, bank_account } = description.clone();
        Self { name, registration_number, country_code, kind, bank_account: bank_account.map(AccountLine::from) }
    }
}

impl From<DescriptionLine> for Description {
    fn from(line: DescriptionLine) -> Self {
        let DescriptionLine { name, registration_number, country_code, kind, bank_account } = line;
        Self { name, registration_number, country_code, kind, bank_account: bank_account.map(BankAccount::from) }
    }
}

impl From<BankAccount> for AccountLine {
    fn from(account: BankAccount) -> Self {
        let BankAccount { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = account;
        Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban }
    }
}

impl From<AccountLine> for BankAccount {
    fn from(line: AccountLine) -> Self {
        let AccountLine { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = line;
        Self { currency_code, account_name, sort_code, account_number, bic, account_type, iban }
    }
}
