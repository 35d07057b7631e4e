//! Resolving a chain and walking it.

use std::hint::black_box;

use openclaw_chain::{Requested, Resolver};

use super::Prepared;
use crate::engine::config;

/// The configured chain, asked of a prepared configuration.
pub(super) fn of_the_configuration(length: usize) -> Prepared {
    let resolver = Resolver::new(&config(length));
    let requested = Requested::from(&resolver.primary());
    Prepared::one(move || {
        black_box(resolver.chain(black_box(&requested), None));
    })
}

/// Walking a chain that was resolved.
pub(super) fn iteration(length: usize) -> Prepared {
    let resolver = Resolver::new(&config(length));
    let chain = resolver.chain(&Requested::from(&resolver.primary()), None);
    Prepared::one(move || {
        let models = black_box(&chain).iter();
        let length: usize = models
            .map(|model| model.provider().as_str().len() + model.model().as_str().len())
            .sum();
        black_box(length);
    })
}
