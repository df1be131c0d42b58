//! What tests of every crate need: samples, strategies for proptest, damaged input, faulty imports, and a view that
//! sees no more than a command said that it reads.
//!
//! | module | subject |
//! |---|---|
//! | [`samples`] | values whose ids follow from small numbers |
//! | [`strategies`] | random values of every kind |
//! | [`commands`] | random commands of every kind, with few ids |
//! | [`fuzz`] | good input with some damage |
//! | [`imports`] | one import for each reason to reject one |
//! | [`declared`] | a view that panics when a command looks at more than it said |

pub mod commands;
pub mod declared;
pub mod fuzz;
pub mod imports;
pub mod samples;
pub mod strategies;
