//! Benchmarks of classification: collected error texts, a page, and texts up to the length limit and beyond.
#![expect(
    clippy::expect_used,
    reason = "a bench without its fixture has nothing to measure"
)]

use aho_corasick::AhoCorasick;
use divan::counter::{BytesCount, ItemsCount};
use divan::{AllocProfiler, Bencher, black_box};
use jiff::Timestamp;
use openclaw_classify::{Failure, classify, rules};

#[global_allocator]
static ALLOCATOR: AllocProfiler = AllocProfiler::system();

/// The groups of `fixtures/classify/errors200.json`.
const GROUPS: &[&str] = &["short", "medium", "large", "html"];

fn main() {
    divan::main();
}

/// The collected texts of one group, as failures with nothing but a message.
fn texts(group: &str) -> Vec<String> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/classify/errors200.json"
    );
    let text = std::fs::read_to_string(path).expect("the fixture is part of the workspace");
    let rows: Vec<serde_json::Value> = serde_json::from_str(&text).expect("the fixture is JSON");
    rows.iter()
        .filter(|row| row["group"] == group)
        .filter_map(|row| row["text"].as_str().map(str::to_owned))
        .collect()
}

fn failure(text: String) -> Failure {
    Failure {
        message: Some(text),
        ..Failure::default()
    }
}

/// All texts of a group; divide by the items for the cost of one.
#[divan::bench(args = GROUPS)]
fn collected(bencher: Bencher<'_, '_>, group: &str) {
    let failures: Vec<Failure> = texts(group).into_iter().map(failure).collect();
    bencher.counter(ItemsCount::new(failures.len())).bench_local(|| {
        for failure in &failures {
            black_box(classify(black_box(failure), Timestamp::UNIX_EPOCH));
        }
    });
}

/// One Aho-Corasick pass over the same texts for the example messages of the rules, as a lower bound to compare with.
#[divan::bench(args = GROUPS)]
fn floor(bencher: Bencher<'_, '_>, group: &str) {
    let texts = texts(group);
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
        .build(
            rules()
                .map(|rule| rule.example.message)
                .filter(|words| !words.is_empty()),
        )
        .expect("some sentences fit an automaton");
    bencher.counter(ItemsCount::new(texts.len())).bench_local(|| {
        for text in &texts {
            black_box(automaton.find_overlapping_iter(black_box(text)).count());
        }
    });
}

/// The longest page of the collection.
#[divan::bench]
fn longest_page(bencher: Bencher<'_, '_>) {
    let page = texts("html").into_iter().max_by_key(String::len);
    let failure = failure(page.unwrap_or_default());
    bencher.bench_local(|| classify(black_box(&failure), Timestamp::UNIX_EPOCH));
}

/// Texts of one kind and growing length, up to the limit and beyond.
#[divan::bench(args = [1024, 8 * 1024, 64 * 1024, 10 * 1024 * 1024])]
fn growth(bencher: Bencher<'_, '_>, length: usize) {
    let line = "2026-01-01T10:00:00Z worker 17 could not finish the job: upstream answered slowly and the queue grew\n";
    let failure = failure(line.repeat(length.div_ceil(line.len())));
    bencher
        .counter(BytesCount::new(length))
        .bench_local(|| classify(black_box(&failure), Timestamp::UNIX_EPOCH));
}

/// Texts that, repeated to 64 KiB, are expensive to classify.
const HOSTILE: &[&str] = &[
    "{",
    "[{",
    "{\"a\":",
    "{\"a\":{\"b\":\"",
    "{'a': 'b', ",
    "\\\"{",
    "{\"error\":\"{\\\"error\\\":",
    "<",
    "<script ",
    "(1008)",
    "code: 1305 ",
    "429 ",
    "error 429 ",
    "request id ",
    "retry in 5 ",
    "http://a ",
    "model ",
    "exceeded. ",
    "exceeded quota. limit ",
    "not a rate limit, ",
    "tpm rpm ",
    "key invalid token ",
    "a_b-c ",
    "‘a’ ",
    "请求余额",
    "context length. ",
    "error from provider ",
];

#[divan::bench(args = HOSTILE)]
fn hostile(bencher: Bencher<'_, '_>, piece: &str) {
    let failure = failure(piece.repeat((64 * 1024) / piece.len()));
    bencher.bench_local(|| classify(black_box(&failure), Timestamp::UNIX_EPOCH));
}
