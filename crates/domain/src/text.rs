//! Texts that people type (contract 2.12).
//!
//! [`input`] has every rule. [`stored`] has those that hold for every text that was ever stored: what a store or an
//! export holds stays readable when a rule for input is added.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;
use std::fmt;

/// Why a text is rejected. Never quotes the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextError {
    /// Fewer than one or more than `max` characters once trimmed.
    Length {
        /// The most characters that are allowed.
        max: usize,
    },
    /// Holds a control character (Unicode category Cc).
    Control,
    /// Holds a bidirectional embedding, override or isolate (U+202A–202E, U+2066–2069), which shows text in another
    /// order.
    Bidirectional,
    /// Holds no character that can be seen.
    Invisible,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { max } => write!(f, "must have 1 to {max} characters"),
            Self::Control => f.write_str("must not hold control characters"),
            Self::Bidirectional => f.write_str("must not hold bidirectional control characters"),
            Self::Invisible => f.write_str("must have a visible character"),
        }
    }
}

impl std::error::Error for TextError {}

/// [`stored`], and the rules that came later: a visible character, and no bidirectional control characters.
pub fn input(text: &str, max: usize) -> Result<String, TextError> {
    let text = stored(text, max)?;
    readable(&text).map(|()| text)
}

/// Checks the characters of a text that is not empty: see [`TextError`].
pub(crate) fn readable(text: &str) -> Result<(), TextError> {
    if text.chars().any(|c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        return Err(TextError::Bidirectional);
    }
    let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
    // U+2800 is the Braille pattern without dots.
    let visible = |c: char| !c.is_whitespace() && !c.is_control() && c != '\u{2800}' && !ignorable.contains(c);
    if text.chars().any(visible) { Ok(()) } else { Err(TextError::Invisible) }
}

/// Trims `text` and checks that 1 to `max` characters (Unicode scalar values) are left, none of them a control
/// character.
pub fn stored(text: &str, max: usize) -> Result<String, TextError> {
    let text = text.trim();
    if text.chars().any(char::is_control) {
        return Err(TextError::Control);
    }
    // A character has at least one byte: a text of at most `max` bytes need not be counted.
    if text.is_empty() || (text.len() > max && text.chars().count() > max) {
        return Err(TextError::Length { max });
    }
    Ok(text.to_owned())
}

/// The most characters of a name, or of a reason.
pub const NAME_MAX: usize = 256;

/// The most characters of a text that says less than a name: a number, a kind.
pub const SHORT_MAX: usize = 64;

/// Texts of 1–[`NAME_MAX`] characters.
macro_rules! short_texts {
    ($($(#[$doc:meta])* $name:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// Trims and checks a text that somebody sends.
            pub fn from_input(text: &str) -> Result<Self, TextError> {
                input(text, NAME_MAX).map(Self)
            }

            /// Trims and checks a text that may have been stored before a rule for input was added.
            pub fn parse(text: &str) -> Result<Self, TextError> {
                stored(text, NAME_MAX).map(Self)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    )+};
}

short_texts! {
    /// The name of a partner or of a key: 1–256 characters.
    Name;
    /// Why an operator did something: 1–256 characters.
    Reason;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters_after_trimming() {
        assert_eq!(stored("  Ørsted  ", 6).as_deref(), Ok("Ørsted"));
        assert_eq!(stored("Ørsted!", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(stored("   ", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(stored("", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(stored(&"é".repeat(256), 256).map(|t| t.len()), Ok(512));
        assert!(stored(&"é".repeat(257), 256).is_err());
    }

    #[test]
    fn a_text_must_be_visible_and_in_its_own_order_when_it_is_sent() {
        for text in ["\u{200b}", "\u{feff}\u{2060}", "\u{3164}", "\u{2800}", "\u{fe0f}", "\u{e0041}"] {
            assert_eq!(input(text, 10), Err(TextError::Invisible), "{text:?}");
            assert!(Name::parse(text).is_ok());
        }
        for c in ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}') {
            assert_eq!(input(&format!("a{c}"), 10), Err(TextError::Bidirectional), "{c:?}");
        }
        for text in ["a", "é", "株", "\u{200f}ش", "👩\u{200d}🔬", "0", "."] {
            assert_eq!(input(text, 10).as_deref(), Ok(text));
        }
    }

    #[test]
    fn control_characters_are_refused_inside_and_trimmed_at_the_ends() {
        for text in ["a\0b", "a\nb", "a\u{7f}b", "a\u{85}b", "\u{1b}[2J"] {
            assert_eq!(stored(text, 10), Err(TextError::Control), "{text:?}");
        }
        assert_eq!(stored("a\n", 10).as_deref(), Ok("a"));
    }
}
