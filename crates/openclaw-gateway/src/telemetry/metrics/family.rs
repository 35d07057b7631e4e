//! One instrument with its labels: each combination is looked up once per measurement and never made twice, and there
//! are only so many.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{OnceLock, PoisonError, RwLock};

use opentelemetry::KeyValue;

/// The most series of one instrument, apart from the one that takes the rest.
pub(super) const MAX_SERIES: usize = 200;
/// What stands for the labels of what got no series of its own.
pub(super) const OTHER: &str = "other";
/// The longest value of a label, in bytes; providers may have any name.
const MAX_VALUE: usize = 64;

/// The series of one instrument; `B` is the instrument bound to one combination of labels.
pub(super) struct Family<B> {
    name: &'static str,
    labels: &'static [&'static str],
    bind: Bind<B>,
    hasher: RandomState,
    series: RwLock<SeriesMap<B>>,
    /// The series that takes the rest; made when there is one.
    rest: OnceLock<B>,
    dropped: AtomicU64,
}

/// Makes the series of some labels.
type Bind<B> = Box<dyn Fn(&[KeyValue]) -> B + Send + Sync>;

struct SeriesMap<B> {
    /// By the hash of their values.
    by_hash: HashMap<u64, Vec<Series<B>>>,
    count: usize,
}

struct Series<B> {
    values: Box<[Box<str>]>,
    bound: B,
}

impl<B> Family<B> {
    /// The series of the instrument `name`, each made by `bind`.
    pub(super) fn new(
        name: &'static str,
        labels: &'static [&'static str],
        bind: impl Fn(&[KeyValue]) -> B + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            labels,
            rest: OnceLock::new(),
            bind: Box::new(bind),
            hasher: RandomState::new(),
            series: RwLock::new(SeriesMap {
                by_hash: HashMap::new(),
                count: 0,
            }),
            dropped: AtomicU64::new(0),
        }
    }

    /// Measures with the series of `values`, which stand in the order of the labels.
    pub(super) fn with(&self, values: &[&str], measure: impl Fn(&B)) {
        let hash = self.hasher.hash_one(values);
        let known = self.series.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(series) = known.find(hash, values) {
            measure(&series.bound);
            return;
        }
        let full = known.count >= MAX_SERIES;
        drop(known);
        if full {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            measure(self.rest.get_or_init(|| self.rest()));
            return;
        }
        let mut known = self.series.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have been faster.
        if known.find(hash, values).is_none() {
            known.count += 1;
            let series = self.series_of(values);
            known.by_hash.entry(hash).or_default().push(series);
        }
        if let Some(series) = known.find(hash, values) {
            measure(&series.bound);
        }
    }

    fn rest(&self) -> B {
        let other: Vec<KeyValue> = self
            .labels
            .iter()
            .map(|label| KeyValue::new(*label, OTHER))
            .collect();
        (self.bind)(&other)
    }

    fn series_of(&self, values: &[&str]) -> Series<B> {
        let named = self.labels.iter().zip(values);
        let attributes: Vec<KeyValue> = named
            .map(|(label, value)| {
                let end = value.floor_char_boundary(MAX_VALUE);
                KeyValue::new(*label, value[..end].to_owned())
            })
            .collect();
        Series {
            values: values.iter().map(|value| Box::from(*value)).collect(),
            bound: (self.bind)(&attributes),
        }
    }

    /// The name of the instrument, and how many measurements got no series of their own.
    pub(super) fn dropped(&self) -> (&'static str, u64) {
        (self.name, self.dropped.load(Ordering::Relaxed))
    }
}

impl<B> SeriesMap<B> {
    fn find(&self, hash: u64, values: &[&str]) -> Option<&Series<B>> {
        let candidates = self.by_hash.get(&hash)?.iter();
        candidates
            .filter(|series| series.values.len() == values.len())
            .find(|series| {
                series
                    .values
                    .iter()
                    .zip(values)
                    .all(|(own, value)| **own == **value)
            })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::*;

    type Counts = Arc<Mutex<HashMap<String, u64>>>;

    /// A family that counts by its bound labels.
    fn family(counts: &Counts) -> Family<String> {
        let counts = Arc::clone(counts);
        Family::new("counts", &["a", "b"], move |attributes| {
            let text: Vec<String> = attributes.iter().map(|label| label.value.to_string()).collect();
            let name = text.join("/");
            counts.lock().unwrap().entry(name.clone()).or_insert(0);
            name
        })
    }

    proptest! {
        #[test]
        fn there_are_never_more_series_than_may_be_and_nothing_is_lost(
            values in prop::collection::vec(("[a-z]{0,2}", "[0-9]{0,2}"), 0..1_500),
        ) {
            let counts = Counts::default();
            let family = family(&counts);
            for (one, other) in &values {
                family.with(&[one, other], |name| *counts.lock().unwrap().get_mut(name).unwrap() += 1);
            }
            let counts = counts.lock().unwrap();
            // One series takes the rest.
            prop_assert!(counts.len() <= MAX_SERIES + 1);
            prop_assert_eq!(counts.values().sum::<u64>(), values.len() as u64);
            prop_assert_eq!(counts.get("other/other").copied().unwrap_or(0), family.dropped().1);
            let distinct: std::collections::HashSet<_> = values.iter().collect();
            let own = counts.keys().filter(|name| *name != "other/other");
            prop_assert_eq!(own.count(), distinct.len().min(MAX_SERIES));
        }
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let counts = Counts::default();
        family(&counts).with(&[&"é".repeat(40), "x"], |_| ());
        let longest = counts.lock().unwrap().keys().map(String::len).max();
        assert_eq!(longest, Some(64 + "/x".len()));
    }
}
