//! Short texts that people type: trimmed, bounded, free of control characters.

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
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { max } => write!(f, "must have 1 to {max} characters"),
            Self::Control => f.write_str("must not hold control characters"),
        }
    }
}

impl std::error::Error for TextError {}

/// Trims `text` and checks that 1 to `max` characters (Unicode scalar values) are left, none of them a control
/// character.
pub fn checked(text: &str, max: usize) -> Result<String, TextError> {
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

/// The name of a partner or of a key: 1–256 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Trims and checks `text`.
    pub fn parse(text: &str) -> Result<Self, TextError> {
        checked(text, 256).map(Self)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters_after_trimming() {
        assert_eq!(checked("  Ørsted  ", 6).as_deref(), Ok("Ørsted"));
        assert_eq!(checked("Ørsted!", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(checked("   ", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(checked("", 6), Err(TextError::Length { max: 6 }));
        assert_eq!(checked(&"é".repeat(256), 256).map(|t| t.len()), Ok(512));
        assert!(checked(&"é".repeat(257), 256).is_err());
    }

    #[test]
    fn control_characters_are_refused_inside_and_trimmed_at_the_ends() {
        for text in ["a\0b", "a\nb", "a\u{7f}b", "a\u{85}b", "\u{1b}[2J"] {
            assert_eq!(checked(text, 10), Err(TextError::Control), "{text:?}");
        }
        assert_eq!(checked("a\n", 10).as_deref(), Ok("a"));
    }
}
