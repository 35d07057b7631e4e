//! Whether a chain has an earlier candidate of the same provider, without a search per question.

use std::collections::HashMap;

use openclaw_ids::{ModelRef, ProviderId};

/// So many candidates are looked through faster than remembered.
const FEW: usize = 16;

/// Where each provider of a long chain stands first, as far as the chain was asked about.
#[derive(Debug, Default)]
pub(super) struct ProviderSiblings {
    first: HashMap<ProviderId, usize>,
    known: usize,
}

impl ProviderSiblings {
    /// Whether a candidate before `index` is of the same provider. A chain may grow between two questions.
    pub(super) fn before(&mut self, chain: &[ModelRef], index: usize) -> bool {
        let provider = chain[index].provider();
        let earlier = &chain[..index];
        if index <= FEW {
            return earlier.iter().any(|candidate| candidate.provider() == provider);
        }
        for (at, candidate) in earlier.iter().enumerate().skip(self.known) {
            if !self.first.contains_key(candidate.provider()) {
                self.first.insert(candidate.provider().clone(), at);
            }
        }
        self.known = self.known.max(index);
        self.first.get(provider).is_some_and(|first| *first < index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r_4_5_long_chains_are_answered_as_short_ones_in_any_order() {
        let chain: Vec<ModelRef> = (0..4 * FEW)
            .map(|number| format!("p{}/m{number}", number * number % 37).parse().unwrap())
            .collect();
        let searched = |index: usize| {
            let mut earlier = chain[..index].iter();
            earlier.any(|candidate| candidate.provider() == chain[index].provider())
        };
        let forwards: Vec<usize> = (0..chain.len()).collect();
        let jumping: Vec<usize> = (0..chain.len()).map(|at| at * 23 % chain.len()).collect();
        for order in [forwards, jumping] {
            let mut siblings = ProviderSiblings::default();
            for index in order {
                assert_eq!(siblings.before(&chain, index), searched(index), "{index}");
            }
        }
    }
}
