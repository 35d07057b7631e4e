//! `GET /admin/v1/events`: what happens, as it happens, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use tokio::sync::broadcast::error::RecvError;

use crate::http::RequestContext;
use crate::telemetry::events::ENDED;

/// How often a silent stream says that it is there.
const ALIVE: Duration = Duration::from_secs(15);

/// Everything from now on. Who reads too slowly is told how many events it missed.
pub(super) async fn events(served: RequestContext) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let watch = served.process.telemetry.events().watch();
    // The request's configuration is not kept for as long as the stream of events is open.
    drop(served);
    let events = stream::unfold(watch, |mut watch| async move {
        let event = match watch.recv().await {
            Ok(event) if event.kind == ENDED => return None,
            Ok(event) => Event::default().event(event.kind).json_data(&event),
            Err(RecvError::Lagged(missed)) => Event::default()
                .event("missed")
                .json_data(serde_json::json!({ "missed": missed })),
            Err(RecvError::Closed) => return None,
        };
        let event = event.unwrap_or_else(|_| Event::default().comment("unreadable"));
        Some((Ok(event), watch))
    });
    // A comment at once, so that a watcher knows that it watches.
    let hello = stream::iter([Ok(Event::default().comment("watching"))]);
    Sse::new(futures_util::StreamExt::chain(hello, events)).keep_alive(KeepAlive::new().interval(ALIVE))
}
