//! Runs over a store and an answer that take no time, and marks in memory.

use std::hint::black_box;

use openclaw_auth_store::{MemoryAuthStore, UsageStore};
use openclaw_cooldown::CooldownConfig;

use super::Prepared;
use crate::engine::{self, ScriptedAttempt, at_once};

/// A run over three candidates whose providers have `profiles` credentials each; so many attempts fail before one is
/// answered.
pub(super) fn over_a_still_store(passes: usize, profiles: usize, failures: usize) -> Prepared {
    let runtime = engine::timers();
    let chain = engine::chain(3);
    let runner = engine::runner(engine::NoopUsageStore::over(engine::snapshot(&chain, profiles)));
    let mut inputs: Vec<_> = (0..passes)
        .map(|_| (engine::request(&chain), ScriptedAttempt::times(failures)))
        .collect();
    Prepared::one(move || {
        let _inside = runtime.enter();
        if let Some((request, attempt)) = inputs.pop() {
            let answered = at_once(runner.run(request, &attempt));
            black_box(answered.is_ok());
        }
    })
}

/// A failure marked in a store in memory, over and over for the same credential.
pub(super) fn mark_in_memory() -> Prepared {
    let chain = engine::chain(3);
    let store = MemoryAuthStore::new(engine::snapshot(&chain, 3), CooldownConfig::default());
    let mut clock = 0;
    Prepared::one(move || {
        clock += 1;
        let written = at_once(store.commit(engine::mark(&chain[0], clock), engine::at(clock)));
        black_box(written.is_ok());
    })
}

/// What is known of all credentials, shared.
pub(super) fn snapshot_in_memory() -> Prepared {
    let chain = engine::chain(3);
    let store = MemoryAuthStore::new(engine::snapshot(&chain, 3), CooldownConfig::default());
    Prepared::one(move || {
        black_box(store.snapshot());
    })
}
