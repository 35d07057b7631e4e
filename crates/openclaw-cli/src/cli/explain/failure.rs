//! A failure, judged and rehearsed.

use std::fmt;
use std::io;

use jiff::Timestamp;
use openclaw_classify::{
    Certainty, Failure, Owner, Reason, Scope, Verdict, classify, describe, observe, redact,
};
use openclaw_gateway::report::DryRun;
use openclaw_gateway::report::left;
use openclaw_ids::{AgentId, ModelRef};
use serde::{Serialize, Serializer};

use super::failure_args::FailureInput;
use crate::cli::chain::UnknownModel;
use crate::files::{Files, ReadAgent, history::Names};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::screen::{Screen, now};
use crate::terminal::{Cell, OutputArgs, Render, Style, Table};

/// What a failure means.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct FailureExplanation {
    /// What it says, redacted.
    said: String,
    /// None when it is no failure at all.
    verdict: Option<JudgedFailure>,
    /// What would follow.
    rehearsal: Option<DryRun>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JudgedFailure {
    reason: Reason,
    #[serde(serialize_with = "in_words")]
    certainty: Certainty,
    #[serde(serialize_with = "in_words")]
    owner: Owner,
    #[serde(serialize_with = "in_words")]
    scope: Scope,
    rule: String,
    evidence: Option<Observation>,
    reset: Option<Reset>,
    status: Option<u16>,
    code: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Writes a value by the name it has in records.
fn in_words<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// What the rule saw.
#[derive(Debug, Serialize)]
struct Observation {
    field: &'static str,
    matched: String,
}

/// The end that the provider stated.
#[derive(Debug, Serialize)]
struct Reset {
    at: i64,
    source: &'static str,
    credible: bool,
}

impl JudgedFailure {
    fn of(verdict: &Verdict, failure: &Failure) -> Self {
        let observed = observe(failure);
        Self {
            reason: verdict.reason,
            certainty: verdict.certainty,
            owner: verdict.owner,
            scope: verdict.scope,
            rule: verdict.rule.to_string(),
            evidence: verdict.evidence.as_ref().map(|evidence| Observation {
                field: evidence.field,
                matched: evidence.matched.clone(),
            }),
            reset: verdict.hint.as_ref().map(|hint| Reset {
                at: hint.at.as_millisecond(),
                source: hint.source.as_str(),
                credible: hint.credible,
            }),
            status: observed.status,
            code: observed.code.as_deref().map(redact),
            kind: observed.kind.as_deref().map(redact),
        }
    }
}

/// Explains these failures one after the other.
pub(super) fn explain(
    files: &Files,
    agent: &AgentId,
    asked: &[FailureInput],
    output: OutputArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    let agent = ReadAgent::open(files, agent)?;
    let names = Names::of(files);
    let now = now();
    let explanations = asked.iter().map(|asked| {
        Ok::<_, CommandError>(ShownExplanation {
            explained: explained(files, &agent, asked, now)?,
            names: &names,
            now,
        })
    });
    screen.render_stream(explanations, output)?;
    Ok(Outcome::Fine)
}

/// What a failure means, and what its text needs: the names of models and credentials, and the time.
struct ShownExplanation<'n> {
    explained: FailureExplanation,
    names: &'n Names,
    now: Timestamp,
}

impl Render for ShownExplanation<'_> {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        show(&self.explained, self.names, self.now, screen)
    }

    fn json(&self) -> impl Serialize {
        &self.explained
    }
}

fn explained(
    files: &Files,
    agent: &ReadAgent,
    asked: &FailureInput,
    now: Timestamp,
) -> Result<FailureExplanation, CommandError> {
    let model = match &asked.model {
        None => None,
        Some(text) => {
            let model = files.resolver.resolve(text);
            Some(model.ok_or_else(|| UnknownModel(text.clone()))?)
        }
    };
    let failure = with_provider(asked.failure.clone(), model.as_ref(), files, agent);
    let verdict = classify(&failure, now);
    let rehearsal = verdict.as_ref().map(|_| {
        let model = model.or_else(|| model_of(&failure, files, agent));
        DryRun::of(
            &files.installation(),
            &agent.state(),
            files.run_policy(),
            model,
            &failure,
            now,
        )
    });
    Ok(FailureExplanation {
        said: redact(&describe(&failure)),
        verdict: verdict.map(|verdict| JudgedFailure::of(&verdict, &failure)),
        rehearsal,
    })
}

/// The failure with the provider of the model that was named.
fn with_provider(failure: Failure, model: Option<&ModelRef>, files: &Files, agent: &ReadAgent) -> Failure {
    let named = failure.provider.clone();
    let provider = named.or_else(|| model.map(|model| model.provider().clone()));
    let provider = provider.unwrap_or_else(|| files.resolver.agent_primary(&agent.id).provider().clone());
    Failure {
        provider: Some(provider),
        ..failure
    }
}

/// The first model of the provider in the agent's chain.
fn model_of(failure: &Failure, files: &Files, agent: &ReadAgent) -> Option<ModelRef> {
    let provider = failure.provider.as_ref()?;
    let chain = files.resolver.configured_chain(&agent.id);
    let found = chain.iter().position(|model| model.provider() == provider)?;
    // The first of the chain is what an ordinary turn asks for, whatever was named.
    (found > 0).then(|| chain[found].clone())
}

fn show(
    explained: &FailureExplanation,
    names: &Names,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
    screen.toned(Style::Strong, format!("Failure: {}", explained.said))?;
    let Some(verdict) = &explained.verdict else {
        return screen.line("  It is none: the request was allowed, and nothing is recorded.");
    };
    let how = match verdict.certainty {
        Certainty::Explicit => "a code or a text says so",
        Certainty::Default => "only the status, or nothing, points there",
    };
    screen.line(format!("  Verdict   {} ({how})", verdict.reason))?;
    let seen = verdict.evidence.as_ref();
    let seen = seen.map(|seen| format!(", which saw {} `{}`", seen.field, seen.matched));
    screen.line(format!(
        "  Rule      {}{}",
        verdict.rule,
        seen.unwrap_or_default()
    ))?;
    let marks = match verdict.scope {
        Scope::Endpoint => "the address rests",
        Scope::Model => "this model rests on this credential",
        Scope::Profile => "the whole credential rests",
        Scope::None => "nothing rests",
    };
    screen.line(format!("  Fault of  {}: {marks}", verdict.owner))?;
    if let Some(reset) = &verdict.reset {
        let at = Timestamp::from_millisecond(reset.at).unwrap_or(now);
        let belief = if reset.credible {
            ""
        } else {
            ", which is not believed"
        };
        screen.line(format!(
            "  Stated    over in {} ({}){belief}",
            left(at, now),
            reset.source
        ))?;
    }
    match &explained.rehearsal {
        Some(rehearsal) => show_rehearsal(rehearsal, names, now, screen),
        None => Ok(()),
    }
}

fn show_rehearsal(
    rehearsal: &DryRun,
    names: &Names,
    now: Timestamp,
    screen: &mut Screen<'_>,
) -> io::Result<()> {
    screen.line("")?;
    let heading = format!("If {} failed like that now", rehearsal.failing.key());
    screen.toned(Style::Strong, heading)?;
    let chain: Vec<String> = rehearsal.chain.iter().map(ModelRef::key).collect();
    screen.line(format!("  Chain     {}", chain.join(" → ")))?;
    let end = match &rehearsal.answered {
        Some(model) => format!("{} answers", model.key()),
        None if rehearsal.surfaced => {
            "the caller gets this failure, because any other model would repeat it".to_owned()
        }
        None => "nobody answers".to_owned(),
    };
    let calls = match rehearsal.calls {
        1 => "1 call".to_owned(),
        count => format!("{count} calls"),
    };
    screen.line(format!("  Outcome   {end}, after {calls}"))?;
    let mut table = Table::new(&["PROFILE", "RESTS", "WHY", "FOR", "TRIED IN", "TIMES"]);
    for opened in &rehearsal.opened {
        let window = &opened.window;
        let models = match &window.model {
            Some(model) => model.to_string(),
            None => "all models".to_owned(),
        };
        table.row([
            opened.profile.as_str().into(),
            models.into(),
            Cell::new(Style::Warn, window.reason.as_str()),
            left(window.until, now).into(),
            window
                .next_probe
                .map(|at| left(at, now))
                .unwrap_or_default()
                .into(),
            window.steps.max(1).into(),
        ]);
    }
    screen.section("What would rest", &table)?;
    for endpoint in &rehearsal.endpoints {
        let time = left(endpoint.until, now);
        screen.line(format!(
            "\n  The address {} of {} would rest for {time}.",
            endpoint.base_url, endpoint.provider
        ))?;
    }
    if let Some(story) = &rehearsal.story {
        screen.line("")?;
        screen.toned(Style::Strong, "Step by step")?;
        for line in names.put_into(&story.to_string()).lines().skip(2) {
            screen.line(line)?;
        }
    }
    Ok(())
}
