//! Seeded random numbers: the same seed gives the same ones on every machine.

/// A small generator (`SplitMix64`); every actor has its own, so that leaving one out changes no other.
#[derive(Debug, Clone)]
pub(crate) struct SeededRandom(u64);

impl SeededRandom {
    /// The generator of one actor: `seed` is the world's, `actor` tells it from others.
    pub(crate) fn of(seed: u64, actor: u64) -> Self {
        let mut random =
            Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ actor.wrapping_mul(0xD1B5_4A32_D192_ED03));
        random.next();
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Less than `end`; zero when `end` is.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    /// From `low` to `high`, both included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(high.saturating_sub(low))
            .unwrap_or(0)
            .saturating_add(1);
        low.saturating_add(i64::try_from(self.next() % span).unwrap_or(0))
    }

    /// True in so many of a thousand cases.
    pub(crate) fn chance(&mut self, per_mille: u64) -> bool {
        self.next() % 1_000 < per_mille
    }

    /// Between `low` and `high`, every order of magnitude as likely as another.
    pub(crate) fn spread(&mut self, low: i64, high: i64) -> i64 {
        let doublings = (high.max(1) / low.max(1)).max(1).ilog2();
        let scale = self.between(0, i64::from(doublings));
        let base = low.saturating_mul(1 << scale);
        self.between(base, base.saturating_mul(2).min(high.max(base)))
    }

    /// One of them.
    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
