//! Inputs for fuzzing: good ones with some damage.
//!
//! Run for long by `cargo xtask fuzz`, which sets PROPTEST_CASES; otherwise a short run that is the same every time.
//! What was found once is kept by proptest in a file beside the test, and becomes a test of its own.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;

/// How many cases, and whether they are random.
pub fn config() -> ProptestConfig {
    let given = ProptestConfig::default();
    match given.cases {
        256 => ProptestConfig { cases: 5_000, rng_seed: RngSeed::Fixed(20), ..given },
        _ => given,
    }
}

/// Texts to start from.
pub fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// One of `seeds` with bytes changed, cut, doubled, or with one of `words` put in.
pub fn mutated(seeds: Vec<Vec<u8>>, words: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let change = (0..5_u8, any::<Index>(), any::<Index>(), any::<u8>(), select(words));
    (select(seeds), vec(change, 0..8)).prop_map(|(mut bytes, changes)| {
        for (kind, at, to, byte, word) in changes {
            let (at, to) = (at.index(bytes.len() + 1), to.index(bytes.len() + 1));
            let (from, to) = (at.min(to), at.max(to));
            match kind {
                0 => drop(bytes.splice(at..at, word.iter().copied())),
                1 => bytes.insert(at, byte),
                2 => drop(bytes.drain(from..to)),
                3 => {
                    let part = bytes[from..to].to_vec();
                    bytes.splice(to..to, part);
                }
                _ => {
                    if let Some(changed) = bytes.get_mut(at) {
                        *changed ^= byte;
                    }
                }
            }
        }
        bytes
    })
}
