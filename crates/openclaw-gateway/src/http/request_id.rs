//! Gives every request an id and tells it to the client in a header.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::Response;

use super::Served;
use super::headers::{response, set};

/// Names a request and tells the client, whatever becomes of it.
pub(crate) async fn name(served: Served, request: Request, next: Next) -> Response {
    let id = served.process.ids.next_id();
    let mut answer = next.run(request).await;
    set(answer.headers_mut(), response::REQUEST_ID, &id);
    answer
}
