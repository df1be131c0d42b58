//! What makes a buyer acceptable (contract 2.4).

use crate::bank::{self, AccountNumber, BankError, Bic, Iban, SortCode};
use crate::buyer::{BankAccount, Description, NewBuyer};
use crate::codes::{CountryCode, CurrencyCode};
use crate::text;
use std::fmt::Display;

/// Which rules a buyer must meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BuyerChecks {
    /// Every rule of contract 2.4; values are kept in their canonical form.
    #[default]
    Full,
    /// Only the types of the contract, and `type` 0. Values are kept as they were given.
    Contract,
}

/// One thing that is wrong with a description. The message never quotes the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The field, as partners write it: `bankAccount.iban`.
    pub path: &'static str,
    /// What it must be, as the end of a sentence: `has wrong check digits`.
    pub message: String,
}

/// Applies `checks` to a description and reports everything that is wrong, in the order of the fields.
pub fn check(description: Description, checks: BuyerChecks) -> Result<NewBuyer, Vec<Problem>> {
    let mut problems = Problems(Vec::new());
    if description.kind.is_some_and(|kind| kind != 0) {
        problems.add("type", "must be 0");
    }
    let description = match checks {
        BuyerChecks::Contract => description,
        BuyerChecks::Full => Description {
            name: problems.text("name", description.name, text::NAME_MAX),
            registration_number: problems.text("registrationNumber", description.registration_number, text::SHORT_MAX),
            country_code: problems.code(
                "countryCode",
                description.country_code,
                "ISO 3166-1 alpha-2 country",
                |code| CountryCode::parse(code).map(|code| code.as_str().to_owned()),
            ),
            kind: description.kind,
            bank_account: description.bank_account.map(|account| problems.bank_account(account)),
        },
    };
    if problems.0.is_empty() { Ok(NewBuyer::checked(description)) } else { Err(problems.0) }
}

struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: &'static str, message: impl Display) {
        self.0.push(Problem { path, message: message.to_string() });
    }

    /// The value of `result`; an error becomes a problem of `path`.
    fn keep<T>(&mut self, path: &'static str, result: Result<T, impl Display>) -> Option<T> {
        result.map_err(|error| self.add(path, error)).ok()
    }

    fn text(&mut self, path: &'static str, value: Option<String>, max: usize) -> Option<String> {
        self.keep(path, text::input(&value?, max))
    }

    fn code(
        &mut self,
        path: &'static str,
        value: Option<String>,
        what: &str,
        parse: impl Fn(&str) -> Option<String>,
    ) -> Option<String> {
        self.keep(path, parse(value?.trim()).ok_or_else(|| format!("must be an {what} code")))
    }

    fn bank_account(&mut self, account: BankAccount) -> BankAccount {
        let currency_code = self.code("bankAccount.currencyCode", account.currency_code, "ISO 4217 currency", |code| {
            CurrencyCode::parse(code).map(|code| code.as_str().to_owned())
        });
        let account_name = self.text("bankAccount.accountName", account.account_name, text::NAME_MAX);
        let account_type = self.text("bankAccount.accountType", account.account_type, text::SHORT_MAX);
        let parse_number = match account.sort_code {
            Some(_) => AccountNumber::parse_beside_sort_code,
            None => AccountNumber::parse,
        };
        let sort_code = self.bank("bankAccount.sortCode", account.sort_code, SortCode::parse);
        let account_number = self.bank("bankAccount.accountNumber", account.account_number, parse_number);
        let bic = self.bank("bankAccount.bic", account.bic, Bic::parse);
        let iban = self.bank("bankAccount.iban", account.iban, Iban::parse);
        if let (Some(iban), Some(bic)) = (&iban, &bic)
            && !bank::countries_agree(iban, bic)
        {
            self.add("bankAccount.bic", "must be of the same country as the IBAN");
        }
        BankAccount {
            currency_code,
            account_name,
            sort_code: sort_code.map(SortCode::into_string),
            account_number: account_number.map(AccountNumber::into_string),
            bic: bic.map(Bic::into_string),
            account_type,
            iban: iban.map(Iban::into_string),
        }
    }

    fn bank<T>(
        &mut self,
        path: &'static str,
        value: Option<String>,
        parse: impl Fn(&str) -> Result<T, BankError>,
    ) -> Option<T> {
        self.keep(path, parse(&value?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full() -> Description {
        Description {
            name: Some(" Acme Ltd ".into()),
            registration_number: Some("09876543".into()),
            country_code: Some("gb".into()),
            kind: Some(0),
            bank_account: Some(BankAccount {
                currency_code: Some("gbp".into()),
                account_name: Some("Acme Ltd".into()),
                sort_code: Some("20-20-15".into()),
                account_number: Some("555555".into()),
                bic: Some("bukbgb22".into()),
                account_type: Some("Current".into()),
                iban: Some("GB33 BUKB 2020 1555 5555 55".into()),
            }),
        }
    }

    fn paths(description: Description) -> Vec<&'static str> {
        match check(description, BuyerChecks::Full) {
            Ok(_) => Vec::new(),
            Err(problems) => problems.iter().map(|p| p.path).collect(),
        }
    }

    #[test]
    fn a_good_buyer_is_kept_in_canonical_form() {
        let kept = check(full(), BuyerChecks::Full).expect("acceptable").into_description();
        assert_eq!(kept.name.as_deref(), Some("Acme Ltd"));
        assert_eq!(kept.country_code.as_deref(), Some("GB"));
        let account = kept.bank_account.expect("an account");
        assert_eq!(account.currency_code.as_deref(), Some("GBP"));
        assert_eq!(account.sort_code.as_deref(), Some("202015"));
        assert_eq!(account.account_number.as_deref(), Some("00555555"));
        assert_eq!(account.bic.as_deref(), Some("BUKBGB22"));
        assert_eq!(account.iban.as_deref(), Some("GB33BUKB20201555555555"));
    }

    #[test]
    fn nothing_is_required() {
        assert!(paths(Description::default()).is_empty());
        let bare = Description { bank_account: Some(BankAccount::default()), ..Description::default() };
        assert!(paths(bare).is_empty());
    }

    #[test]
    fn everything_wrong_is_reported_at_once_and_no_value_is_quoted() {
        let bad = "bad\u{7}value".to_owned();
        let some = || Some(bad.clone());
        let description = Description {
            name: some(),
            registration_number: some(),
            country_code: some(),
            kind: Some(1),
            bank_account: Some(BankAccount {
                currency_code: some(),
                account_name: some(),
                sort_code: some(),
                account_number: some(),
                bic: some(),
                account_type: some(),
                iban: some(),
            }),
        };
        let problems = check(description, BuyerChecks::Full).expect_err("nothing of it is good");
        let paths: Vec<_> = problems.iter().map(|p| p.path).collect();
        assert_eq!(
            paths,
            [
                "type",
                "name",
                "registrationNumber",
                "countryCode",
                "bankAccount.currencyCode",
                "bankAccount.accountName",
                "bankAccount.accountType",
                "bankAccount.sortCode",
                "bankAccount.accountNumber",
                "bankAccount.bic",
                "bankAccount.iban",
            ]
        );
        assert!(problems.iter().all(|p| !p.message.contains("bad")), "{problems:?}");
    }

    #[test]
    fn present_and_empty_is_not_absent() {
        let mut description = full();
        description.name = Some("  ".into());
        assert_eq!(paths(description), ["name"]);
    }

    #[test]
    fn an_account_number_is_judged_by_whether_a_sort_code_is_beside_it() {
        let with = |sort_code: Option<&str>, number: &str| {
            let bank_account = Some(BankAccount {
                sort_code: sort_code.map(Into::into),
                account_number: Some(number.into()),
                ..BankAccount::default()
            });
            paths(Description { bank_account, ..Description::default() })
        };
        assert!(with(None, "ES12AB").is_empty());
        assert!(with(Some("202015"), "12345678").is_empty());
        assert_eq!(with(Some("202015"), "ES12AB"), ["bankAccount.accountNumber"]);
        assert_eq!(with(Some("20201"), "ES12AB"), ["bankAccount.sortCode", "bankAccount.accountNumber"]);
    }

    #[test]
    fn iban_and_bic_of_different_countries_do_not_go_together() {
        let mut description = full();
        if let Some(account) = &mut description.bank_account {
            account.bic = Some("DEUTDEFF".into());
        }
        assert_eq!(paths(description), ["bankAccount.bic"]);
    }

    #[test]
    fn the_bare_contract_asks_for_type_0_only_and_changes_nothing() {
        let odd = Description { name: Some(" \0 ".into()), country_code: Some("Atlantis".into()), ..full() };
        let kept = check(odd.clone(), BuyerChecks::Contract).expect("acceptable").into_description();
        assert_eq!(kept, odd);
        let problems = check(Description { kind: Some(7), ..odd }, BuyerChecks::Contract).expect_err("type 7");
        assert_eq!(problems, [Problem { path: "type", message: "must be 0".into() }]);
    }
}
