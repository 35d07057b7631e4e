//! The service that answers all requests: it gives each a context and an id, checks it, and hands it to its handler.
//!
//! A router and its layers cost something for every request. Nearly all requests are posts to the paths of the wire formats,
//! which are checked by a few headers, so they pass the router by; the checks are the same.

mod content_type;
pub(crate) mod request_origin;
mod token_check;

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use openclaw_wire::WireFormat;
use tower_service::Service;

use super::headers::{response, set};
use super::{ApiError, RequestContext, answer};
use crate::state::GatewayState;

/// Answers all requests of one gateway.
#[derive(Clone)]
pub struct GatewayService {
    state: Arc<GatewayState>,
    routes: Router,
}

impl GatewayService {
    /// Posts in a wire format are answered here, all other requests by `routes`.
    pub(crate) fn new(state: Arc<GatewayState>, routes: Router) -> Self {
        Self { state, routes }
    }
}

/// The beginning of the paths of requests in a wire format; the rest is the path of the format.
const PREFIX: &str = "/v1/";

/// The paths of requests in a wire format.
pub(crate) fn format_paths() -> impl Iterator<Item = String> {
    WireFormat::ALL
        .iter()
        .map(|format| format!("{PREFIX}{}", format.path()))
}

fn wire_of(request: &Request<Body>) -> Option<WireFormat> {
    let wire = WireFormat::of_path(request.uri().path().strip_prefix(PREFIX)?)?;
    (request.method() == Method::POST).then_some(wire)
}

impl Service<Request<Body>> for GatewayService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let context = RequestContext::now(&self.state);
        let id = context.process.ids.next_id();
        if let Some(wire) = wire_of(&request) {
            return Box::pin(async move {
                let response = if let Some(refusal) = refusal(&context, &request) {
                    refusal
                } else {
                    let (head, body) = request.into_parts();
                    answer::handle(wire, &context, &id, &head.headers, body).await
                };
                Ok(with_id(response, &id))
            });
        }
        request.extensions_mut().insert(context);
        // A router is always ready.
        let answering = self.routes.call(request);
        Box::pin(async move { Ok(with_id(answering.await?, &id)) })
    }
}

/// Tells the client the id of its request, whatever became of it.
fn with_id(mut response: Response, id: &str) -> Response {
    set(response.headers_mut(), response::REQUEST_ID, id);
    response
}

/// Lets only requests pass that every check allows.
pub(crate) async fn require_allowed(context: RequestContext, request: Request<Body>, next: Next) -> Response {
    match refusal(&context, &request) {
        Some(refusal) => refusal,
        None => next.run(request).await,
    }
}

/// Lets only requests pass that no page of another host can have made.
pub(crate) async fn require_local(context: RequestContext, request: Request<Body>, next: Next) -> Response {
    match request_origin::refusal(&context, &request) {
        Some(error) => error.for_path(request.uri().path()).into_response(),
        None => next.run(request).await,
    }
}

/// Refuses the preflight of a browser: pages of other origins may not send requests.
pub(crate) async fn refuse_preflight(request: Request<Body>, next: Next) -> Response {
    match request_origin::preflight_refusal(&request) {
        Some(error) => error.for_path(request.uri().path()).into_response(),
        None => next.run(request).await,
    }
}

/// The answer to a request that a check refuses, in the shape that clients of its path read.
fn refusal(context: &RequestContext, request: &Request<Body>) -> Option<Response> {
    let error: ApiError = request_origin::refusal(context, request)
        .or_else(|| token_check::refusal(context, request))
        .or_else(|| content_type::refusal(request))?;
    Some(error.for_path(request.uri().path()).into_response())
}
