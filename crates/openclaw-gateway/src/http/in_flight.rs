//! How many requests are answered at the same time; one more is asked to come back instead of slowing down all.

use std::num::NonZeroU32;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places of requests that are being answered.
#[derive(Clone)]
pub(crate) struct InFlight(Arc<Semaphore>);

/// One place, given back when dropped.
pub(crate) struct Place {
    _permit: OwnedSemaphorePermit,
}

impl InFlight {
    /// `places` free places.
    pub(crate) fn new(places: NonZeroU32) -> Self {
        let places = usize::try_from(places.get()).unwrap_or(Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(places.min(Semaphore::MAX_PERMITS))))
    }

    /// A place, at once or not at all: a client that waits cannot know that it does.
    pub(crate) fn enter(&self) -> Option<Place> {
        let permit = Arc::clone(&self.0).try_acquire_owned().ok()?;
        Some(Place { _permit: permit })
    }
}
