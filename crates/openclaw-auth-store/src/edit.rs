//! Changes of the stored profiles: the pure half that every engine shares (auth-store.md 8.2, 8.3).

#[cfg(test)]
mod tests;

use openclaw_cooldown::adopt_secret;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{AuthSnapshot, Credential, StoreError};

impl AuthSnapshot {
    /// Puts a credential under an id; the state of another secret of that id ends (D9).
    ///
    /// Pasted secrets are cleaned (C2). An older login's pointer to its tokens is carried along when the new one does
    /// not replace them (C3), and so are members that nothing here knows (D13).
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
        if let Some(usage) = self.usage.get_mut(&id) {
            *usage = adopt_secret(std::mem::take(usage), fingerprint.as_deref());
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
        self.last_good.retain(|_, good| good != id);
        for ids in self.order.values_mut() {
            ids.retain(|listed| listed != id);
        }
        self.order.retain(|_, ids| !ids.is_empty());
        Ok(())
    }

    /// Sets or, with an empty list, ends the explicit order of a provider; each id counts once.
    ///
    /// # Errors
    /// [`StoreError::UnknownProfile`] for an id that neither exists nor stood in the order before (M11).
    pub fn set_order(&mut self, provider: ProviderId, ids: Vec<ProfileId>) -> Result<(), StoreError> {
        let known = self.order.get(&provider);
        let mut kept: Vec<ProfileId> = Vec::with_capacity(ids.len());
        for id in ids {
            if self.credential(&id).is_none() && !known.is_some_and(|known| known.contains(&id)) {
                return Err(StoreError::UnknownProfile { profile: id });
            }
            if !kept.contains(&id) {
                kept.push(id);
            }
        }
        if kept.is_empty() {
            self.order.shift_remove(&provider);
        } else {
            self.order.insert(provider, kept);
        }
        Ok(())
    }
}
