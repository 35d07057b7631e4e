//! The least that a gateway on this HTTP library can do: read the request, send it on, and on a refusal send it to the
//! next address. What a request costs here no gateway can undercut.

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use hyper::http::request::Parts;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

use crate::Failure;

type Body = BoxBody<Bytes, hyper::Error>;
type Http = Client<HttpConnector, Full<Bytes>>;

/// Forwards what comes for `/one/...` to the first of `upstreams`, and for `/two/...` to the second and then the first.
pub(crate) async fn serve(upstreams: &[String]) -> Result<(), Failure> {
    let [good, bad] = upstreams else {
        return Err("name the address that answers and the one that refuses".into());
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let mut connector = HttpConnector::new();
    connector.set_nodelay(true);
    let http: Http = Client::builder(TokioExecutor::new()).build(connector);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (http, good, bad) = (http.clone(), good.clone(), bad.clone());
        tokio::spawn(async move {
            let service = service_fn(|request| forward(&http, &good, &bad, request));
            let connection = hyper::server::conn::http1::Builder::new();
            // A client that goes away is no news.
            let _ = connection.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn forward(
    http: &Http,
    good: &str,
    bad: &str,
    request: Request<Incoming>,
) -> Result<Response<Body>, Failure> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let path = parts.uri.path();
    if let Some(rest) = path.strip_prefix("/two") {
        let refused = http.request(onward(&parts, bad, rest, body.clone())?).await?;
        // Read to its end, so that its connection serves the next request.
        refused.into_body().collect().await?;
        return Ok(back(http.request(onward(&parts, good, rest, body)?).await?));
    }
    let rest = path.strip_prefix("/one").unwrap_or(path);
    Ok(back(http.request(onward(&parts, good, rest, body)?).await?))
}

fn onward(parts: &Parts, base: &str, rest: &str, body: Bytes) -> Result<Request<Full<Bytes>>, Failure> {
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = format!("{base}{rest}").parse()?;
    *request.headers_mut() = parts.headers.clone();
    for name in [CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING] {
        request.headers_mut().remove(name);
    }
    Ok(request)
}

fn back(response: Response<Incoming>) -> Response<Body> {
    let mut response = response.map(BodyExt::boxed);
    for name in [CONNECTION, TRANSFER_ENCODING] {
        response.headers_mut().remove(name);
    }
    response
}
