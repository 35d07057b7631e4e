//! Limits how many runs are recorded per second when very many requests fail at once.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// Of how many runs of one second all is kept that they knew and met. What was decided is kept of every run: of
/// thousands that go alike the recordings would only push out what happened before.
const EACH_SECOND: u32 = 100;

/// What is left of a second's recordings.
#[derive(Debug, Default)]
pub struct RecordingBudget(Mutex<SecondCount>);

#[derive(Debug, Default)]
struct SecondCount {
    /// In Unix seconds.
    second: i64,
    count: u32,
}

impl RecordingBudget {
    /// Takes room for one recording at `now`, if there is any. A second that is over has none any more, unless the clock
    /// was set back by more than one.
    pub fn take(&self, now: Timestamp) -> bool {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let second = now.as_second();
        if second > taken.second || second < taken.second - 1 {
            *taken = SecondCount { second, count: 0 };
        }
        let has_room = taken.count < EACH_SECOND;
        taken.count += u32::from(has_room);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_has_room_for_so_many() {
        let budget = RecordingBudget::default();
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let kept =
            |times: &mut dyn Iterator<Item = i64>| times.filter(|millis| budget.take(at(*millis))).count();
        assert_eq!(kept(&mut (5_000..6_000)), 100);
        assert_eq!(kept(&mut (6_000..6_060)), 60);
        assert_eq!(kept(&mut std::iter::repeat_n(6_999, 100)), 40);
        assert_eq!(kept(&mut (7_000..7_001)), 1);
        assert_eq!(kept(&mut [6_999, 7_000].into_iter().cycle().take(300)), 99);
        assert_eq!(kept(&mut (3_000..3_001)), 1, "the clock was set back");
    }
}
