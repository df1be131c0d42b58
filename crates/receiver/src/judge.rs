//! Whether what was received keeps the promises: every event, repeats under the same id, in order for each subject.

use crate::Received;
use serde_json::Value;
use std::collections::HashMap;

/// What was received.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// The sequences of the events, each once.
    pub sequences: Vec<u64>,
    /// How often an event came again.
    pub repeats: usize,
}

/// Judges what an endpoint received, in the order in which it was received.
///
/// # Errors
/// With the first promise that was broken: an event under two ids or with two bodies, or one that came for the first
/// time after a later one of the same offer or buyer.
pub fn judge(received: &[Received]) -> Result<Judged, String> {
    let mut by_id: HashMap<&str, &Value> = HashMap::new();
    let mut last: HashMap<&Value, u64> = HashMap::new();
    let mut judged = Judged::default();
    for Received { id, body, .. } in received {
        let sequence = body["sequence"].as_u64().ok_or_else(|| format!("no sequence in {body}"))?;
        if let Some(before) = by_id.insert(id, body) {
            if before != body {
                return Err(format!("{id} came as {before} and as {body}"));
            }
            judged.repeats += 1;
            continue;
        }
        let data = &body["data"];
        let subject = [&data["offerId"], &data["buyerId"]].into_iter().find(|id| !id.is_null());
        if let Some(subject) = subject {
            let before = last.insert(subject, sequence).unwrap_or_default();
            if before >= sequence {
                return Err(format!("{sequence} came after {before}, which is of the same subject, {subject}"));
            }
        }
        judged.sequences.push(sequence);
    }
    judged.sequences.sort_unstable();
    let all = judged.sequences.len();
    judged.sequences.dedup();
    if judged.sequences.len() < all { Err("an event came under two ids".to_owned()) } else { Ok(judged) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Instant;

    fn received(id: &str, sequence: u64, offer: &str) -> Received {
        let body = json!({ "sequence": sequence, "data": { "offerId": offer } });
        Received { id: id.to_owned(), body, at: Instant::now() }
    }

    #[test]
    fn repeats_and_another_order_of_other_subjects_are_good() {
        let all = [received("a", 1, "x"), received("c", 3, "y"), received("b", 2, "x"), received("a", 1, "x")];
        assert_eq!(judge(&all), Ok(Judged { sequences: vec![1, 2, 3], repeats: 1 }));
    }

    #[test]
    fn a_wrong_order_and_another_id_or_body_are_not() {
        for all in [
            [received("b", 2, "x"), received("a", 1, "x")],
            [received("a", 1, "x"), received("b", 1, "x")],
            [received("a", 1, "x"), received("b", 1, "y")],
            [received("a", 1, "x"), received("a", 2, "x")],
        ] {
            assert!(judge(&all).is_err(), "{all:?}");
        }
    }
}
