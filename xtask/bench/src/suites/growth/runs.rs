//! Longer chains, and more credentials for a provider.

use std::hint::black_box;

use openclaw_chain::{Requested, Resolver};

use super::Work;
use crate::engine::{self, ScriptedAttempt, at_once};

/// The configured chain, asked of a prepared configuration.
pub(super) fn chain(length: usize) -> Work {
    let resolver = Resolver::new(&engine::config(length));
    let requested = Requested::from(&resolver.primary());
    Box::new(move || {
        black_box(resolver.chain(black_box(&requested), None));
    })
}

/// A run in which every candidate but the last is rate limited.
pub(super) fn failing(length: usize) -> Work {
    run(length, 1, length - 1)
}

/// A run that is answered at the first try, by a provider with so many credentials.
pub(super) fn credentials(count: usize) -> Work {
    run(3, count, 0)
}

fn run(length: usize, profiles: usize, failures: usize) -> Work {
    let runtime = engine::timers();
    let chain = engine::chain(length);
    let runner = engine::runner(engine::NoopUsageStore::over(engine::snapshot(&chain, profiles)));
    Box::new(move || {
        let _inside = runtime.enter();
        let attempt = ScriptedAttempt::times(failures);
        black_box(at_once(runner.run(engine::request(&chain), &attempt)).is_ok());
    })
}
