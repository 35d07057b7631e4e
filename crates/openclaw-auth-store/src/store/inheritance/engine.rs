//! An agent's store on top of the main agent's: one view, and every change in the store of the profile's owner (D14).

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};

use super::{ProfileOwner, drift, profile_owner, profiles, seen};
use crate::{
    AuthSnapshot, ChangeOutcome, Credential, Credentials, LoginChange, LoginStore, Oauth, ProfileStore,
    RefreshLease, StoreError, UsageChange, UsageStore,
};

/// The store of an agent that also uses the main agent's profiles.
///
/// Usage changes of an inherited profile go to the main agent's store, so that both agents see them (BL-73). Profiles
/// and orders are only ever changed in the agent's own (BL-78).
#[derive(Debug)]
pub struct InheritingAuthStore<M, A> {
    main: Option<Arc<M>>,
    agent: Arc<A>,
    seen: Mutex<Option<CachedView>>,
    /// The latest time that a caller has passed, in Unix milliseconds, by which usability is decided (I7).
    now: AtomicI64,
}

/// A view and what it was made from.
#[derive(Debug)]
struct CachedView {
    main: Arc<AuthSnapshot>,
    agent: Arc<AuthSnapshot>,
    /// The merged profiles, merged again only when those of one store change.
    profiles: Credentials,
    view: Arc<AuthSnapshot>,
}

impl<M: UsageStore, A: UsageStore> InheritingAuthStore<M, A> {
    /// Layers the agent's own store on top of the main agent's.
    pub fn new(main: Arc<M>, agent: impl Into<Arc<A>>) -> Self {
        Self {
            main: Some(main),
            agent: agent.into(),
            seen: Mutex::new(None),
            now: AtomicI64::new(0),
        }
    }

    /// The store of an agent that inherits nothing: the main agent's itself (I1).
    pub fn alone(agent: impl Into<Arc<A>>) -> Self {
        Self {
            main: None,
            agent: agent.into(),
            seen: Mutex::new(None),
            now: AtomicI64::new(0),
        }
    }

    /// The agent's own store.
    pub fn agent(&self) -> &Arc<A> {
        &self.agent
    }

    /// The main agent's store, unless this is the main agent's.
    pub fn main(&self) -> Option<&Arc<M>> {
        self.main.as_ref()
    }

    fn note(&self, now: Timestamp) {
        self.now.fetch_max(now.as_millisecond(), Ordering::Relaxed);
    }

    /// The main agent's store where it owns the profile of a change.
    fn owning_main(&self, id: Option<&ProfileId>) -> Option<&Arc<M>> {
        let (main, id) = (self.main.as_ref()?, id?);
        match profile_owner(&main.snapshot(), &self.agent.snapshot(), id) {
            ProfileOwner::Agent => None,
            ProfileOwner::Main => Some(main),
        }
    }
}

impl<M: UsageStore, A: UsageStore> UsageStore for InheritingAuthStore<M, A> {
    fn snapshot(&self) -> Arc<AuthSnapshot> {
        let agent = self.agent.snapshot();
        let Some(main) = &self.main else {
            return agent;
        };
        let main = main.snapshot();
        let mut last = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && Arc::ptr_eq(&last.main, &main)
            && Arc::ptr_eq(&last.agent, &agent)
        {
            return Arc::clone(&last.view);
        }
        let known = last.as_ref().filter(|last| {
            last.main.profiles.is_copy_of(&main.profiles) && last.agent.profiles.is_copy_of(&agent.profiles)
        });
        let profiles = known.map_or_else(|| profiles(&main, &agent), |last| last.profiles.clone());
        let mut view = seen(&main, &agent, profiles.clone());
        let now = Timestamp::from_millisecond(self.now.load(Ordering::Relaxed));
        drift::follow(&mut view, &main, &agent, now.unwrap_or(Timestamp::UNIX_EPOCH));
        let view = Arc::new(view);
        *last = Some(CachedView {
            main,
            agent,
            profiles,
            view: Arc::clone(&view),
        });
        view
    }

    async fn commit(&self, change: UsageChange, now: Timestamp) -> Result<ChangeOutcome, StoreError> {
        self.note(now);
        match self.owning_main(change.profile()) {
            Some(main) => main.commit(change, now).await,
            None => self.agent.commit(change, now).await,
        }
    }

    fn enqueue(&self, change: UsageChange, now: Timestamp) {
        self.note(now);
        match self.owning_main(change.profile()) {
            Some(main) => main.enqueue(change, now),
            None => self.agent.enqueue(change, now),
        }
    }
}

impl<M: LoginStore, A: LoginStore> LoginStore for InheritingAuthStore<M, A> {
    /// A renewed login of the agent's own is passed to the main agent, too, when that one has an older copy (O9).
    async fn change_login(
        &self,
        id: ProfileId,
        change: LoginChange,
        now: Timestamp,
    ) -> Result<ChangeOutcome, StoreError> {
        if let Some(main) = self.owning_main(Some(&id)) {
            return main.change_login(id, change, now).await;
        }
        let renewed = match &change {
            LoginChange::Renew { new, .. } => Some(new.clone()),
            LoginChange::Adopt(_)
            | LoginChange::End { .. }
            | LoginChange::ForgetGood
            | LoginChange::Lease { .. } => None,
        };
        let applied = self.agent.change_login(id.clone(), change, now).await?;
        if let (Some(new), Some(main)) = (renewed, &self.main)
            && applied == ChangeOutcome::Done
            && let Err(error) = main.change_login(id, LoginChange::Adopt(new), now).await
        {
            // The agent has stored it; the main agent keeps its older copy.
            tracing::warn!(%error, "the main agent could not be given a renewed login");
        }
        Ok(applied)
    }

    /// The owner of the login may have changed since the lease was taken.
    fn end_refresh(&self, id: ProfileId, holder: String, now: Timestamp) {
        if let Some(main) = &self.main {
            main.end_refresh(id.clone(), holder.clone(), now);
        }
        self.agent.end_refresh(id, holder, now);
    }

    fn stored_login(&self, id: &ProfileId) -> Option<Oauth> {
        match self.owning_main(Some(id)) {
            Some(main) => main.stored_login(id),
            None => self.agent.stored_login(id),
        }
    }

    fn refresh_lease(&self, id: &ProfileId) -> Option<RefreshLease> {
        match self.owning_main(Some(id)) {
            Some(main) => main.refresh_lease(id),
            None => self.agent.refresh_lease(id),
        }
    }

    fn main_login(&self, id: &ProfileId) -> Option<Oauth> {
        self.main.as_ref()?.stored_login(id)
    }
}

impl<M: UsageStore, A: UsageStore + ProfileStore> ProfileStore for InheritingAuthStore<M, A> {
    /// A login that the main agent has already, at least as fresh, is not copied (I10).
    async fn upsert(&self, id: ProfileId, credential: Credential, now: Timestamp) -> Result<(), StoreError> {
        let inherited = self.main.as_ref().map(|main| main.snapshot());
        let inherited = inherited.as_ref().and_then(|main| main.profiles.get(&id));
        if inherited.is_some_and(|inherited| super::outlives(inherited, &credential))
            && !self.agent.snapshot().profiles.contains_key(&id)
        {
            return Ok(());
        }
        self.agent.upsert(id, credential, now).await
    }

    async fn remove(&self, id: ProfileId, now: Timestamp) -> Result<(), StoreError> {
        self.agent.remove(id, now).await
    }

    async fn remove_provider(&self, provider: ProviderId, now: Timestamp) -> Result<(), StoreError> {
        self.agent.remove_provider(provider, now).await
    }

    async fn set_order(
        &self,
        provider: ProviderId,
        ids: Vec<ProfileId>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        self.agent.set_order(provider, ids, now).await
    }
}
