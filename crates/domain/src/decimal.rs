//! Money and rates: exact decimals in the program, IEEE 754 doubles in requests and responses.

use rust_decimal::Decimal;
use std::fmt;
use std::str::FromStr;

/// Why a number is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// Not a finite number that a decimal of 28 digits can hold.
    NotDecimal,
    /// Outside the type's range.
    Range {
        /// The smallest value that is allowed.
        min: Decimal,
        /// The largest value that is allowed.
        max: Decimal,
    },
    /// A yearly rate of 10 or more, which in most cases is a percentage.
    Percentage,
}

impl fmt::Display for DecimalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotDecimal => f.write_str("must be a decimal number"),
            Self::Range { min, max } => write!(f, "must be between {min} and {max}"),
            Self::Percentage => f.write_str("must be a fraction below 10: 0.09 is nine percent"),
        }
    }
}

impl std::error::Error for DecimalError {}

macro_rules! decimals {
    ($($(#[$doc:meta])* $name:ident: $min:expr, $max:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(Decimal);

        impl $name {
            /// The smallest value.
            pub const MIN: i64 = $min;

            /// The largest value.
            pub const MAX: i64 = $max;

            /// Checks the range.
            pub fn new(value: Decimal) -> Result<Self, DecimalError> {
                let (min, max) = (Decimal::from(Self::MIN), Decimal::from(Self::MAX));
                if value < min || value > max {
                    return Err(DecimalError::Range { min, max });
                }
                Ok(Self(value))
            }

            /// Takes the shortest decimal that reads back as `value`: 0.0905 is 0.0905, not 0.09049999….
            pub fn from_f64(value: f64) -> Result<Self, DecimalError> {
                Self::new(from_f64(value)?)
            }

            /// Reads decimal digits, `0.0905`, without losing one: 0.10 stays 0.10.
            pub fn from_digits(text: &str) -> Result<Self, DecimalError> {
                Self::new(Decimal::from_str_exact(text).map_err(|_| DecimalError::NotDecimal)?)
            }

            /// The double nearest to the value: what went in through [`Self::from_f64`] comes out.
            pub fn to_f64(self) -> f64 {
                to_f64(self.0)
            }

            /// The value.
            pub const fn decimal(self) -> Decimal {
                self.0
            }
        }
    )+};
}

decimals! {
    /// A yearly rate as a fraction: 0.09 is nine percent. 0 to 1,000 (100,000 percent).
    Rate: 0, 1_000;
    /// An amount of money in units of its currency, 0 to 10¹⁵, so that a double holds it to the cent.
    Amount: 0, 1_000_000_000_000_000_i64;
}

impl Rate {
    /// A rate that somebody sends is below this.
    pub const BELOW: i64 = 10;

    /// [`Self::from_f64`] for a rate that somebody sends: below 10 (contract 2.12). Rates up to 1,000 were stored
    /// before.
    pub fn from_input(value: f64) -> Result<Self, DecimalError> {
        if value >= Self::BELOW as f64 { Err(DecimalError::Percentage) } else { Self::from_f64(value) }
    }
}

fn from_f64(value: f64) -> Result<Decimal, DecimalError> {
    // `Display` for floats writes the shortest digits that read back as the same double, never an exponent.
    Decimal::from_str_exact(&value.to_string()).map_err(|_| DecimalError::NotDecimal)
}

fn to_f64(value: Decimal) -> f64 {
    const EXACT: i128 = 1 << 53;
    const POWERS: [f64; 23] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ];
    let mantissa = value.mantissa();
    // Both operands are exact doubles, so the division rounds once and is the nearest double (Clinger's fast path).
    if let Some(power) = POWERS.get(value.scale() as usize)
        && mantissa.abs() <= EXACT
    {
        return mantissa as f64 / power;
    }
    f64::from_str(&value.to_string()).expect("a decimal is written as digits")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_contracts_numbers_come_out_as_they_went_in() {
        for value in [0.0, 0.09, 0.0905, 0.03, 1.0, 999.999_999] {
            assert_eq!(Rate::from_f64(value).map(Rate::to_f64), Ok(value));
        }
        for value in [25_000.55, 0.01, 1e15, 123_456_789_012.34] {
            assert_eq!(Amount::from_f64(value).map(Amount::to_f64), Ok(value));
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for value in [f64::NAN, f64::INFINITY, 1e-300, 1e300] {
            assert_eq!(Rate::from_f64(value), Err(DecimalError::NotDecimal), "{value}");
        }
        for value in [-0.01, 1_000.000_001] {
            assert!(matches!(Rate::from_f64(value), Err(DecimalError::Range { .. })), "{value}");
        }
    }

    #[test]
    fn a_rate_that_is_sent_is_below_10() {
        for value in [0.0, 0.0905, 9.999_999] {
            assert_eq!(Rate::from_input(value), Rate::from_f64(value));
        }
        for value in [10.0, 12.5, 1_000.0, 1e6, 1e300, f64::INFINITY] {
            assert_eq!(Rate::from_input(value), Err(DecimalError::Percentage), "{value}");
        }
        assert!(matches!(Rate::from_input(-0.1), Err(DecimalError::Range { .. })));
        assert_eq!(Rate::from_input(f64::NAN), Err(DecimalError::NotDecimal));
    }

    proptest! {
        #[test]
        fn every_double_that_is_taken_comes_back(value in 0.0_f64..1e15) {
            if let Ok(amount) = Amount::from_f64(value) {
                prop_assert_eq!(amount.to_f64(), value);
            }
        }

        #[test]
        fn every_amount_in_cents_is_taken_and_comes_back(cents in 0_u64..100_000_000_000_000) {
            let value = cents as f64 / 100.0;
            prop_assert_eq!(Amount::from_f64(value).map(Amount::to_f64), Ok(value));
        }

        #[test]
        fn the_fast_way_agrees_with_reading_the_digits(mantissa in 0_i64..=i64::MAX, scale in 0_u32..=28) {
            let value = Decimal::from_i128_with_scale(i128::from(mantissa), scale);
            prop_assert_eq!(to_f64(value), value.to_string().parse::<f64>().expect("digits"));
        }
    }
}
