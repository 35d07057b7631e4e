//! The page at `/`: what the gateway does, for people. It is rendered here, works without scripts where no token is
//! asked for, and asks for nothing beyond this address.

mod agents;
mod html;
mod runs;

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use openclaw_classify::error_chain;
use openclaw_history::RunFilter;
use openclaw_runner::{Clock, SystemClock};

use super::decisions::{UnreadHistory, runs_with_details};
use super::status::{self, Status};
use crate::http::RequestContext;
use crate::report::ago;
use crate::state::GatewayState;
use html::Html;
use runs::Run;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// Nothing but what this gateway sends itself, and no page of another may frame it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
const NO_SNIFFING: HeaderName = HeaderName::from_static("x-content-type-options");
const REFERRER: HeaderName = HeaderName::from_static("referrer-policy");

/// How many of the last runs are shown.
const RUNS: usize = 40;

/// The page. Where a token is asked for it holds nothing yet but the question for it.
pub(super) async fn page(State(current): State<Arc<GatewayState>>, served: RequestContext) -> Response {
    let (asks, live) = if served.generation.token.is_some() {
        let without_script = Html::default().raw(
            "<noscript><p class=\"note bad\">This gateway asks for its token, and the page can only ask for it with \
             JavaScript. Without, use <code>openclaw-gateway status</code>.</p></noscript>",
        );
        ("token", without_script)
    } else {
        ("nothing", live(&current, &served).await)
    };
    let body = Html::default()
        .raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
        .raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
        .raw("<meta name=\"color-scheme\" content=\"light dark\">\n<title>Model failover</title>\n")
        .raw("<link rel=\"stylesheet\" href=\"/page.css\">\n<script src=\"/page.js\" defer></script>\n</head>\n<body data-asks=\"")
        .raw(asks)
        .raw("\">\n<form id=\"ask\" hidden><label for=\"token\">The gateway’s token</label>")
        .raw("<input id=\"token\" type=\"password\" autocomplete=\"off\" spellcheck=\"false\"><button>Show</button>")
        .raw("<p id=\"ask-note\" role=\"alert\"></p></form>\n<main id=\"live\">")
        .nested(&live)
        .raw("</main>\n<footer><span id=\"pulse\" role=\"status\">Reload the page to see what is new.</span> · <a href=\"/admin/v1/status\">status as JSON</a></footer>\n</body>\n</html>\n");
    of_kind("text/html; charset=utf-8", body.into_text())
}

/// What changes of it.
pub(super) async fn fragment(State(current): State<Arc<GatewayState>>, served: RequestContext) -> Response {
    let live = live(&current, &served).await;
    of_kind("text/html; charset=utf-8", live.into_text())
}

/// Its looks.
pub(super) async fn style() -> Response {
    of_kind("text/css; charset=utf-8", STYLE.to_owned())
}

/// What makes it live.
pub(super) async fn script() -> Response {
    of_kind("text/javascript; charset=utf-8", SCRIPT.to_owned())
}

fn of_kind(kind: &'static str, body: String) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (NO_SNIFFING, HeaderValue::from_static("nosniff")),
        (REFERRER, HeaderValue::from_static("no-referrer")),
    ];
    (headers, body).into_response()
}

async fn live(current: &GatewayState, served: &RequestContext) -> Html {
    let status = status::of(current, served).await;
    let filter = RunFilter {
        latest: Some(RUNS),
        ..RunFilter::default()
    };
    let runs = runs_with_details(served, filter, |run| !runs::is_plain(run)).await;
    let runs = runs.map(|runs| {
        let runs = runs.into_iter();
        runs.map(|(run, told)| Run {
            run,
            text: told.map(|told| told.text),
        })
        .collect()
    });
    rendered(&status, runs, SystemClock.now())
}

fn rendered(status: &Status, runs: Result<Vec<Run>, UnreadHistory>, now: Timestamp) -> Html {
    let configuration = &status.configuration;
    let mut page = Html::default()
        .raw("<header><h1>Model failover</h1><p class=\"facts\">")
        .text(&format!(
            "{} in flight · configuration {}, read {}",
            status.in_flight,
            configuration.generation,
            Timestamp::from_millisecond(configuration.since)
                .map(|since| ago(since, now))
                .unwrap_or_default()
        ))
        .raw("</p></header>");
    if let Some(refused) = &configuration.refused {
        page = page
            .raw("<p class=\"note bad\"><strong>The last reload was refused.</strong> ")
            .text(&refused.problem)
            .raw("</p>");
    }
    for unread in &status.report.unread {
        page = page
            .raw("<p class=\"note bad\"><strong>Agent ")
            .text(unread.id.as_str())
            .raw("</strong> cannot be shown: ")
            .text(&unread.problem)
            .raw(".</p>");
    }
    // The agent that most people have, what happened, and then the others.
    let decisions = match runs {
        Ok(runs) => runs::decisions(&runs, now),
        Err(error) => Html::default()
            .raw("<p class=\"note bad\"><strong>The last decisions</strong> cannot be shown: ")
            .text(&error_chain::line(&error))
            .raw(".</p>"),
    };
    let (first, others): (Vec<_>, Vec<_>) = status.report.agents.iter().partition(|agent| agent.default);
    for agent in first {
        page = page.nested(&agents::agent(agent, now));
    }
    page = page.nested(&decisions);
    for agent in others {
        page = page.nested(&agents::agent(agent, now));
    }
    page
}
