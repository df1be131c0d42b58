//! What a partner said of a buyer.

use lendpay_domain::buyer::{BankAccount, Description};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DescriptionRecord<'a> {
    name: Option<&'a str>,
    pub registration_number: Option<&'a str>,
    country_code: Option<&'a str>,
    kind: Option<i32>,
    #[serde(borrow)]
    bank_account: Option<AccountRecord<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct AccountRecord<'a> {
    currency_code: Option<&'a str>,
    account_name: Option<&'a str>,
    sort_code: Option<&'a str>,
    account_number: Option<&'a str>,
    bic: Option<&'a str>,
    account_type: Option<&'a str>,
    iban: Option<&'a str>,
}

impl<'a> From<&'a Description> for DescriptionRecord<'a> {
    fn from(description: &'a Description) -> Self {
        // Destructured, so that a new field cannot be forgotten here.
        let Description { name, registration_number, country_code, kind, bank_account } = description;
        Self {
            name: name.as_deref(),
            registration_number: registration_number.as_deref(),
            country_code: country_code.as_deref(),
            kind: *kind,
            bank_account: bank_account.as_ref().map(AccountRecord::from),
        }
    }
}

impl From<DescriptionRecord<'_>> for Description {
    fn from(record: DescriptionRecord<'_>) -> Self {
        let DescriptionRecord { name, registration_number, country_code, kind, bank_account } = record;
        Self {
            name: name.map(str::to_owned),
            registration_number: registration_number.map(str::to_owned),
            country_code: country_code.map(str::to_owned),
            kind,
            bank_account: bank_account.map(BankAccount::from),
        }
    }
}

impl<'a> From<&'a BankAccount> for AccountRecord<'a> {
    fn from(account: &'a BankAccount) -> Self {
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
}

impl From<AccountRecord<'_>> for BankAccount {
    fn from(record: AccountRecord<'_>) -> Self {
        let AccountRecord { currency_code, account_name, sort_code, account_number, bic, account_type, iban } = record;
        Self {
            currency_code: currency_code.map(str::to_owned),
            account_name: account_name.map(str::to_owned),
            sort_code: sort_code.map(str::to_owned),
            account_number: account_number.map(str::to_owned),
            bic: bic.map(str::to_owned),
            account_type: account_type.map(str::to_owned),
            iban: iban.map(str::to_owned),
        }
    }
}
