//! What the model test does: commands, and what goes on around them.

use lendpay_domain::testing::commands::{Asked, apart, meeting};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

/// What may be wrong with the records of an import.
#[derive(Clone, Debug)]
pub enum Mistake {
    None,
    Missing(Index),
    Twice(Index),
    Swapped(Index, Index),
}

/// A step.
#[derive(Clone, Debug)]
pub enum Step {
    Run(Asked),
    /// Lists of commands that run at the same time, and never about the same thing.
    Together(Vec<Vec<Asked>>),
    /// Imports what a store holds that was given these commands.
    Import {
        commands: Vec<Asked>,
        mistake: Mistake,
        merge: bool,
    },
    Reopen,
    Crash,
}

fn imports() -> impl Strategy<Value = Step> {
    let mistake = prop_oneof![
        3 => Just(Mistake::None),
        1 => any::<Index>().prop_map(Mistake::Missing),
        1 => any::<Index>().prop_map(Mistake::Twice),
        1 => any::<[Index; 2]>().prop_map(|[a, b]| Mistake::Swapped(a, b)),
    ];
    (vec(meeting(), 0..20), mistake, prop_oneof![3 => Just(true), 1 => Just(false)])
        .prop_map(|(commands, mistake, merge)| Step::Import { commands, mistake, merge })
}

/// A history of a store.
pub fn histories() -> impl Strategy<Value = Vec<Step>> {
    let together = (vec(apart(0), 0..8), vec(apart(1), 0..8), vec(apart(2), 0..8));
    let step = prop_oneof![
        30 => meeting().prop_map(Step::Run),
        2 => together.prop_map(|(a, b, c)| Step::Together(vec![a, b, c])),
        2 => imports(),
        1 => Just(Step::Reopen),
        1 => Just(Step::Crash),
    ];
    // Most histories begin with an import, so that there is something to do.
    (option::weighted(0.7, imports()), vec(step, 1..40))
        .prop_map(|(first, rest)| first.into_iter().chain(rest).collect())
}
