//! Folds a batch of requests, and everything unwritten, into the contents of the file.

use jiff::Timestamp;
use rusqlite::Connection;

use super::Writer;
use crate::sqlite::cache::UnwrittenChanges;
use crate::sqlite::contents::{Contents, Extent};
use crate::sqlite::fault::Fault;
use crate::sqlite::request::{ImportCondition, Operation, Outcome, Request};
use crate::{AuthSnapshot, ChangeOutcome, UsageChange};

impl Writer {
    /// Folds everything into the contents, and writes the difference.
    pub(super) fn fold(
        &self,
        contents: &mut Contents,
        batch: &[Request],
        unwritten: &UnwrittenChanges,
        connection: &Connection,
    ) -> Result<Vec<Outcome>, Fault> {
        for request in batch {
            if let Operation::Import(legacy, occasion) = &request.op
                && (*occasion == ImportCondition::Always || contents.is_new())
            {
                contents.import(legacy, request.now);
            }
        }
        let usage_alone =
            unwritten.logins.is_empty() && batch.iter().all(|request| request.change().is_some());
        let before = (!usage_alone).then(|| contents.snapshot.clone());
        let config = self.cache.config();
        let after = &mut contents.snapshot;
        for (id, change, at) in &unwritten.logins {
            after.apply_login(id, change, *at);
        }
        for (change, at) in &unwritten.buffered {
            // Its profile may be gone by now.
            if after.check(change).is_ok() {
                after.apply(change, *at, &config);
            }
        }
        for (profile, at) in &unwritten.uses {
            let profile = profile.clone();
            after.apply(&UsageChange::Used { profile }, *at, &config);
        }
        let outcomes = batch.iter().map(|request| self.perform(request, after)).collect();
        let now = moment(batch, unwritten);
        let extent = if let Some(before) = &before {
            Extent::Everything(before)
        } else {
            let changes = batch.iter().filter_map(Request::change);
            let buffered = unwritten.buffered.iter().map(|(change, _)| change);
            Extent::usage(changes.chain(buffered), unwritten.uses.iter().map(|(id, _)| id))
        };
        contents.write(connection, &extent, now)?;
        Ok(outcomes)
    }

    fn perform(&self, request: &Request, snapshot: &mut AuthSnapshot) -> Outcome {
        match &request.op {
            Operation::Change(change) => {
                snapshot.check(change)?;
                return Ok(snapshot.apply(change, request.now, &self.cache.config()));
            }
            Operation::Login(id, change) => return Ok(snapshot.apply_login(id, change, request.now)),
            // Imports were done before, because changes may be about imported profiles.
            Operation::Import(..) => {}
            Operation::Remove(id) => snapshot.remove(id)?,
            Operation::RemoveProvider(provider) => snapshot.remove_provider(provider),
            Operation::SetOrder(provider, ids) => snapshot.set_order(provider.clone(), ids.clone()),
            Operation::Upsert(id, credential) => snapshot.upsert(id.clone(), (**credential).clone())?,
        }
        Ok(ChangeOutcome::Done)
    }
}

/// The time of the latest change.
pub(super) fn moment(batch: &[Request], unwritten: &UnwrittenChanges) -> Timestamp {
    let times = batch.iter().map(|request| request.now).chain(unwritten.times());
    times.max().unwrap_or(Timestamp::UNIX_EPOCH)
}
