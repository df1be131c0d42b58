//! Bank details: IBAN, BIC, sort code and account number. None of these types shows its value in `Debug`, and no error
//! quotes what was given.

use crate::codes::CountryCode;
use iban::IbanLike as _;
use std::fmt;

/// Why a bank detail is rejected. The text is the end of a sentence that begins with the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankError {
    /// Not the country letters, check digits and account of ISO 13616.
    IbanForm,
    /// The country is not in the IBAN registry.
    IbanCountry,
    /// Not the length or structure that the registry gives for the country.
    IbanStructure,
    /// The check digits are wrong (mod 97).
    IbanChecksum,
    /// Not the 8 or 11 characters of ISO 9362.
    BicForm,
    /// The fifth and sixth characters are not a country code.
    BicCountry,
    /// Not six digits.
    SortCode,
    /// With a sort code: not 6 to 8 digits.
    AccountNumberUk,
    /// Without a sort code: not 1 to 34 letters and digits.
    AccountNumber,
}

impl fmt::Display for BankError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::IbanForm => "must be an IBAN: two letters, two check digits, then up to 30 letters and digits",
            Self::IbanCountry => "must begin with a country of the IBAN registry",
            Self::IbanStructure => "must have the length and structure of its country",
            Self::IbanChecksum => "has wrong check digits",
            Self::BicForm => "must be a BIC of 8 or 11 characters",
            Self::BicCountry => "must hold a country code in its fifth and sixth characters",
            Self::SortCode => "must have six digits",
            Self::AccountNumberUk => "must have 6 to 8 digits beside a sort code",
            Self::AccountNumber => "must have 1 to 34 letters and digits",
        })
    }
}

impl std::error::Error for BankError {}

macro_rules! secret_texts {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The value in its canonical form.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The value in its canonical form.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }
    )+};
}

secret_texts! {
    /// An international bank account number, ISO 13616: no spaces, upper case.
    Iban,
    /// A business identifier code, ISO 9362: upper case.
    Bic,
    /// A sort code of the United Kingdom or Ireland: six digits.
    SortCode,
    /// A domestic account number.
    AccountNumber,
}

impl Iban {
    /// Checks country, length, structure and check digits. Spaces are removed, letters are upper-cased.
    pub fn parse(text: &str) -> Result<Self, BankError> {
        let compact = without(text, &[' ']).to_ascii_uppercase();
        match compact.parse::<iban::Iban>() {
            Ok(iban) => Ok(Self(iban.electronic_str().to_owned())),
            Err(iban::ParseIbanError::UnknownCountry(_)) => Err(BankError::IbanCountry),
            Err(iban::ParseIbanError::InvalidBban(_)) => Err(BankError::IbanStructure),
            Err(iban::ParseIbanError::InvalidBaseIban { source }) => Err(match source {
                iban::ParseBaseIbanError::InvalidFormat => BankError::IbanForm,
                iban::ParseBaseIbanError::InvalidChecksum => BankError::IbanChecksum,
            }),
        }
    }

    /// The country code of the account.
    pub fn country(&self) -> &str {
        &self.0[..2]
    }
}

impl Bic {
    /// Checks form and country; letters are upper-cased.
    pub fn parse(text: &str) -> Result<Self, BankError> {
        let text = text.trim().to_ascii_uppercase();
        if !matches!(text.len(), 8 | 11) || !text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(BankError::BicForm);
        }
        let country = &text[4..6];
        // Kosovo has no ISO 3166-1 code; banks use the user-assigned XK.
        if country != "XK" && CountryCode::parse(country).is_none() {
            return Err(BankError::BicCountry);
        }
        Ok(Self(text))
    }

    /// The country code of the institution.
    pub fn country(&self) -> &str {
        &self.0[4..6]
    }
}

/// Whether an IBAN and a BIC can belong to one account: their countries are the same, or share a payment scheme.
pub fn countries_agree(iban: &Iban, bic: &Bic) -> bool {
    const SHARED: [&[&str]; 2] = [
        &["GB", "GG", "IM", "JE"],
        // Banks of the French overseas territories and Pacific collectivities use the scheme of France.
        &["FR", "BL", "GF", "GP", "MF", "MQ", "NC", "PF", "PM", "RE", "TF", "WF", "YT"],
    ];
    let (a, b) = (iban.country(), bic.country());
    a == b || SHARED.iter().any(|scheme| scheme.contains(&a) && scheme.contains(&b))
}

impl SortCode {
    /// How many digits it has.
    pub const DIGITS: usize = 6;

    /// Takes six digits; hyphens and spaces are removed.
    pub fn parse(text: &str) -> Result<Self, BankError> {
        let digits = without(text, &[' ', '-']);
        if digits.len() != Self::DIGITS || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(BankError::SortCode);
        }
        Ok(Self(digits))
    }
}

impl AccountNumber {
    /// The most letters and digits of one.
    pub const MAX: usize = 34;

    /// The number of an account with a sort code: 6 to 8 digits, left-padded with zeros to 8.
    pub fn parse_beside_sort_code(text: &str) -> Result<Self, BankError> {
        let text = text.trim();
        if !(6..=8).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(BankError::AccountNumberUk);
        }
        Ok(Self(format!("{text:0>8}")))
    }

    /// Any other account: 1 to 34 letters and digits.
    pub fn parse(text: &str) -> Result<Self, BankError> {
        let text = text.trim();
        if !(1..=Self::MAX).contains(&text.len()) || !text.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(BankError::AccountNumber);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Hides all but the last four characters of an account number or IBAN, keeping its length.
pub fn masked(value: &str) -> String {
    let hidden = value.chars().count().saturating_sub(4);
    value.chars().enumerate().map(|(i, c)| if i < hidden { '*' } else { c }).collect()
}

fn without(text: &str, separators: &[char]) -> String {
    text.trim().chars().filter(|c| !separators.contains(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ibans_are_checked_by_country_length_structure_and_check_digits() {
        for (text, canonical) in [
            ("GB33BUKB20201555555555", "GB33BUKB20201555555555"),
            ("  gb33 bukb 2020 1555 5555 55 ", "GB33BUKB20201555555555"),
            ("DE89370400440532013000", "DE89370400440532013000"),
            ("NO9386011117947", "NO9386011117947"),
            ("MT84MALT011000012345MTLCAST001S", "MT84MALT011000012345MTLCAST001S"),
            ("XK051212012345678906", "XK051212012345678906"),
        ] {
            assert_eq!(Iban::parse(text).map(Iban::into_string).as_deref(), Ok(canonical), "{text}");
        }
        for (text, error) in [
            ("", BankError::IbanForm),
            ("GB", BankError::IbanForm),
            ("3333BUKB20201555555555", BankError::IbanForm),
            ("GB33-BUKB-2020-1555-5555-55", BankError::IbanForm),
            ("ＧＢ33BUKB20201555555555", BankError::IbanForm),
            ("GB34BUKB20201555555555", BankError::IbanChecksum),
            ("GB33BUKB20201555555556", BankError::IbanChecksum),
            // Right check digits, wrong shape: a made-up country, a German account one digit short.
            ("ZZ44ABCD12345678", BankError::IbanCountry),
            ("DE5137040044053201300", BankError::IbanStructure),
        ] {
            assert_eq!(Iban::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn one_wrong_character_anywhere_in_an_iban_is_found() {
        let good = "GB33BUKB20201555555555";
        for at in 0..good.len() {
            for c in ('0'..='9').chain('A'..='Z') {
                let mut text = good.to_owned();
                text.replace_range(at..=at, &c.to_string());
                assert_eq!(Iban::parse(&text).is_ok(), text == good, "{text}");
            }
        }
    }

    #[test]
    fn bics_have_8_or_11_characters_and_a_country() {
        for text in ["BUKBGB22", "bukbgb22xxx", " DEUTDEFF500 ", "NCBVXKPR"] {
            assert!(Bic::parse(text).is_ok(), "{text}");
        }
        for text in ["", "BUKBGB2", "BUKBGB22X", "BUKBGB22XXXX", "BUKB GB22", "BUKBGB2é"] {
            assert_eq!(Bic::parse(text), Err(BankError::BicForm), "{text}");
        }
        assert_eq!(Bic::parse("BUKBZZ22"), Err(BankError::BicCountry));
        assert_eq!(Bic::parse("BUKB2222"), Err(BankError::BicCountry));
    }

    #[test]
    fn territories_that_share_a_scheme_agree() {
        let iban = |text| Iban::parse(text).expect("a good IBAN");
        let bic = |text| Bic::parse(text).expect("a good BIC");
        let (british, french) = (iban("GB33BUKB20201555555555"), iban("FR1420041010050500013M02606"));
        for code in ["BUKBGB22", "BUKBGG22", "BUKBIM22", "BUKBJE22"] {
            assert!(countries_agree(&british, &bic(code)), "{code}");
            assert!(!countries_agree(&french, &bic(code)), "{code}");
        }
        for code in ["BNPAFRPP", "BNPARERX", "BNPANCNX", "BNPAMQMX"] {
            assert!(countries_agree(&french, &bic(code)), "{code}");
            assert!(!countries_agree(&british, &bic(code)), "{code}");
        }
    }

    #[test]
    fn sort_codes_and_account_numbers() {
        assert_eq!(SortCode::parse(" 20-20 15 ").map(SortCode::into_string).as_deref(), Ok("202015"));
        for text in ["", "20201", "2020155", "20/20/15", "２０２０１５"] {
            assert_eq!(SortCode::parse(text), Err(BankError::SortCode), "{text}");
        }
        let beside = |text| AccountNumber::parse_beside_sort_code(text).map(AccountNumber::into_string);
        assert_eq!(beside("123456").as_deref(), Ok("00123456"));
        assert_eq!(beside(" 55555555 ").as_deref(), Ok("55555555"));
        for text in ["", "12345", "123456789", "12345a", "1234 567"] {
            assert_eq!(beside(text), Err(BankError::AccountNumberUk), "{text}");
        }
        assert_eq!(AccountNumber::parse("1").map(AccountNumber::into_string).as_deref(), Ok("1"));
        assert!(AccountNumber::parse(&"Z".repeat(34)).is_ok());
        for text in ["", "12-34", &"9".repeat(35), "1 2"] {
            assert_eq!(AccountNumber::parse(text), Err(BankError::AccountNumber), "{text}");
        }
    }

    #[test]
    fn masking_keeps_the_last_four_and_the_length() {
        assert_eq!(masked("GB33BUKB20201555555555"), "******************5555");
        assert_eq!(masked("12345"), "*2345");
        assert_eq!(masked("1234"), "1234");
        assert_eq!(masked(""), "");
        assert_eq!(masked("äöüßéà"), "**üßéà");
    }

    #[test]
    fn debug_shows_no_bank_detail() {
        let shown = format!(
            "{:?} {:?} {:?} {:?} {:?}",
            Iban::parse("GB33BUKB20201555555555"),
            Bic::parse("BUKBGB22"),
            SortCode::parse("202015"),
            AccountNumber::parse("55779911"),
            Iban::parse("GB34BUKB20201555555555"),
        );
        for secret in ["BUKB", "202015", "55779911"] {
            assert!(!shown.contains(secret), "{shown}");
        }
    }
}
