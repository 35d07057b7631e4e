//! Builders for tests: ids, instants, entries, overrides.

use openclaw_ids::{ProfileId, ProviderId};

use crate::{PinSource, ProfilePin};

pub(crate) use crate::store::conformance::fixtures::{at, auto, entry, fallback, id, key, model, user};

pub(crate) fn provider(text: &str) -> ProviderId {
    text.parse().unwrap()
}

pub(crate) fn profile(text: &str) -> ProfileId {
    text.parse().unwrap()
}

pub(crate) fn pin(profile_id: &str, source: PinSource) -> ProfilePin {
    ProfilePin {
        profile: profile(profile_id),
        source,
    }
}
