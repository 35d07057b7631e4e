//! The lease to refresh a login: taken, waited for, and given back (O5, O6, O12).

use std::sync::Arc;
use std::time::Duration;

use openclaw_ids::ProfileId;

use super::lock_file::{LockFile, refresh_lock_name};
use super::{RefreshError, RefreshHost, RefreshRequest, Refresher, TokenEndpoint, process};
use crate::{ChangeOutcome, LoginChange, LoginStore, Oauth, StoreError};

/// How often a refresh by another holder is waited for before giving up (O6).
const WAITS: u32 = 20;
/// The first wait, without its random part.
const FIRST_WAIT: u64 = 100;
/// The longest wait, in milliseconds.
const LONGEST_WAIT: u64 = 10_000;

/// The held lease, given back on drop.
pub(super) struct LeaseGuard<'a, S: LoginStore, H: RefreshHost> {
    store: &'a S,
    host: &'a H,
    id: &'a ProfileId,
    pub(super) holder: String,
    file: Option<LockFile>,
}

impl<E: TokenEndpoint, H: RefreshHost> Refresher<E, H> {
    /// Waits for the lease, or for the result of another holder (O6, O12).
    pub(super) async fn hold<'a, S: LoginStore>(
        &'a self,
        asked: &RefreshRequest<'a, S>,
    ) -> Result<Result<LeaseGuard<'a, S, H>, Oauth>, RefreshError> {
        let provider = &asked.seen.provider;
        let name = refresh_lock_name(provider, asked.id);
        let path = self.locks.join(format!("{name}.lock"));
        let holder = process::holder(self.host.random());
        for waits in 0..=WAITS {
            let now = self.host.now();
            let mut leased = self.lease(asked, &holder).await?;
            if leased == ChangeOutcome::HeldElsewhere && self.end_left_over(asked).await? {
                leased = self.lease(asked, &holder).await?;
            }
            let mut held = LeaseGuard {
                store: asked.store,
                host: &self.host,
                id: asked.id,
                holder: holder.clone(),
                file: None,
            };
            if let Some(login) = self.ready(asked) {
                return Ok(Err(login));
            }
            if leased == ChangeOutcome::Done {
                held.file = LockFile::try_take(&path, now).map_err(|source| RefreshError::Lock {
                    path: path.clone(),
                    source: Arc::new(source),
                })?;
                if held.file.is_some() {
                    return Ok(Ok(held));
                }
            }
            drop(held);
            if waits < WAITS {
                self.host.sleep(wait(waits, self.host.random())).await;
            }
        }
        Err(RefreshError::Contention {
            provider: provider.clone(),
        })
    }

    /// Takes or extends the lease; the store is read again on the way.
    pub(super) async fn lease<S: LoginStore>(
        &self,
        asked: &RefreshRequest<'_, S>,
        holder: &str,
    ) -> Result<ChangeOutcome, StoreError> {
        let change = LoginChange::Lease {
            holder: holder.to_owned(),
        };
        let id = asked.id.clone();
        asked.store.change_login(id, change, self.host.now()).await
    }

    /// Ends the lease of a process of this machine that died; true when the lease may be free (O6).
    async fn end_left_over<S: LoginStore>(&self, asked: &RefreshRequest<'_, S>) -> Result<bool, StoreError> {
        let lease = asked.store.refresh_lease(asked.id);
        let Some(lease) = lease.filter(|lease| process::is_gone(&lease.holder)) else {
            return Ok(false);
        };
        let holder = lease.holder;
        let (id, now) = (asked.id.clone(), self.host.now());
        asked
            .store
            .change_login(id, LoginChange::End { holder }, now)
            .await?;
        Ok(true)
    }
}

impl<S: LoginStore, H: RefreshHost> Drop for LeaseGuard<'_, S, H> {
    fn drop(&mut self) {
        // The file first: the next holder of the lease finds it removed.
        self.file = None;
        let holder = std::mem::take(&mut self.holder);
        self.store.end_refresh(self.id.clone(), holder, self.host.now());
    }
}

/// The wait after so many others: it doubles, grows by up to its own length at random, and is at most ten seconds.
fn wait(waits: u32, random: u64) -> Duration {
    let base = FIRST_WAIT.saturating_mul(1_u64.checked_shl(waits).unwrap_or(u64::MAX));
    let base = base.min(LONGEST_WAIT);
    Duration::from_millis(base.saturating_add(random % base).min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::wait;

    #[test]
    fn o6_waits_double_up_to_ten_seconds() {
        let waits = |random| (0..20).map(move |n| wait(n, random).as_millis());
        assert_eq!(
            waits(0).take(8).collect::<Vec<_>>(),
            [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000]
        );
        assert_eq!(waits(99).next(), Some(199));
        assert!(waits(u64::MAX).all(|wait| wait <= 10_000));
        assert!(wait(200, 7).as_millis() == 10_000);
    }
}
