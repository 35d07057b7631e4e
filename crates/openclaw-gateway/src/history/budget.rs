//! How many recordings are kept when very many requests go wrong at once.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use jiff::Timestamp;

/// Of how many runs of one second all is kept that they knew and met. What was decided is kept of every run: of
/// thousands that go alike the recordings would only push out what happened before.
const EACH_SECOND: u32 = 100;

/// What is left of a second's recordings.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// In Unix seconds.
    second: AtomicI64,
    taken: AtomicU32,
}

impl Budget {
    /// Takes room for one recording at `now`, if there is any. Where two threads meet at the beginning of a second, a few
    /// more than that are kept.
    pub(crate) fn take(&self, now: Timestamp) -> bool {
        let second = now.as_second();
        if self.second.swap(second, Ordering::Relaxed) != second {
            self.taken.store(0, Ordering::Relaxed);
        }
        // Counting stops at the limit, so that it cannot overflow.
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                (taken < EACH_SECOND).then_some(taken + 1)
            })
            .is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_room_for_so_many() {
        let budget = Budget::default();
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let kept =
            |times: &mut dyn Iterator<Item = i64>| times.filter(|millis| budget.take(at(*millis))).count();
        assert_eq!(kept(&mut (5_000..6_000)), 100);
        assert_eq!(kept(&mut (6_000..6_060)), 60);
        assert_eq!(kept(&mut std::iter::repeat_n(6_999, 100)), 40);
        assert_eq!(kept(&mut (7_000..7_001)), 1);
    }
}
