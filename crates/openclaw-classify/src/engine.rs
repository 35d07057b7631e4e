//! The rule engine: walks the compiled rule tables over the facts of a failure (classify.md C-3).

mod index;
mod row;
mod row_match;

use jiff::Timestamp;
use openclaw_providers::Family;

use crate::facts::{Facts, Layer, PageDetail, ReadOptions, SentenceFilter};
use crate::rules::Stage;
use crate::{Certainty, Failure, Owner, Reason, RuleId, Scope, Verdict, hint};

use hint::Hints;

pub(crate) use index::Index;
#[cfg(test)]
pub(crate) use index::MAX_ROWS;
use index::ScannedLayer;
pub(crate) use row::{ProviderFilter, Row};
use row_match::{Context, first_match};

/// Rows that recognise the generic sentence that a client puts around the real failure.
pub(crate) const WRAPPERS: [RuleId; 2] = [
    RuleId::from_static("server.catch-all"),
    RuleId::from_static("timeout.generic"),
];

/// The verdict for a failure by the rows of `index`; `None` when it is rate-limit telemetry that allowed the request
/// (C-5, BL-05).
pub(crate) fn evaluate(index: &Index, failure: &Failure, now: Timestamp) -> Option<Verdict> {
    let mut best: Option<Verdict> = None;
    let mut hints = Hints::default();
    for level in failure.levels() {
        let settled = best.as_ref().is_some_and(is_final);
        if settled && hints.is_full() {
            break;
        }
        let facts = read_facts(index, level);
        if !settled {
            let verdict = level_verdict(index, level, &facts);
            let passed = facts.allowed && facts.status().is_none_or(|status| status < 400);
            if passed && verdict.certainty == Certainty::Default {
                return best;
            }
            if best.as_ref().is_none_or(|outer| gives_way(outer, &verdict)) {
                best = Some(verdict);
            }
        }
        hints = hints.or(hint::find(level, &facts, now));
    }
    best.map(|verdict| Verdict {
        hint: hints.of(verdict.reason),
        ..verdict
    })
}

/// The facts of one level. The text of a page that is a proxy's decoration (C-5) is read only when there are user
/// rules.
fn read_facts<'i>(index: &'i Index, failure: &Failure) -> Facts<'i> {
    let options = |pages| ReadOptions {
        codes: index.codes(),
        pages,
        sentences: SentenceFilter::WithTime,
    };
    if !index.has_user_rules() {
        let facts = Facts::read(failure, options(PageDetail::Presence));
        if !facts.page || is_decoration(&facts) {
            return facts;
        }
    }
    Facts::read(failure, options(PageDetail::Full))
}

/// Whether the facts are a page under a status where its text is the proxy's decoration and no evidence (C-5).
fn is_decoration(facts: &Facts<'_>) -> bool {
    facts.page && matches!(facts.status(), Some(408 | 499 | 500..=599))
}

/// Whether the verdict of an outer level gives way to that of an inner one: the outer one is a default, or only says
/// that the request was bad, and the inner one is more precise.
fn gives_way(outer: &Verdict, inner: &Verdict) -> bool {
    let precise = !is_uninformative(inner.reason);
    inner.certainty == Certainty::Explicit && !is_final(outer)
        || precise && (is_uninformative(outer.reason) || is_wrapper(&outer.rule))
}

fn is_final(verdict: &Verdict) -> bool {
    verdict.certainty == Certainty::Explicit && verdict.reason != Reason::Format && !is_wrapper(&verdict.rule)
}

fn is_wrapper(rule: &RuleId) -> bool {
    WRAPPERS.contains(rule)
}

fn is_uninformative(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Unclassified | Reason::EmptyResponse | Reason::Unknown
    )
}

/// The verdict of one level of the failure.
fn level_verdict(index: &Index, failure: &Failure, facts: &Facts<'_>) -> Verdict {
    let status = facts.status();
    let provider = failure.provider.as_ref().map(openclaw_ids::ProviderId::as_str);
    let provider = provider.or(facts.provider.as_deref());
    let context = Context {
        failure,
        facts,
        status: status.unwrap_or(0),
        provider,
        family: Family::of(provider, failure.host.as_deref()),
    };
    let decoration = is_decoration(facts);
    let empty = Layer::default();
    let transport = failure.transport.is_some();
    let scan = |layer| ScannedLayer::new(index, layer, transport);
    let own = scan(if decoration { &empty } else { &facts.own });
    // A user rule may name the text of the decoration.
    let page = (decoration && index.has_user_rules()).then(|| scan(&facts.own));
    let decisive = first_match(&context, &own, Stage::LocalFacts)
        .or_else(|| first_match(&context, page.as_ref().unwrap_or(&own), Stage::User))
        .or_else(|| first_match(&context, &own, Stage::Explicit));
    if let Some(matched) = decisive {
        return matched.verdict(failure);
    }
    let upstream = (!facts.upstream.is_empty()).then(|| scan(&facts.upstream));
    let in_upstream = |stage| {
        upstream
            .as_ref()
            .and_then(|layer| first_match(&context, layer, stage))
    };
    if let Some(matched) = in_upstream(Stage::LocalFacts) {
        return upstream_verdict(matched.verdict(failure));
    }
    if let Some(matched) = in_upstream(Stage::User) {
        return matched.verdict(failure);
    }
    // Nothing tells whether the shape that an upstream refused is the caller's or the aggregator's.
    if let Some(matched) = in_upstream(Stage::Explicit).filter(|matched| matched.row.then != Reason::Format) {
        return upstream_verdict(matched.verdict(failure));
    }
    first_match(&context, &own, Stage::CatchAll)
        .or_else(|| in_upstream(Stage::CatchAll))
        .or_else(|| first_match(&context, &own, Stage::Default))
        .map_or_else(unclassified, |matched| matched.verdict(failure))
}

/// The verdict for a quoted upstream error: it concerns this model at most, because the upstream's bill and credential
/// are not the caller's (C-2.4, BL-20).
fn upstream_verdict(verdict: Verdict) -> Verdict {
    match verdict.reason {
        Reason::Auth | Reason::AuthPermanent | Reason::Billing => Verdict {
            reason: Reason::ServerError,
            owner: Owner::Provider,
            scope: Scope::Model,
            rule: RuleId::from_static("upstream.account"),
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

/// The verdict when no row matches at all. The tables end with a row that matches everything, so this is a safeguard.
fn unclassified() -> Verdict {
    let (owner, scope) = (Owner::Provider, Scope::None);
    Verdict {
        reason: Reason::Unclassified,
        certainty: Certainty::Default,
        owner,
        scope,
        hint: None,
        rule: RuleId::from_static("label.unclassified"),
        evidence: None,
    }
}
