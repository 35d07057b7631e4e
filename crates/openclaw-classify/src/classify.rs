//! Walks the rule tables over the facts of a failure (classify.md C-3).

mod index;
#[cfg(test)]
mod tests;

use jiff::Timestamp;

use crate::facts::{Facts, Layer};
use crate::rule::{Concern, Family, Rule, Saw, family};
use crate::rules::Stage;
use crate::{
    Certainty, Evidence, Failure, Owner, Phase, Reason, ResetHint, RuleId, Scope, Verdict, hint, preview,
};

use index::{INDEX, Indexed, Seen};

/// How deep a cause chain is walked (C-2.5).
const MAX_CAUSES: usize = 25;
/// How much of what a rule saw is kept for `explain`.
const MAX_EVIDENCE: usize = 120;

/// Judges one failed attempt; `None` when it is none: rate-limit telemetry that allowed the request (C-5, BL-05).
///
/// Total and deterministic: any failure, with any bytes in it, has a verdict (C-1.4). `now` is only used for the
/// reset hint.
pub fn classify(failure: &Failure, now: Timestamp) -> Option<Verdict> {
    let mut best: Option<Verdict> = None;
    let mut hint = None;
    for current in levels(failure) {
        let settled = best.as_ref().is_some_and(is_firm);
        if settled && hint.is_some() {
            break;
        }
        let facts = Facts::read(current);
        if !settled {
            let verdict = judge(current, &facts);
            let passed = facts.allowed && facts.status().is_none_or(|status| status < 400);
            if passed && verdict.certainty == Certainty::Default {
                return best;
            }
            if best.as_ref().is_none_or(|outer| yields(outer, &verdict)) {
                best = Some(verdict);
            }
        }
        hint = hint.or_else(|| hint::find(current, &facts, now));
    }
    best.map(|verdict| Verdict { hint, ..verdict })
}

/// A failure and what it wraps, outermost first, down to the depth of C-2.5.
fn levels(failure: &Failure) -> impl Iterator<Item = &Failure> {
    std::iter::successors(Some(failure), |level| level.cause.as_deref()).take(MAX_CAUSES + 1)
}

/// When the provider says that its limit is over (C-9); of the outermost level that says something.
pub fn reset_hint(failure: &Failure, now: Timestamp) -> Option<ResetHint> {
    levels(failure).find_map(|level| hint::find(level, &Facts::read(level), now))
}

/// An outer level that only guesses, or only says that the request was bad, yields to a more precise inner one.
fn yields(outer: &Verdict, inner: &Verdict) -> bool {
    let precise = !is_mute(inner.reason);
    inner.certainty == Certainty::Explicit && !is_firm(outer)
        || precise && (is_mute(outer.reason) || is_wrapper(&outer.rule))
}

fn is_firm(verdict: &Verdict) -> bool {
    verdict.certainty == Certainty::Explicit && verdict.reason != Reason::Format && !is_wrapper(&verdict.rule)
}

/// Rows that recognise the sentence a client wraps around the real failure.
fn is_wrapper(rule: &RuleId) -> bool {
    matches!(rule.as_str(), "timeout.generic" | "server.catch-all")
}

fn is_mute(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Unclassified | Reason::EmptyResponse | Reason::Unknown
    )
}

/// The verdict of one level.
fn judge(failure: &Failure, facts: &Facts) -> Verdict {
    let status = facts.status();
    let provider = failure.provider.as_ref().map(openclaw_ids::ProviderId::as_str);
    let about = About {
        failure,
        facts,
        status: status.unwrap_or(0),
        family: family(provider.or(facts.provider.as_deref()), failure.host.as_deref()),
    };
    let quiet = Layer::default();
    // The words of a page under these statuses are the proxy's decoration (C-5).
    let decoration = facts.page && matches!(about.status, 408 | 499 | 500..=599);
    let own = if decoration { &quiet } else { &facts.own };
    let own = Seen::new(&INDEX, own);
    if let Some(found) = first(&about, &own, Stage::Explicit) {
        return found.verdict(failure);
    }
    let upstream = Seen::new(&INDEX, &facts.upstream);
    // Whether the shape that somebody behind refused is ours or the wrapper's nobody knows.
    if let Some(found) =
        first(&about, &upstream, Stage::Explicit).filter(|found| found.rule.then != Reason::Format)
    {
        return quoted(found.verdict(failure));
    }
    first(&about, &own, Stage::CatchAll)
        .or_else(|| first(&about, &upstream, Stage::CatchAll))
        .or_else(|| first(&about, &own, Stage::Default))
        .map_or_else(unclassified, |found| found.verdict(failure))
}

/// What is asked about besides codes and texts.
struct About<'f> {
    failure: &'f Failure,
    facts: &'f Facts,
    status: u16,
    family: Option<Family>,
}

/// A row that matched.
struct Found {
    rule: &'static Rule,
    evidence: Option<Evidence>,
}

impl Found {
    fn verdict(&self, failure: &Failure) -> Verdict {
        let (owner, scope) = match self.rule.owner_and_scope() {
            // A request that never left says nothing about the provider (C-10).
            (Owner::Provider, Scope::Model)
                if self.rule.then == Reason::Timeout && failure.phase == Some(Phase::BeforeRequest) =>
            {
                (Owner::Network, Scope::Endpoint)
            }
            usual => usual,
        };
        Verdict {
            reason: self.rule.then,
            certainty: self.rule.certainty,
            owner,
            scope,
            hint: None,
            rule: self.rule.rule_id(),
            evidence: self.evidence.clone(),
        }
    }
}

/// What somebody behind the answering party said concerns this model at most; its bill and its credential are not
/// ours (C-2.4, BL-20).
fn quoted(verdict: Verdict) -> Verdict {
    match verdict.reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => Verdict {
            reason: Reason::ServerError,
            owner: Owner::Provider,
            scope: Scope::Model,
            rule: RuleId::shipped("upstream.account"),
            ..verdict
        },
        Reason::RateLimit => Verdict {
            scope: Scope::Model,
            ..verdict
        },
        Reason::Aborted
        | Reason::ContentPolicy
        | Reason::ContextOverflow
        | Reason::EmptyResponse
        | Reason::Format
        | Reason::Local
        | Reason::ModelNotFound
        | Reason::NoErrorDetails
        | Reason::Overloaded
        | Reason::ServerError
        | Reason::SessionExpired
        | Reason::Timeout
        | Reason::Unclassified
        | Reason::Unknown => verdict,
    }
}

/// The tables end with a row for everything; this is its verdict, should they ever not.
fn unclassified() -> Verdict {
    let (owner, scope) = (Owner::Provider, Scope::None);
    Verdict {
        reason: Reason::Unclassified,
        certainty: Certainty::Default,
        owner,
        scope,
        hint: None,
        rule: RuleId::shipped("label.unclassified"),
        evidence: None,
    }
}

/// The first row of a stage that matches.
fn first(about: &About<'_>, seen: &Seen<'_>, stage: Stage) -> Option<Found> {
    INDEX.stage(stage).find_map(|row| ask(about, seen, row))
}

/// Asks one row.
fn ask(about: &About<'_>, seen: &Seen<'_>, row: &Indexed) -> Option<Found> {
    let rule = row.rule;
    if !seen.may_match(row) {
        return None;
    }
    let status = rule.statuses.is_empty()
        || rule
            .statuses
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&about.status));
    let provider =
        rule.families.is_empty() || about.family.is_some_and(|family| rule.families.contains(&family));
    if !status || !provider {
        return None;
    }
    let evidence = match rule.saw {
        Saw::Anything => status_evidence(about),
        Saw::Silence => {
            if !about.facts.is_empty() {
                return None;
            }
            status_evidence(about)
        }
        Saw::Transports(transports) => {
            let transport = about
                .failure
                .transport
                .filter(|transport| transports.contains(transport))?;
            // An error answer that arrived says more than the connection that broke after it.
            if about.status >= 400 && rule.then == Reason::Timeout && rule.concern != Concern::Caller {
                return None;
            }
            Some(Evidence {
                field: "transport",
                matched: format!("{transport:?}").to_lowercase(),
            })
        }
        Saw::Codes(_) => {
            let code = seen.code(row)?;
            Some(evidence(code.field, &code.raw))
        }
        Saw::Phrases(_) => {
            let at = seen.phrase(row)?;
            Some(evidence(seen.layer.field_at(at.start), &seen.layer.text[at]))
        }
    };
    Some(Found { rule, evidence })
}

fn evidence(field: &'static str, matched: &str) -> Evidence {
    Evidence {
        field,
        matched: preview(matched, MAX_EVIDENCE),
    }
}

fn status_evidence(about: &About<'_>) -> Option<Evidence> {
    (about.status > 0).then(|| Evidence {
        field: "status",
        matched: about.status.to_string(),
    })
}
