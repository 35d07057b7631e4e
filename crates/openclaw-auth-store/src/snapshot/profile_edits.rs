//! Edits of the stored profiles, as pure folds that every engine shares (auth-store.md 8.2, 8.3).

use openclaw_cooldown::adopt_secret;
use openclaw_ids::{ProfileId, ProviderId};

use super::change::SHIPPED_ALIASES;
use crate::{AuthSnapshot, Credential, OrderError, StoreError};

impl AuthSnapshot {
    /// Puts a credential under an id; the state of another secret of that id ends (D9).
    ///
    /// Pasted secrets are cleaned (C2). An older login's reference to its tokens is kept when the new one does not
    /// replace them (C3), and so are unknown members (D13).
    ///
    /// # Errors
    /// [`StoreError::NotStorable`] for what needs no credential.
    pub fn upsert(&mut self, id: ProfileId, credential: Credential) -> Result<(), StoreError> {
        if matches!(credential, Credential::Local(_)) {
            return Err(StoreError::NotStorable { profile: id });
        }
        let credential = match self.profiles.get(&id) {
            Some(old) => credential.cleaned().inheriting(old),
            None => credential.cleaned(),
        };
        self.profiles.insert(id.clone(), credential);
        let fingerprint = self.fingerprint(&id);
        if self.usage.contains_key(&id) {
            self.usage
                .update(&id, |usage| adopt_secret(usage, fingerprint.as_deref()));
        }
        Ok(())
    }

    /// Removes a stored profile with its state and every reference to it.
    ///
    /// # Errors
    /// [`StoreError::UnknownProfile`] when there is none.
    pub fn remove(&mut self, id: &ProfileId) -> Result<(), StoreError> {
        if self.profiles.shift_remove(id).is_none() {
            return Err(StoreError::UnknownProfile { profile: id.clone() });
        }
        self.usage.remove(id);
        self.refreshes.remove(id);
        self.last_good.retain(|_, good| good != id);
        for ids in self.order.values_mut() {
            ids.retain(|listed| listed != id);
        }
        self.order.retain(|_, ids| !ids.is_empty());
        Ok(())
    }

    /// Removes all profiles of a provider, whichever of its names they carry, with their state and its orders
    /// (auth-store.md 8.3).
    pub fn remove_provider(&mut self, provider: &ProviderId) {
        let shared = SHIPPED_ALIASES.auth_id(provider);
        let ids: Vec<ProfileId> = self
            .profiles
            .iter()
            .filter(|(_, credential)| SHIPPED_ALIASES.auth_id(credential.provider()) == shared)
            .map(|(id, _)| id.clone())
            .collect();
        for id in &ids {
            // Each was found a moment ago.
            drop(self.remove(id));
        }
        self.order.shift_remove(provider);
        self.last_good.shift_remove(&shared);
    }

    /// The explicit order of a provider with `id` in front, to be set; `None` when it is there already (auth-store.md 8.3).
    ///
    /// Without an order it begins with `id`, followed by the provider's other stored profiles.
    ///
    /// # Errors
    /// An [`OrderError`] when there is no such profile, or it is another provider's.
    pub fn promoted(
        &self,
        provider: &ProviderId,
        id: &ProfileId,
    ) -> Result<Option<(ProviderId, Vec<ProfileId>)>, OrderError> {
        let shared = SHIPPED_ALIASES.auth_id(provider);
        let of_provider = |credential: &Credential| SHIPPED_ALIASES.auth_id(credential.provider()) == shared;
        match self.credential(id) {
            None => return Err(OrderError::Unknown { profile: id.clone() }),
            Some(credential) if !of_provider(credential) => {
                return Err(OrderError::OtherProvider {
                    profile: id.clone(),
                    found: credential.provider().clone(),
                    wanted: provider.clone(),
                });
            }
            Some(_) => {}
        }
        let known = [&shared, provider]
            .into_iter()
            .find_map(|key| Some((key.clone(), self.order.get(key)?.clone())));
        let (key, ids) = known.unwrap_or_else(|| {
            let stored = self
                .profiles
                .iter()
                .filter(|(_, credential)| of_provider(credential));
            (shared.clone(), stored.map(|(id, _)| id.clone()).collect())
        });
        if self.order.contains_key(&key) && ids.first() == Some(id) {
            return Ok(None);
        }
        let rest = ids.into_iter().filter(|other| other != id);
        Ok(Some((key, std::iter::once(id.clone()).chain(rest).collect())))
    }

    /// The part that a new agent may get a copy of (auth-store.md 7): keys and tokens unless they opt out, logins only
    /// when they opt in and hold tokens. Orders keep what is copied; state is not copied.
    #[must_use]
    pub fn portable(&self) -> Self {
        let may_go = |credential: &Credential| match credential {
            Credential::ApiKey(key) => key.attributes.copy_to_agents != Some(false),
            Credential::Local(_) => false,
            Credential::Oauth(login) => {
                let holds =
                    |secret: &Option<crate::Secret>| secret.as_ref().is_some_and(|text| !text.is_blank());
                login.attributes.copy_to_agents == Some(true)
                    && (holds(&login.access) || holds(&login.refresh))
            }
            Credential::Token(token) => token.attributes.copy_to_agents != Some(false),
        };
        let mut copy = Self::default();
        let going = self.profiles.iter().filter(|(_, credential)| may_go(credential));
        copy.profiles = going
            .map(|(id, credential)| (id.clone(), credential.clone()))
            .collect();
        for (provider, ids) in &self.order {
            let kept = ids
                .iter()
                .filter(|id| copy.profiles.contains_key(*id))
                .cloned()
                .collect();
            copy.set_order(provider.clone(), kept);
        }
        copy
    }

    /// Sets or, with an empty list, ends the explicit order of a provider; each id counts once.
    ///
    /// Ids are not checked here, see [`check_order`](Self::check_order): an agent may order profiles that it inherits,
    /// and keep ones that are missing for the moment (M11).
    pub fn set_order(&mut self, provider: ProviderId, ids: Vec<ProfileId>) {
        let mut kept: Vec<ProfileId> = Vec::with_capacity(ids.len());
        for id in ids {
            if !kept.contains(&id) {
                kept.push(id);
            }
        }
        if kept.is_empty() {
            self.order.shift_remove(&provider);
        } else {
            self.order.insert(provider, kept);
        }
    }

    /// Whether every id of a new order exists and is of that very provider (auth-store.md 8.3, BL-48).
    ///
    /// # Errors
    /// The first id that does not belong there.
    pub fn check_order(&self, provider: &ProviderId, ids: &[ProfileId]) -> Result<(), OrderError> {
        for id in ids {
            let profile = id.clone();
            match self.credential(id) {
                None => return Err(OrderError::Unknown { profile }),
                Some(credential) if credential.provider() != provider => {
                    return Err(OrderError::OtherProvider {
                        profile,
                        found: credential.provider().clone(),
                        wanted: provider.clone(),
                    });
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
