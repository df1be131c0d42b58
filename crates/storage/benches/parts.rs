//! The parts of a request that are not HTTP: rules, groups. Run with `cargo bench -p lendpay-storage`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lendpay_domain::buyer_checks::{BuyerChecks, check};
use lendpay_domain::life_cycle::{Action, Standing};
use lendpay_domain::store::Commands as _;
use lendpay_domain::testing::samples::*;
use lendpay_storage::{EmbeddedOptions, EmbeddedStore};
use std::hint::black_box;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn rules(criterion: &mut Criterion) {
    criterion.bench_function("validate a buyer", |bencher| {
        bencher.iter_with_setup(description, |description| check(black_box(description), BuyerChecks::Contract));
    });
    let standing = Standing::offered(&terms(), at(0));
    criterion.bench_function("decide an accept", |bencher| {
        bencher.iter(|| black_box(&standing).decide(black_box(Action::Accept), black_box(at(5))));
    });
}

/// Commands that are given at once and answered together: creations, which need their partner and nothing else.
fn groups(criterion: &mut Criterion) {
    let directory = TempDir::new().expect("a temporary directory");
    let store = Arc::new(EmbeddedStore::open(directory.path(), EmbeddedOptions::default()).expect("opens"));
    let runtime = Runtime::new().expect("a runtime");
    runtime.block_on(store.run(put_partner(1, "a partner", None, 0))).expect("is put");
    let mut group = criterion.benchmark_group("commit a group of");
    let mut next = 0;
    for size in [1_u64, 16, 64, 256] {
        group.throughput(Throughput::Elements(size));
        group.bench_function(BenchmarkId::from_parameter(size), |bencher| {
            bencher.iter_with_setup(
                || {
                    let commands = (next..next + size).map(|n| creation(1, n, None, description(), 0));
                    next += size;
                    commands.collect::<Vec<_>>()
                },
                |commands| {
                    let store = &store;
                    let all = commands.into_iter().map(|command| store.run(command));
                    for outcome in runtime.block_on(futures_util::future::join_all(all)) {
                        outcome.expect("is created");
                    }
                },
            );
        });
    }
}

criterion_group!(benches, rules, groups);
criterion_main!(benches);
