//! Loan offers (contract 1.2).

use crate::decimal::{Amount, Rate};
use crate::text::{self, TextError};
use crate::{ApplicationId, OfferId, PartnerId, Timestamp};
use std::fmt;

macro_rules! named {
    ($($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident,)+ })+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$item])* $variant,)+
        }

        impl $name {
            /// Every value, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name in the contract.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => stringify!($variant),)+
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    )+};
}

named! {
    /// The status of an offer (contract 2.1).
    Status {
        /// Waits for the customer.
        Offered,
        /// The customer did not accept it in time.
        Expired,
        /// The customer accepted it.
        CustomerAccepted,
        /// The customer declined it.
        CustomerDeclined,
        /// The money has been paid out.
        Advanced,
        /// Closed for good; nothing follows.
        Archived,
    }
    /// What is financed.
    FundingType {
        /// A loan over a fixed time.
        TermLoan,
    }
    /// How firm the offer is.
    OfferType {
        /// Terms may still change in onboarding; cannot be advanced.
        Indicative,
        /// Terms are final.
        Underwritten,
    }
    /// How long the loan runs.
    Duration {
        /// Six months.
        HalfYear,
        /// Twelve months.
        Year,
        /// Two years.
        TwoYears,
        /// Three years.
        ThreeYears,
        /// Four years.
        FourYears,
        /// Five years.
        FiveYears,
        /// Six years.
        SixYears,
    }
}

/// Why a text is rejected as a part of an offer's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermsError {
    /// The details are longer than [`Details::MAX`] characters.
    DetailsLength,
    /// Not an absolute `http` or `https` address of at most [`RedirectUrl::MAX`] ASCII characters.
    RedirectUrl,
}

impl fmt::Display for TermsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DetailsLength => write!(f, "must have at most {} characters", Details::MAX),
            Self::RedirectUrl => {
                write!(f, "must be an absolute http or https URL of at most {} ASCII characters", RedirectUrl::MAX)
            }
        }
    }
}

impl std::error::Error for TermsError {}

/// Free text that describes an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Details(String);

impl Details {
    /// The most characters that are allowed.
    pub const MAX: usize = 2_000;

    /// Checks a text that somebody sends (contract 2.12). It is kept as it was written.
    pub fn from_input(text: &str) -> Result<Self, TextError> {
        if text.chars().any(char::is_control) {
            return Err(TextError::Control);
        }
        if text.is_empty() || text.chars().count() > Self::MAX {
            return Err(TextError::Length { max: Self::MAX });
        }
        text::readable(text).map(|()| Self(text.to_owned()))
    }

    /// Checks the length of a text that may have been stored before there were other rules.
    pub fn parse(text: &str) -> Result<Self, TermsError> {
        if text.len() > Self::MAX && text.chars().count() > Self::MAX {
            return Err(TermsError::DetailsLength);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The address where the customer enters the onboarding journey, kept as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RedirectUrl(String);

impl RedirectUrl {
    /// The most characters that are allowed.
    pub const MAX: usize = 2_048;

    /// Checks that `text` is an absolute `http` or `https` URL (WHATWG) and a URI (RFC 3986: ASCII), as the document
    /// says.
    pub fn parse(text: &str) -> Result<Self, TermsError> {
        let parsed = (text.is_ascii() && text.len() <= Self::MAX).then(|| url::Url::parse(text).ok()).flatten();
        match parsed {
            Some(url) if matches!(url.scheme(), "http" | "https") => Ok(Self(text.to_owned())),
            _ => Err(TermsError::RedirectUrl),
        }
    }

    /// Wraps a stored URL without checking it. It was checked before it was stored, and stays readable if the check
    /// changes.
    pub const fn restored(text: String) -> Self {
        Self(text)
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is offered. The operator may replace the terms while the offer is Offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Free text.
    pub details: Details,
    /// What is financed.
    pub funding_type: FundingType,
    /// How firm it is.
    pub offer_type: OfferType,
    /// The yearly cost of the loan, fees included.
    pub annual_percentage_rate: Rate,
    /// The yearly interest alone.
    pub interest_rate: Option<Rate>,
    /// From this moment on the offer can no longer be accepted.
    pub expiry_at: Option<Timestamp>,
    /// Where onboarding begins.
    pub redirect_url: Option<RedirectUrl>,
    /// The sum that is lent.
    pub amount: Option<Amount>,
    /// How long the loan runs.
    pub duration: Option<Duration>,
}

/// An offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The offer's id.
    pub id: OfferId,
    /// The application that it answers.
    pub application: ApplicationId,
    /// The partner that owns the application.
    pub partner: PartnerId,
    /// What is offered.
    pub terms: Terms,
    /// The status. [`crate::life_cycle`] says which may follow.
    pub status: Status,
    /// When the status last changed.
    pub status_changed_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redirect_urls_are_absolute_web_addresses_kept_as_written() {
        for text in ["https://onboarding.example/loans/1", "http://localhost:3000", "https://x.example?a=%C3%A4"] {
            assert_eq!(RedirectUrl::parse(text).map(|u| u.as_str() == text), Ok(true), "{text}");
        }
        let long = format!("https://x.example/{}", "a".repeat(2_048));
        for text in [
            "",
            "/loans/1",
            "onboarding.example",
            "javascript:alert(1)",
            "ftp://x.example",
            "https://",
            "https://x.example/ä",
            &long,
        ] {
            assert_eq!(RedirectUrl::parse(text), Err(TermsError::RedirectUrl), "{text}");
        }
    }

    #[test]
    fn details_may_be_empty_but_not_endless() {
        assert!(Details::parse("").is_ok());
        assert!(Details::parse(&"é".repeat(2_000)).is_ok());
        assert_eq!(Details::parse(&"é".repeat(2_001)), Err(TermsError::DetailsLength));
    }
}
