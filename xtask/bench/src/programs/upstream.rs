//! Stands for the providers: answers at once, in the way that the first part of the path says.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::Failure;

/// How many chunks an answer in pieces has.
const CHUNKS: usize = 20;

type Body = BoxBody<Bytes, Infallible>;

const ANSWER: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":"The quick brown fox jumps over the lazy dog, and everybody who was asked about it afterwards agreed that it had been a fine jump."},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":28,"total_tokens":40}}"#;
const LIMITED: &str = r#"{"error":{"message":"Rate limit reached for requests.","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#;

/// Serves until the process ends; says its address first.
pub(crate) async fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection = hyper::server::conn::http1::Builder::new();
            // A client that goes away is no news.
            let _ = connection
                .serve_connection(TokioIo::new(stream), service_fn(answer))
                .await;
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await?.to_bytes();
    let mode = path.split('/').nth(1).unwrap_or_default();
    if mode == "429" {
        return Ok(json(StatusCode::TOO_MANY_REQUESTS, LIMITED));
    }
    if let Some(millis) = mode.strip_prefix("delay") {
        tokio::time::sleep(Duration::from_millis(millis.parse().unwrap_or(200))).await;
    }
    let streamed = body.windows(13).any(|bytes| bytes == b"\"stream\":true");
    Ok(if streamed {
        pieces()
    } else {
        json(StatusCode::OK, ANSWER)
    })
}

fn json(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        hyper::header::CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("application/json"),
    );
    response
}

fn pieces() -> Response<Body> {
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Frame<Bytes>, Infallible>>(1);
    tokio::spawn(async move {
        for chunk in 0..CHUNKS {
            let event = format!(
                "data: {{\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"word {chunk} \"}},\"finish_reason\":null}}]}}\n\n"
            );
            if sender.send(Ok(Frame::data(Bytes::from(event)))).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
        let end = "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        // The client is gone when this fails.
        let _ = sender
            .send(Ok(Frame::data(Bytes::from_static(end.as_bytes()))))
            .await;
    });
    let frames = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let frame = receiver.recv().await?;
        Some((frame, receiver))
    });
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(frames)));
    let headers = response.headers_mut();
    headers.insert(
        hyper::header::CONTENT_TYPE,
        hyper::header::HeaderValue::from_static("text/event-stream"),
    );
    response
}
