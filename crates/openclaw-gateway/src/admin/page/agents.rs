//! One agent: its chain as a picture, its credentials with their windows counting down, its sessions on a fallback.

use jiff::Timestamp;
use openclaw_auth_store::Eligibility;
use openclaw_classify::Reason;

use super::html::Html;
use crate::report::{
    AgentReport, CandidateReport, CandidateState, Problem, ProfileReport, SessionReport, WindowReport,
};
use crate::report::{ago, left};

/// The section of an agent.
pub(super) fn agent(agent: &AgentReport, now: Timestamp) -> Html {
    let mut html = Html::default()
        .raw("<section class=\"agent\" data-agent=\"")
        .text(agent.id.as_str())
        .raw("\"><h2>Agent ")
        .text(agent.id.as_str());
    if agent.default {
        html = html.raw(" <small>default</small>");
    }
    html = html.raw("</h2>").nested(&chain(agent, now));
    for trouble in &agent.troubles {
        // Sessions and models have places of their own on this page.
        if let Some(text) = trouble_text(&trouble.trouble) {
            html = html.raw("<p class=\"note bad\">").text(&text).raw("</p>");
        }
    }
    html.nested(&profiles(agent, now))
        .nested(&sessions(&agent.on_fallback.sessions, agent.session_count, now))
        .raw("</section>")
}

/// The models in the order in which they are asked; the first that would be asked now stands out.
fn chain(agent: &AgentReport, now: Timestamp) -> Html {
    let answers = agent.chain.first_asked().map(|candidate| &candidate.model);
    let mut html = Html::default().raw("<ol class=\"chain\">");
    for candidate in &agent.chain.candidates {
        html = html.raw("<li class=\"").raw(class(candidate.state));
        if Some(&candidate.model) == answers {
            html = html.raw(" answers");
        }
        html = html
            .raw("\"><span class=\"provider\">")
            .text(candidate.model.provider().as_str())
            .raw("</span><strong>")
            .text(candidate.model.model().as_str())
            .raw("</strong><span class=\"state\">")
            .nested(&state(candidate, Some(&candidate.model) == answers, now))
            .raw("</span></li>");
    }
    html.raw("</ol>")
}

fn class(state: CandidateState) -> &'static str {
    match state {
        CandidateState::Ready => "ready",
        CandidateState::Probe => "probe",
        CandidateState::Resting => "resting",
        CandidateState::NoCredential | CandidateState::NoEndpoint | CandidateState::UnusableCredential => {
            "missing"
        }
    }
}

fn state(candidate: &CandidateReport, answers: bool, now: Timestamp) -> Html {
    let html = Html::default();
    let rests = |html: Html| match candidate.free_at {
        Some(until) => html.raw(" · free ").nested(&countdown(until, "in ", now)),
        None => html,
    };
    match candidate.state {
        CandidateState::Ready if answers => html.raw("answers now"),
        CandidateState::Ready => html.raw("ready"),
        CandidateState::Probe => rests(html.text(&why(candidate.reason)).raw(" · tried all the same")),
        CandidateState::Resting => rests(html.text(&why(candidate.reason))),
        CandidateState::NoCredential => html.raw("no credential"),
        CandidateState::NoEndpoint => html.raw("no address"),
        CandidateState::UnusableCredential => html.raw("no usable credential"),
    }
}

fn why(reason: Option<Reason>) -> String {
    reason.map_or_else(|| "rests".to_owned(), words)
}

/// A reason as people say it.
pub(super) fn words(reason: Reason) -> String {
    reason.as_str().replace('_', " ")
}

/// A time that the page counts down, with a word before it while it is to come.
fn countdown(until: Timestamp, before: &'static str, now: Timestamp) -> Html {
    let html = Html::default()
        .raw("<time data-until=\"")
        .number(until.as_millisecond())
        .raw("\" data-before=\"")
        .raw(before)
        .raw("\" title=\"")
        .text(&until.to_string())
        .raw("\">");
    let html = if until > now { html.raw(before) } else { html };
    html.text(&left(until, now)).raw("</time>")
}

fn profiles(agent: &AgentReport, now: Timestamp) -> Html {
    // Local servers that no setting mentions are left out.
    let profiles = agent.credentials.profiles.iter();
    let told: Vec<&ProfileReport> = profiles.filter(|profile| !profile.is_idle_local()).collect();
    if told.is_empty() {
        return Html::default().raw("<h3>Credentials</h3><p class=\"none\">none</p>");
    }
    let mut table = Html::default().raw(
        "<table><thead><tr><th>Credential</th><th>State</th><th class=\"wide\">Rests</th><th>Last used</th><th></th></tr>\
         </thead><tbody>",
    );
    for profile in &told {
        table = table.nested(&self::profile(profile, now));
    }
    let table = table.raw("</tbody></table>");
    let is_quiet = |profile: &&ProfileReport| profile.windows.is_empty() && profile.eligibility.is_ok();
    if !told.iter().all(is_quiet) {
        return Html::default().raw("<h3>Credentials</h3>").nested(&table);
    }
    Html::default()
        .raw("<details class=\"quiet\" data-id=\"credentials of ")
        .text(agent.id.as_str())
        .raw("\"><summary>Credentials <small>")
        .text(&told.len().to_string())
        .raw(", all ready</small></summary>")
        .nested(&table)
        .raw("</details>")
}

fn profile(profile: &ProfileReport, now: Timestamp) -> Html {
    let (class, state) = match (profile.windows.is_empty(), profile.eligibility) {
        (false, _) => ("resting", "rests"),
        (true, Eligibility::Ok) => ("ready", "ready"),
        (true, other) => ("missing", other.as_str()),
    };
    let mut html = Html::default()
        .raw("<tr><td><code>")
        .text(profile.id.as_str())
        .raw("</code> <small>")
        .text(&profile.kind.replace('_', " "))
        .raw("</small></td><td><span class=\"dot ")
        .raw(class)
        .raw("\"></span>")
        .text(&state.replace('_', " "))
        .raw("</td><td>");
    for window in profile.telling_windows() {
        html = html.nested(&self::window(window, now));
    }
    html = html
        .raw("</td><td>")
        .text(&profile.last_used.map(|at| ago(at, now)).unwrap_or_default())
        .raw("</td><td>");
    if !profile.windows.is_empty() {
        html = html
            .raw("<button class=\"act\" data-clear=\"")
            .text(profile.id.as_str())
            .raw("\" hidden>Set free</button>");
    }
    html.raw("</td></tr>")
}

/// A window as what is left of it.
fn window(window: &WindowReport, now: Timestamp) -> Html {
    let whole = window
        .until
        .as_millisecond()
        .saturating_sub(window.since.as_millisecond())
        .max(1);
    let rest = window
        .until
        .as_millisecond()
        .saturating_sub(now.as_millisecond())
        .clamp(0, whole);
    let html = Html::default()
        .raw("<div class=\"window\"><span>")
        .text(&words(window.reason))
        .raw(" · ")
        .text(window.model.as_ref().map_or("all models", |model| model.as_str()))
        .raw("</span><svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">")
        .raw(
            "<rect class=\"track\" width=\"1000\" height=\"10\"/><rect class=\"left\" height=\"10\" width=\"",
        )
        .number(rest.saturating_mul(1_000) / whole)
        .raw("\" data-since=\"")
        .number(window.since.as_millisecond())
        .raw("\" data-end=\"")
        .number(window.until.as_millisecond())
        .raw("\"/></svg>")
        .nested(&countdown(window.until, "", now));
    match window.next_probe.filter(|at| *at < window.until) {
        Some(probe) => html
            .raw("<small>tried ")
            .nested(&countdown(probe, "in ", now))
            .raw("</small></div>"),
        None => html.raw("</div>"),
    }
}

fn sessions(sessions: &[SessionReport], count: usize, now: Timestamp) -> Html {
    let mut html = Html::default()
        .raw("<h3>Sessions on a fallback <small>of ")
        .text(&count.to_string())
        .raw("</small></h3>");
    if sessions.is_empty() {
        return html.raw("<p class=\"none\">none: every session is answered by its own model</p>");
    }
    html = html.raw("<table><thead><tr><th>Session</th><th>Selected</th><th>Answers</th><th>Why</th><th>Since</th></tr></thead><tbody>");
    for session in sessions {
        let Some(fallback) = &session.fallback else {
            continue;
        };
        html = html
            .raw("<tr><td><code>")
            .text(session.key.as_str())
            .raw("</code></td><td>")
            .text(&session.selected.key())
            .raw("</td><td>")
            .text(&fallback.model.key())
            .raw("</td><td>")
            .text(fallback.reason.as_deref().unwrap_or_default())
            .raw("</td><td>")
            .text(&fallback.since.map(|since| ago(since, now)).unwrap_or_default())
            .raw("</td></tr>");
    }
    html.raw("</tbody></table>")
}

/// What needs the operator and shows nowhere else.
fn trouble_text(trouble: &Problem) -> Option<String> {
    match trouble {
        Problem::NothingCanAnswer { .. } => Some("No model of the chain can be asked now.".to_owned()),
        Problem::NeedsAPerson { profile, reason } => Some(format!(
            "{profile} waits for a person ({}): mend the account or the key, then set it free.",
            words(*reason)
        )),
        Problem::Unusable {
            profile,
            problem: Some(problem),
            ..
        } => Some(format!("{profile} cannot be used: {problem}.")),
        Problem::Unusable {
            profile, eligibility, ..
        } => Some(format!(
            "{profile} is stored and cannot be used ({}).",
            eligibility.as_str().replace('_', " ")
        )),
        Problem::OlderCredentials(older) => Some(format!("{older}.")),
        Problem::UnreadSessions { problem } => Some(format!("The sessions cannot be shown: {problem}.")),
        Problem::OnFallback { .. } | Problem::PrimaryUnavailable { .. } => None,
    }
}
