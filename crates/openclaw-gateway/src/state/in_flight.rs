//! Limits how many requests are answered at the same time; one more is refused at once instead of slowing down all.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts the requests that are being answered.
#[derive(Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicU32>);

/// The permit of one request, given back when dropped.
pub(crate) struct InFlightPermit(InFlight);

impl InFlight {
    /// One of `places` places, at once or not at all: a client that waits cannot know that it does. After a reload
    /// with fewer places those who have one keep it.
    pub(crate) fn enter(&self, places: NonZeroU32) -> Option<InFlightPermit> {
        let one_more = |taken: u32| (taken < places.get()).then(|| taken + 1);
        let entered = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        entered.is_ok().then(|| InFlightPermit(self.clone()))
    }

    /// How many places are taken.
    pub(crate) fn taken(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }
}

impl Drop for InFlightPermit {
    fn drop(&mut self) {
        let Self(InFlight(taken)) = self;
        taken.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_again_when_it_is_left_and_fewer_places_send_nobody_away() {
        let (two, one) = (NonZeroU32::new(2).unwrap(), NonZeroU32::MIN);
        let in_flight = InFlight::default();
        let (first, second) = (in_flight.enter(two), in_flight.enter(two));
        assert!(first.is_some() && second.is_some() && in_flight.enter(two).is_none());
        drop(first);
        assert!(in_flight.enter(one).is_none());
        drop(second);
        assert!(in_flight.enter(one).is_some());
    }
}
