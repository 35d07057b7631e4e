//! The candidates of one setting: can each be used, and do they cover for each other.

use openclaw_ids::{ModelId, ModelRef, ProviderId};

use super::credentials::accounts;
use super::{Lint, is_built_in, rules};
use crate::config::ProviderConfig;

/// A candidate and where it is written.
pub(super) struct Member {
    pub(super) place: String,
    pub(super) model: ModelRef,
}

impl Lint<'_> {
    /// Looks over the candidates of the setting at `path`, each of which stands once.
    pub(super) fn members(&mut self, path: &str, members: &[Member]) {
        for (index, member) in members.iter().enumerate() {
            let provider = member.model.provider();
            let first_of_provider = members[..index]
                .iter()
                .all(|earlier| earlier.model.provider() != provider);
            self.provider(member, first_of_provider);
        }
        let Some((first, others)) = members.split_first().filter(|(_, others)| !others.is_empty()) else {
            return;
        };
        self.windows(first, others);
        let provider = first.model.provider();
        if others.iter().all(|other| other.model.provider() == provider) {
            let detail = format!("all candidates are models of `{provider}`");
            self.found(&rules::ONE_PROVIDER, path, detail);
        } else if self.share_an_account(members) {
            self.found(
                &rules::ONE_ACCOUNT,
                path,
                "all candidates are paid by the same account",
            );
        }
    }

    fn provider(&mut self, member: &Member, first_of_provider: bool) {
        let (provider, place) = (member.model.provider(), member.place.as_str());
        let row = self.config.models.provider(provider);
        if row.is_none() && !self.is_reachable(provider) {
            if first_of_provider {
                let detail = format!("nothing is known about `{provider}`");
                self.found(&rules::UNKNOWN_PROVIDER, place, detail);
            }
            return;
        }
        if let Some(row) = row.filter(|_| !is_built_in(provider))
            && !row.models.is_empty()
            && !self.serves(provider, row, &member.model)
        {
            let detail = format!("`{provider}` lists no model `{}`", member.model.model());
            self.found(&rules::UNKNOWN_MODEL, place, detail);
        }
        let has_none = || accounts(provider, &self.config.models, self.credentials).is_empty();
        if first_of_provider && self.credentials.is_some() && has_none() {
            let detail = format!("there is no credential for `{provider}`");
            self.found(&rules::MISSING_CREDENTIALS, place, detail);
        }
    }

    /// Whether a provider that declares all its models declares this one.
    fn serves(&self, provider: &ProviderId, row: &ProviderConfig, model: &ModelRef) -> bool {
        let ids = row.models.iter().filter_map(|row| ModelId::try_new(&row.id).ok());
        let names = &self.resolver.names;
        ids.map(|id| names.pair(provider, &id))
            .any(|served| served == *model)
    }

    /// BL-54: a session that fits the first candidate does not fit one with a smaller window.
    fn windows(&mut self, first: &Member, others: &[Member]) {
        let window = |member: &Member| self.resolver.capabilities(&member.model).context_window;
        let Some(expected) = window(first) else {
            return;
        };
        let smaller: Vec<(&Member, u64)> = others
            .iter()
            .filter_map(|other| Some((other, window(other).filter(|window| *window < expected)?)))
            .collect();
        for (other, window) in smaller {
            let detail = format!(
                "`{}` holds {window} tokens and `{}` holds {expected}",
                other.model, first.model
            );
            self.found(&rules::SMALLER_WINDOW, &other.place, detail);
        }
    }

    fn share_an_account(&self, members: &[Member]) -> bool {
        let of = |member: &Member| accounts(member.model.provider(), &self.config.models, self.credentials);
        let mut each = members.iter().map(of);
        let first = each.next().unwrap_or_default();
        first.len() == 1 && each.all(|accounts| accounts == first)
    }
}
