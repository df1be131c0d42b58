//! Country and currency codes.

use std::fmt;
use std::str::FromStr;

/// A two-letter country code of ISO 3166-1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CountryCode([u8; 2]);

impl CountryCode {
    /// Reads a code in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let code = upper::<2>(text)?;
        rust_iso3166::from_alpha2(ascii(&code)).map(|_| Self(code))
    }

    /// The code in upper case.
    pub fn as_str(&self) -> &str {
        ascii(&self.0)
    }
}

/// A code of ISO 4217 that is active and of money: not of metals, units of account, funds or tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CurrencyCode([u8; 3]);

impl CurrencyCode {
    /// Reads a code in upper or lower case.
    pub fn parse(text: &str) -> Option<Self> {
        let code = upper::<3>(text)?;
        let currency = iso_currency::Currency::from_str(ascii(&code)).ok()?;
        // The crate says that VED has replaced VES; in ISO 4217 (amendment 170) both are active.
        let active = currency.is_superseded().is_none() || currency == iso_currency::Currency::VES;
        (active && !currency.is_special() && !currency.is_fund()).then_some(Self(code))
    }

    /// The code in upper case.
    pub fn as_str(&self) -> &str {
        ascii(&self.0)
    }
}

impl fmt::Debug for CountryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CountryCode({})", self.as_str())
    }
}

impl fmt::Debug for CurrencyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CurrencyCode({})", self.as_str())
    }
}

/// `text` in upper case; `None` if it is not `N` ASCII letters.
fn upper<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut code: [u8; N] = text.as_bytes().try_into().ok()?;
    code.make_ascii_uppercase();
    code.iter().all(u8::is_ascii_uppercase).then_some(code)
}

fn ascii(code: &[u8]) -> &str {
    std::str::from_utf8(code).expect("codes are ASCII letters")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes<const N: u32>() -> impl Iterator<Item = String> {
        (0..26_u32.pow(N)).map(|mut n| {
            (0..N)
                .map(|_| {
                    let letter = char::from(b'A' + (n % 26) as u8);
                    n /= 26;
                    letter
                })
                .collect()
        })
    }

    #[test]
    fn the_249_countries_of_iso_3166_and_no_others() {
        assert_eq!(codes::<2>().filter(|code| CountryCode::parse(code).is_some()).count(), 249);
        assert_eq!(CountryCode::parse("gb").map(|c| c.as_str().to_owned()).as_deref(), Some("GB"));
        for other in ["", "G", "GBR", "UK", "XK", "EU", "ZZ", "AN", "G1", "ÅX", "\u{130}"] {
            assert_eq!(CountryCode::parse(other), None, "{other}");
        }
    }

    #[test]
    fn active_currencies_of_money_and_no_others() {
        for code in ["GBP", "eur", "USD", "XCG", "ZWG", "SLE", "VED", "VES", "XAF", "XCD", "XOF", "XPF"] {
            assert!(CurrencyCode::parse(code).is_some(), "{code}");
        }
        for code in ["", "GB", "GBPP", "HRK", "BGN", "DEM", "ZWL", "SLL", "CUC", "ANG", "12A", "ABC"] {
            assert_eq!(CurrencyCode::parse(code), None, "{code}");
        }
        for code in
            ["XXX", "XTS", "XAU", "XAG", "XDR", "XUA", "XSU", "XAD", "BOV", "CHE", "CHW", "CLF", "COU", "MXV", "USN"]
        {
            assert_eq!(CurrencyCode::parse(code), None, "{code}");
        }
        assert_eq!(codes::<3>().filter(|code| CurrencyCode::parse(code).is_some()).count(), 155);
    }
}
