//! Walks the rule tables over the facts of a failure (classify.md C-3).

mod index;
mod row;

use std::ops::Range;

use jiff::Timestamp;

use crate::facts::{Code, Facts, Layer, Pages, Sentences, Wanted};
use crate::failure::Transport;
use crate::rules::Stage;
use crate::rules::{Family, family, is_or_below};
use crate::text::phrase::Phrase;
use crate::{Certainty, Evidence, Failure, Owner, Phase, Reason, RuleId, Scope, Verdict, hint, preview};

pub(crate) use index::Index;
#[cfg(test)]
pub(crate) use index::MAX_ROWS;
use index::Seen;
pub(crate) use row::{Providers, Row};

/// Rows that recognise the sentence a client wraps around the real failure.
pub(crate) const WRAPPERS: [RuleId; 2] = [
    RuleId::shipped("server.catch-all"),
    RuleId::shipped("timeout.generic"),
];
/// How much of what a rule saw is kept for `explain`.
const MAX_EVIDENCE: usize = 120;

/// [`classify`] by the rows of `index`.
pub(crate) fn judged(index: &Index, failure: &Failure, now: Timestamp) -> Option<Verdict> {
    let mut best: Option<Verdict> = None;
    let mut hint = None;
    for current in failure.levels() {
        let settled = best.as_ref().is_some_and(is_firm);
        if settled && hint.is_some() {
            break;
        }
        let facts = read(index, current);
        if !settled {
            let verdict = judge(index, current, &facts);
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

/// What one level says. The words of a page that are decoration (C-5) are read only for a user's rules.
fn read<'i>(index: &'i Index, failure: &Failure) -> Facts<'i> {
    let wanted = |pages| Wanted {
        codes: index.codes(),
        pages,
        sentences: Sentences::Timed,
    };
    if !index.has_users() {
        let facts = Facts::read(failure, wanted(Pages::Skimmed));
        if !facts.page || is_decoration(&facts) {
            return facts;
        }
    }
    Facts::read(failure, wanted(Pages::Whole))
}

/// The words of a page under these statuses are the proxy's decoration (C-5).
fn is_decoration(facts: &Facts<'_>) -> bool {
    facts.page && matches!(facts.status(), Some(408 | 499 | 500..=599))
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

fn is_wrapper(rule: &RuleId) -> bool {
    WRAPPERS.contains(rule)
}

fn is_mute(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::Unclassified | Reason::EmptyResponse | Reason::Unknown
    )
}

/// The verdict of one level.
fn judge(index: &Index, failure: &Failure, facts: &Facts<'_>) -> Verdict {
    let status = facts.status();
    let provider = failure.provider.as_ref().map(openclaw_ids::ProviderId::as_str);
    let provider = provider.or(facts.provider.as_deref());
    let about = About {
        failure,
        facts,
        status: status.unwrap_or(0),
        provider,
        family: family(provider, failure.host.as_deref()),
    };
    let decoration = is_decoration(facts);
    let quiet = Layer::default();
    let transport = failure.transport.is_some();
    let seen = |layer| Seen::new(index, layer, transport);
    let own = seen(if decoration { &quiet } else { &facts.own });
    // A user may have learned the words of the decoration.
    let page = (decoration && index.has_users()).then(|| seen(&facts.own));
    let told = first(&about, &own, Stage::Who)
        .or_else(|| first(&about, page.as_ref().unwrap_or(&own), Stage::User))
        .or_else(|| first(&about, &own, Stage::Explicit));
    if let Some(found) = told {
        return found.verdict(failure);
    }
    let upstream = (!facts.upstream.is_empty()).then(|| seen(&facts.upstream));
    let quote = |stage| upstream.as_ref().and_then(|seen| first(&about, seen, stage));
    if let Some(found) = quote(Stage::Who) {
        return quoted(found.verdict(failure));
    }
    if let Some(found) = quote(Stage::User) {
        return found.verdict(failure);
    }
    // Whether the shape that somebody behind refused is ours or the wrapper's nobody knows.
    if let Some(found) = quote(Stage::Explicit).filter(|found| found.row.then != Reason::Format) {
        return quoted(found.verdict(failure));
    }
    first(&about, &own, Stage::CatchAll)
        .or_else(|| quote(Stage::CatchAll))
        .or_else(|| first(&about, &own, Stage::Default))
        .map_or_else(unclassified, |found| found.verdict(failure))
}

/// What is asked about besides codes and texts.
struct About<'f> {
    failure: &'f Failure,
    facts: &'f Facts<'f>,
    status: u16,
    provider: Option<&'f str>,
    family: Option<Family>,
}

/// A row that matched.
struct Found<'f> {
    row: &'f Row,
    evidence: Option<Evidence>,
}

impl Found<'_> {
    fn verdict(self, failure: &Failure) -> Verdict {
        let row = self.row;
        // A request that never left says nothing about the provider (C-10).
        let unsent = row.then == Reason::Timeout && failure.phase == Some(Phase::BeforeRequest);
        let (owner, scope) = match (row.owner, row.scope) {
            (Owner::Provider, Scope::Model) if unsent => (Owner::Network, Scope::Endpoint),
            usual => usual,
        };
        Verdict {
            reason: row.then,
            certainty: row.certainty,
            owner,
            scope,
            hint: None,
            rule: row.id.clone(),
            evidence: self.evidence,
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
fn first<'f>(about: &About<'_>, seen: &Seen<'f>, stage: Stage) -> Option<Found<'f>> {
    seen.rows(stage).find_map(|(number, row)| {
        let sight = ask(about, seen, number, row)?;
        let evidence = sight.evidence(about, seen.layer);
        Some(Found { row, evidence })
    })
}

/// What a row that matched saw, the most telling only.
enum Sight<'f> {
    Code(&'f Code<'f>),
    Status,
    Transport(Transport),
    Words(Range<usize>, &'f Phrase),
}

impl Sight<'_> {
    fn evidence(self, about: &About<'_>, layer: &Layer<'_>) -> Option<Evidence> {
        let (field, matched) = match self {
            Self::Code(code) => (code.field, preview(&code.raw, MAX_EVIDENCE)),
            Self::Status if about.status == 0 => return None,
            Self::Status => ("status", about.status.to_string()),
            Self::Transport(transport) => ("transport", format!("{transport:?}").to_lowercase()),
            Self::Words(at, phrase) => {
                let field = layer.field_at(at.start);
                let words = &layer.text[at];
                // A text without gaps is the rule's own and holds nothing of the sender's.
                let matched = if phrase.has_gaps() {
                    preview(words, MAX_EVIDENCE)
                } else {
                    words.to_owned()
                };
                (field, matched)
            }
        };
        Some(Evidence { field, matched })
    }
}

/// Asks one row.
fn ask<'f>(about: &About<'_>, seen: &Seen<'f>, number: usize, row: &'f Row) -> Option<Sight<'f>> {
    let within = |(from, to): &(u16, u16)| (*from..=*to).contains(&about.status);
    let status = row.statuses.is_empty() || row.statuses.iter().any(within);
    let silence = !row.silence || about.facts.is_empty();
    if !status || !silence || !is_provider(about, &row.providers) {
        return None;
    }
    let mut sight = Sight::Status;
    if !row.transports.is_empty() {
        sight = Sight::Transport(transport(about, row)?);
    }
    if !row.codes.is_empty() {
        sight = Sight::Code(seen.code(number)?);
    }
    if !row.phrases.is_empty() {
        let (at, phrase) = seen.phrase(number, row)?;
        sight = Sight::Words(at, phrase);
    }
    seen.is_allowed(row).then_some(sight)
}

fn transport(about: &About<'_>, row: &Row) -> Option<Transport> {
    // An error answer that arrived says more than the connection that broke after it.
    let outdone = about.status >= 400 && row.then == Reason::Timeout && row.owner != Owner::Caller;
    let stated = about.failure.transport.filter(|_| !outdone)?;
    row.transports.contains(&stated).then_some(stated)
}

fn is_provider(about: &About<'_>, providers: &Providers) -> bool {
    match providers {
        Providers::Any => true,
        Providers::Families(families) => about.family.is_some_and(|family| families.contains(&family)),
        Providers::Named(names) => {
            // A host may come with its port.
            let host = about.failure.host.as_deref().unwrap_or_default();
            let host = host.split(':').next().unwrap_or_default().to_lowercase();
            let is_id = |name: &str| about.provider.is_some_and(|id| id.eq_ignore_ascii_case(name));
            names.iter().any(|name| is_id(name) || is_or_below(&host, name))
        }
    }
}
