//! Text that others wrote, made safe for a terminal.

use serde_json::Value;
use std::path::Path;

/// Whether a terminal obeys it instead of showing it: control characters, and those that change the order of the
/// letters that follow (U+202A–202E, U+2066–2069).
pub fn is_active(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// One line: each active character is replaced by a space.
pub fn line(text: &str) -> String {
    text.chars().map(|c| if is_active(c) { ' ' } else { c }).collect()
}

/// JSON on one line: each active character is escaped (RFC 8259, section 7). Compact JSON has them in strings only.
pub fn json(value: &Value) -> String {
    let escaped = |c| if is_active(c) { format!("\\u{:04x}", u32::from(c)) } else { String::from(c) };
    value.to_string().chars().map(escaped).collect()
}

/// A path as one word of a shell command.
pub fn shell_word(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_active_character_is_left_and_json_keeps_its_value() {
        let text = "a\u{0}\u{1b}[2J\r\n\u{7f}\u{9b}\u{202a}\u{202e}\u{2066}\u{2069}é";
        assert_eq!(line(text), "a  [2J        é");
        let value = serde_json::json!({ text: [text, 1] });
        let printed = json(&value);
        assert!(!printed.contains(is_active), "{printed:?}");
        assert_eq!(serde_json::from_str::<Value>(&printed).expect("JSON"), value);
    }
}
