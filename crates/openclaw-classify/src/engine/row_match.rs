//! Matching one row of the tables against one layer of facts, and the evidence of a match.

use std::ops::Range;

use openclaw_providers::{Family, is_host_or_below};

use super::index::ScannedLayer;
use super::row::{ProviderFilter, Row};
use crate::facts::{Code, Facts, Layer};
use crate::rules::Stage;
use crate::text::phrase::Phrase;
use crate::{Evidence, Failure, Owner, Phase, Reason, Scope, Transport, Verdict, preview};

/// The most UTF-16 units of the matched text that are kept as evidence.
const MAX_EVIDENCE: usize = 120;

/// What rows look at besides codes and texts.
pub(super) struct Context<'f> {
    pub(super) failure: &'f Failure,
    pub(super) facts: &'f Facts<'f>,
    pub(super) status: u16,
    pub(super) provider: Option<&'f str>,
    pub(super) family: Option<Family>,
}

/// A row that matched.
pub(super) struct RowMatch<'f> {
    pub(super) row: &'f Row,
    evidence: Option<Evidence>,
}

impl RowMatch<'_> {
    pub(super) fn verdict(self, failure: &Failure) -> Verdict {
        let row = self.row;
        // A request that was never sent says nothing about the provider (C-10).
        let unsent = row.then == Reason::Timeout && failure.phase == Some(Phase::BeforeRequest);
        let (owner, scope) = match (row.owner, row.scope) {
            (Owner::Provider, Scope::Model) if unsent => (Owner::Network, Scope::Endpoint),
            of_the_row => of_the_row,
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

/// The first row of a stage that matches.
pub(super) fn first_match<'f>(
    context: &Context<'_>,
    layer: &ScannedLayer<'f>,
    stage: Stage,
) -> Option<RowMatch<'f>> {
    layer.rows(stage).find_map(|(number, row)| {
        let detail = match_row(context, layer, number, row)?;
        let evidence = detail.evidence(context, layer.layer);
        Some(RowMatch { row, evidence })
    })
}

/// What made a row match: the most specific of its conditions.
enum MatchDetail<'f> {
    Code(&'f Code<'f>),
    Phrase(Range<usize>, &'f Phrase),
    Status,
    Transport(Transport),
}

impl MatchDetail<'_> {
    fn evidence(self, context: &Context<'_>, layer: &Layer<'_>) -> Option<Evidence> {
        let (field, matched) = match self {
            Self::Code(code) => (code.field, preview(&code.raw, MAX_EVIDENCE)),
            Self::Status if context.status == 0 => return None,
            Self::Status => ("status", context.status.to_string()),
            Self::Transport(transport) => ("transport", format!("{transport:?}").to_lowercase()),
            Self::Phrase(range, phrase) => {
                let field = layer.field_at(range.start);
                let text = &layer.text[range];
                // A match of a phrase without gaps is the rule's own text, so there is nothing to redact.
                let matched = if phrase.has_gaps() {
                    preview(text, MAX_EVIDENCE)
                } else {
                    text.to_owned()
                };
                (field, matched)
            }
        };
        Some(Evidence { field, matched })
    }
}

/// Checks all conditions of one row.
fn match_row<'f>(
    context: &Context<'_>,
    layer: &ScannedLayer<'f>,
    number: usize,
    row: &'f Row,
) -> Option<MatchDetail<'f>> {
    let within = |(from, to): &(u16, u16)| (*from..=*to).contains(&context.status);
    let status = row.statuses.is_empty() || row.statuses.iter().any(within);
    let empty = !row.empty_only || context.facts.is_empty();
    if !status || !empty || !is_provider(context, &row.providers) {
        return None;
    }
    let mut detail = MatchDetail::Status;
    if !row.transports.is_empty() {
        detail = MatchDetail::Transport(transport(context, row)?);
    }
    if !row.codes.is_empty() {
        detail = MatchDetail::Code(layer.code(number)?);
    }
    if !row.phrases.is_empty() {
        let (range, phrase) = layer.phrase(number, row)?;
        detail = MatchDetail::Phrase(range, phrase);
    }
    (!layer.is_excluded(row)).then_some(detail)
}

fn transport(context: &Context<'_>, row: &Row) -> Option<Transport> {
    // An error answer that arrived says more than the connection that broke after it.
    let outranked = context.status >= 400 && row.then == Reason::Timeout && row.owner != Owner::Caller;
    let stated = context.failure.transport.filter(|_| !outranked)?;
    row.transports.contains(&stated).then_some(stated)
}

fn is_provider(context: &Context<'_>, providers: &ProviderFilter) -> bool {
    match providers {
        ProviderFilter::Any => true,
        ProviderFilter::Families(families) => context.family.is_some_and(|family| families.contains(&family)),
        ProviderFilter::Named(names) => {
            // The host may have a port.
            let host = context.failure.host.as_deref().unwrap_or_default();
            let host = host.split(':').next().unwrap_or_default().to_lowercase();
            let is_id = |name: &str| context.provider.is_some_and(|id| id.eq_ignore_ascii_case(name));
            names
                .iter()
                .any(|name| is_id(name) || is_host_or_below(&host, name))
        }
    }
}
