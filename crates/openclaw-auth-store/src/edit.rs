//! Changes of the stored profiles: the pure half that every engine shares (auth-store.md 8.2, 8.3).

#[cfg(test)]
mod tests;

use openclaw_cooldown::adopt_secret;
use openclaw_ids::{ProfileId, ProviderId};

use crate::{AuthSnapshot, Credential, OrderError, StoreError};

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
        self.refreshes.remove(id);
        self.last_good.retain(|_, good| good != id);
        for ids in self.order.values_mut() {
            ids.retain(|listed| listed != id);
        }
        self.order.retain(|_, ids| !ids.is_empty());
        Ok(())
    }

    /// Sets or, with an empty list, ends the explicit order of a provider; each id counts once.
    ///
    /// Which ids make sense is asked before, of [`check_order`](Self::check_order): an agent may order profiles that it
    /// inherits, and keep ones that are lost for the moment (M11).
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
