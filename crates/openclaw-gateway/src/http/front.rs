//! Where every request arrives: those that are passed on go straight to work, the others to the routes.
//!
//! A router and its layers are made for any request. Nearly all are posts to a handful of paths, and what has to be
//! looked at before they are answered is a few headers.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use axum::response::Response;
use openclaw_wire::WireFormat;
use tower_service::Service;

use super::headers::{response, set};
use super::{Served, answer, local, token};
use crate::state::GatewayState;

/// Answers all requests of one gateway.
#[derive(Clone)]
pub struct Front {
    current: Arc<GatewayState>,
    routes: Router,
}

impl Front {
    pub(crate) fn new(current: Arc<GatewayState>, routes: Router) -> Self {
        Self { current, routes }
    }
}

/// What the paths of requests begin with that are passed on; the rest is the path of their format.
const PREFIX: &str = "/v1/";

/// The paths of requests that are passed on, each in its format.
pub(crate) fn passed_on() -> impl Iterator<Item = String> {
    WireFormat::ALL
        .iter()
        .map(|format| format!("{PREFIX}{}", format.path()))
}

fn wire_of(request: &Request<Body>) -> Option<WireFormat> {
    let wire = WireFormat::of_path(request.uri().path().strip_prefix(PREFIX)?)?;
    (request.method() == Method::POST).then_some(wire)
}

impl Service<Request<Body>> for Front {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Some(wire) = wire_of(&request) else {
            // Always ready, and as cheap to clone as this.
            return Box::pin(self.routes.call(request));
        };
        let served = Served::now(&self.current);
        Box::pin(async move {
            let id = served.process.ids.next_id();
            let mut answer = pass_on(wire, served, &id, request).await;
            set(answer.headers_mut(), response::REQUEST_ID, &id);
            Ok(answer)
        })
    }
}

async fn pass_on(wire: WireFormat, served: Served, id: &str, request: Request<Body>) -> Response {
    let refusal = local::refusal(&served, &request)
        .or_else(|| token::refusal(&served, &request))
        .or_else(|| local::refusal_of_kind(&request));
    if let Some(refusal) = refusal {
        return refusal;
    }
    let (head, body) = request.into_parts();
    answer::handle(wire, &served, id, &head.headers, body).await
}
