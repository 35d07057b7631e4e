//! Which candidates of a chain, and which of their credentials, can serve a wire format.

use std::collections::HashSet;

use jiff::Timestamp;
use openclaw_auth_store::{AuthSnapshot, Credential, log_id, rotation_order};
use openclaw_ids::{ModelRef, ProfileId, ProviderId};
use openclaw_runner::{AttemptRecord, CandidateOutcome, ErrorFields, RunPolicy};
use openclaw_session::{PinSource, ProfilePin};
use openclaw_wire::WireFormat;

use super::Endpoints;

/// The code of what cannot serve a format.
const CODE: &str = "wire_unsupported";

/// What can serve a request in one format.
pub(crate) struct Fitting {
    /// The candidates to ask.
    pub(crate) kept: Vec<ModelRef>,
    /// The records of the others.
    pub(crate) left_out: Vec<AttemptRecord>,
    /// Credentials of the kept ones that leave their order.
    pub(crate) set_aside: HashSet<ProfileId>,
    /// The records of those.
    pub(crate) passed_over: Vec<AttemptRecord>,
    /// The first provider that was left out although it speaks the format.
    pub(crate) logins_alone: Option<ProviderId>,
}

/// What is asked of each candidate.
pub(crate) struct Fit<'a> {
    pub(crate) endpoints: &'a Endpoints,
    pub(crate) policy: &'a RunPolicy,
    pub(crate) snapshot: &'a AuthSnapshot,
    pub(crate) pin: Option<&'a ProfilePin>,
    pub(crate) wire: WireFormat,
    pub(crate) now: Timestamp,
}

impl Fit<'_> {
    /// Takes the candidates out of `chain` that cannot read the request, and the credentials that are not good for it.
    /// Nothing is marked.
    pub(crate) fn of(&self, chain: Vec<ModelRef>) -> Fitting {
        let mut fitting = Fitting {
            kept: Vec::new(),
            left_out: Vec::new(),
            set_aside: HashSet::new(),
            passed_over: Vec::new(),
            logins_alone: None,
        };
        let has_logins = self.has_logins();
        for candidate in chain {
            let speaks = self
                .endpoints
                .get(candidate.provider())
                .is_none_or(|endpoint| endpoint.speaks(self.wire));
            // A key is good for whatever its provider speaks.
            if speaks && !has_logins {
                fitting.kept.push(candidate);
                continue;
            }
            let (fit, unfit) = self.credentials(&candidate);
            // A provider without any credential fails with words of its own.
            if fit.is_empty() && (!unfit.is_empty() || !speaks) {
                let error = if speaks {
                    fitting
                        .logins_alone
                        .get_or_insert_with(|| candidate.provider().clone());
                    format!(
                        "no credential of `{}` is good for {}",
                        candidate.provider(),
                        self.wire.name()
                    )
                } else {
                    format!("`{}` does not speak {}", candidate.provider(), self.wire.name())
                };
                fitting.left_out.push(record(candidate, error));
                continue;
            }
            for id in unfit {
                let error = format!(
                    "profile {} is not good for {}",
                    log_id(Some(&id)),
                    self.wire.name()
                );
                if fitting.set_aside.insert(id) {
                    fitting.passed_over.push(record(candidate.clone(), error));
                }
            }
            fitting.kept.push(candidate);
        }
        fitting
    }

    /// Whether any credential is a login, which may not be good for what its provider speaks.
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

    /// The candidate's credentials that are good for the format, and the others.
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

    /// A person's pin holds for the candidates whose provider shares credentials with it (S-5.5e).
    fn concerns(&self, profile: &ProfileId, candidate: &ModelRef) -> bool {
        let credential = self.snapshot.credential(profile);
        credential.is_some_and(|credential| {
            self.policy
                .aliases
                .share_credentials(credential.provider(), candidate.provider())
        })
    }
}

/// The format in which a credential is asked first: the one that most providers speak, else whichever it is good for.
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
