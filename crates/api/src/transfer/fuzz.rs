//! Exports that are damaged: a problem with its line, never a panic.

use super::check;
use super::tests::{FORMAT_1, file, records};
use crate::fuzz::JSON_WORDS;
use lendpay_domain::testing::fuzz::{config, mutated};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

/// Some exports, always the same.
fn samples() -> Vec<Vec<u8>> {
    let mut runner = TestRunner::deterministic();
    let some = vec(records(), 0..5);
    let made = (0..20).map(|_| file(&some.new_tree(&mut runner).expect("records").current()));
    made.chain([FORMAT_1.to_vec()]).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn imports(file in mutated(samples(), JSON_WORDS)) {
        if let Err(problem) = check(&file[..]) {
            prop_assert!(problem.line as usize <= file.split(|byte| *byte == b'\n').count() + 1);
        }
    }
}
