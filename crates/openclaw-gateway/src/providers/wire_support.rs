//! Selects the candidates of a chain, and their credentials, that support the wire format of a request.

use std::collections::HashSet;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, log_id, rotation_order};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::{AttemptRecord, CandidateOutcome, ErrorFields, RunPolicy};
use openclaw_session::{PinSource, ProfilePin};
use openclaw_wire::WireFormat;

use super::Endpoints;

/// The code of a candidate that does not support the format.
const CODE: &str = "wire_unsupported";

/// The candidates that support one format, and the records of the others.
pub(crate) struct WireSelection {
    /// The candidates that support it.
    pub(crate) kept: Vec<ModelRef>,
    /// The records of the incompatible candidates.
    pub(crate) incompatible: Vec<AttemptRecord>,
    /// Credentials of the kept candidates that do not support it.
    pub(crate) excluded_profiles: HashSet<ProfileId>,
    /// The records of those credentials.
    pub(crate) profile_records: Vec<AttemptRecord>,
    /// The first provider that was left out although it speaks the format: it has only logins.
    pub(crate) login_only: Option<ProviderId>,
}

/// The state by which candidates are checked.
pub(crate) struct WireSupport<'a> {
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) policy: &'a RunPolicy,
    pub(crate) snapshot: &'a AuthSnapshot,
    pub(crate) pin: Option<&'a ProfilePin>,
    pub(crate) wire: WireFormat,
    pub(crate) now: Timestamp,
}

impl WireSupport<'_> {
    /// Removes the candidates from `chain` that do not support the format, and their credentials that do not. No failure
    /// is recorded.
    pub(crate) fn select(&self, chain: Vec<ModelRef>) -> WireSelection {
        let mut selection = WireSelection {
            kept: Vec::new(),
            incompatible: Vec::new(),
            excluded_profiles: HashSet::new(),
            profile_records: Vec::new(),
            login_only: None,
        };
        let has_logins = self.has_logins();
        for candidate in chain {
            let speaks = self
                .endpoints
                .get(candidate.provider())
                .is_none_or(|endpoint| endpoint.speaks(self.wire));
            // A key supports every format that its provider speaks.
            if speaks && !has_logins {
                selection.kept.push(candidate);
                continue;
            }
            let (compatible, incompatible) = self.credentials(&candidate);
            // A provider without any credential has an error of its own.
            if compatible.is_empty() && (!incompatible.is_empty() || !speaks) {
                let error = if speaks {
                    selection
                        .login_only
                        .get_or_insert_with(|| candidate.provider().clone());
                    format!(
                        "no credential of `{}` is good for {}",
                        candidate.provider(),
                        self.wire.name()
                    )
                } else {
                    format!("`{}` does not speak {}", candidate.provider(), self.wire.name())
                };
                selection.incompatible.push(record(candidate, error));
                continue;
            }
            for id in incompatible {
                let error = format!(
                    "profile {} is not good for {}",
                    log_id(Some(&id)),
                    self.wire.name()
                );
                if selection.excluded_profiles.insert(id) {
                    selection.profile_records.push(record(candidate.clone(), error));
                }
            }
            selection.kept.push(candidate);
        }
        selection
    }

    /// Whether any credential is a login, which may not support every format of its provider.
    fn has_logins(&self) -> bool {
        let all = self
            .snapshot
            .profiles
            .values()
            .chain(self.snapshot.ambient.values());
        let is_login = |credential: &Credential| match credential {
            Credential::Oauth(_) | Credential::Token(_) => true,
            Credential::ApiKey(_) | Credential::Local(_) => false,
        };
        all.into_iter().any(is_login)
    }

    /// The candidate's credentials that support the format, and the others.
    fn credentials(&self, candidate: &ModelRef) -> (Vec<ProfileId>, Vec<ProfileId>) {
        let provider = candidate.provider();
        let order = match self.pin {
            Some(ProfilePin {
                profile,
                source: PinSource::User,
            }) if self.concerns(profile, candidate) => vec![profile.clone()],
            Some(_) | None => rotation_order(
                self.snapshot,
                &self.policy.auth,
                &self.policy.aliases,
                provider,
                None,
                self.now,
            ),
        };
        order.into_iter().partition(|id| {
            let credential = self.snapshot.credential(id);
            credential.is_none_or(|credential| self.endpoints.serves(provider, credential, self.wire))
        })
    }

    /// A user's pin holds for the candidates whose provider shares credentials with it (S-5.5e).
    fn concerns(&self, profile: &ProfileId, candidate: &ModelRef) -> bool {
        let credential = self.snapshot.credential(profile);
        credential.is_some_and(|credential| {
            self.policy
                .aliases
                .share_credentials(credential.provider(), candidate.provider())
        })
    }
}

/// The format in which a credential is tested first: the one that most providers speak, else the first that it supports.
pub fn first_wire(endpoints: &Endpoints, provider: &ProviderId, credential: &Credential) -> WireFormat {
    let wires = [
        WireFormat::ChatCompletions,
        WireFormat::Responses,
        WireFormat::Messages,
    ];
    let fit = wires
        .into_iter()
        .find(|wire| endpoints.serves(provider, credential, *wire));
    fit.unwrap_or(WireFormat::ChatCompletions)
}

fn record(candidate: ModelRef, error: String) -> AttemptRecord {
    AttemptRecord {
        candidate,
        error,
        reason: None,
        rule: None,
        status: None,
        code: Some(CODE.to_owned()),
        auth_mode: None,
        outcome: CandidateOutcome::Skipped,
        earlier: Vec::new(),
        fields: ErrorFields::default(),
    }
}
