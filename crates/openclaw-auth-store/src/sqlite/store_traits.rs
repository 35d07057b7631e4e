//! The traits of an engine, implemented over the write requests.

use std::sync::Arc;

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};

use super::SqliteAuthStore;
use super::request::Operation;
use crate::{
    AuthSnapshot, ChangeOutcome, Credential, LoginChange, LoginStore, ProfileStore, StoreError, UsageChange,
    UsageStore,
};

impl UsageStore for SqliteAuthStore {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        self.cache.snapshot()
    }

    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        if let Some(profile) = self.mere_use(&change, now) {
            return self.note_use(profile, now);
        }
        self.write(Operation::Change(change), now).await
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        if let Some(profile) = self.mere_use(&change, now) {
            if let Err(error) = self.note_use(profile, now) {
                tracing::warn!(%error, "a change of usage state was lost");
            }
        } else {
            self.hand_over(Operation::Change(change), now);
        }
    }
}

impl LoginStore for SqliteAuthStore {
    async fn change_login(
        &self,
        id: ProfileId,
        change: LoginChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        self.write(Operation::Login(id, change), now).await
    }

    fn end_refresh(&self, id: ProfileId, holder: String, now: Timestamp) {
        self.hand_over(Operation::Login(id, LoginChange::End { holder }), now);
    }
}

impl ProfileStore for SqliteAuthStore {
    async fn upsert(&self, id: ProfileId, credential: Credential, now: Timestamp) -> Result<(), StoreError> {
        self.write(Operation::Upsert(id, Box::new(credential)), now)
            .await
            .map(drop)
    }

    async fn remove(&self, id: ProfileId, now: Timestamp) -> Result<(), StoreError> {
        self.write(Operation::Remove(id), now).await.map(drop)
    }

    async fn remove_provider(&self, provider: ProviderId, now: Timestamp) -> Result<(), StoreError> {
        self.write(Operation::RemoveProvider(provider), now)
            .await
            .map(drop)
    }

    async fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(Operation::SetOrder(provider, ids), now)
            .await
            .map(drop)
    }
}
