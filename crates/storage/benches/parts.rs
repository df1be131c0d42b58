//! The parts of a request that are not HTTP: rules, records, groups. Run with `cargo bench -p lendpay-storage`.

#[expect(dead_code, reason = "the conformance suite uses the rest")]
#[path = "../tests/conformance/samples.rs"]
mod samples;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use lendpay_domain::Store as _;
use lendpay_domain::buyer_checks::{BuyerChecks, check};
use lendpay_domain::life_cycle::Action;
use lendpay_domain::offer::{Offer, Status};
use lendpay_storage::{SledOptions, SledStore, measured};
use samples::*;
use std::hint::black_box;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::Runtime;

fn rules(criterion: &mut Criterion) {
    criterion.bench_function("validate a buyer", |bencher| {
        bencher.iter_with_setup(description, |description| check(black_box(description), BuyerChecks::Full));
    });
    let offer = Offer {
        id: offer(1),
        application: application(1),
        partner: partner(1),
        terms: terms(),
        status: Status::Offered,
        status_changed_at: at(0),
    };
    criterion.bench_function("decide an accept", |bencher| {
        bencher.iter(|| black_box(&offer).decide(black_box(Action::Accept), black_box(at(5))));
    });
}

fn records(criterion: &mut Criterion) {
    let description = description();
    let mut value = Vec::new();
    measured::encode(partner(1), at(0), &description, &mut value).expect("short");
    criterion.bench_function(&format!("encode a buyer of {} bytes", value.len()), |bencher| {
        let mut buffer = Vec::with_capacity(1_024);
        bencher.iter(|| {
            buffer.clear();
            measured::encode(partner(1), at(0), black_box(&description), &mut buffer)
        });
    });
    criterion.bench_function("decode a buyer", |bencher| {
        bencher.iter(|| measured::decode(buyer_id(1), black_box(&value)));
    });
}

/// Commands that are given at once and answered together: creations, which need nothing to be there.
fn groups(criterion: &mut Criterion) {
    let directory = TempDir::new().expect("a temporary directory");
    let store = Arc::new(SledStore::open(directory.path(), SledOptions::default()).expect("opens"));
    let runtime = Runtime::new().expect("a runtime");
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
                    let all = commands.into_iter().map(|command| store.create_buyer(command));
                    for outcome in runtime.block_on(futures_util::future::join_all(all)) {
                        outcome.expect("is created");
                    }
                },
            );
        });
    }
}

criterion_group!(benches, rules, records, groups);
criterion_main!(benches);
