//! Connections that end under a request, of servers that did not take it and of those that may have.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::super::{Client, ConnectionSettings};
use super::*;

fn settings() -> ConnectionSettings {
    ConnectionSettings::from_environment(HeaderValue::from_static("test"))
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
const SETTINGS: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
const AT_MOST: Duration = Duration::from_secs(10);

/// A server whose connections answer so many requests each and end under the next one; it gives the requests seen.
async fn ends_after(answers: &'static [usize]) -> (Uri, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let task = tokio::spawn(async move {
        let mut seen = 0;
        for answers in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..*answers {
                seen += usize::from(has_request(&mut stream).await);
                stream.write_all(OK).await.unwrap();
            }
            seen += usize::from(has_request(&mut stream).await);
        }
        seen
    });
    (to, task)
}

async fn has_request(stream: &mut TcpStream) -> bool {
    let mut read = Vec::new();
    while !read.ends_with(b"hello") {
        if stream.read_buf(&mut read).await.unwrap() == 0 {
            return false;
        }
    }
    true
}

async fn ask(client: &Client, to: &Uri) -> Result<StatusCode, legacy::Error> {
    let body = Bytes::from_static(b"hello");
    let answer = client
        .send(
            Method::POST,
            to,
            HeaderMap::new(),
            body,
            ResendPolicy::RefusedOrClosed,
        )
        .await?;
    let status = answer.status();
    // Read to its end, so that the connection is kept.
    http_body_util::BodyExt::collect(answer.into_body())
        .await
        .unwrap();
    Ok(status)
}

#[tokio::test]
async fn a_kept_connection_that_ends_when_it_is_used_again_is_no_failure() {
    let (to, server) = ends_after(&[1, 1]).await;
    let client = Client::new(AT_MOST, settings());
    assert_eq!(ask(&client, &to).await.unwrap(), StatusCode::OK);
    assert_eq!(ask(&client, &to).await.unwrap(), StatusCode::OK);
    drop(client);
    assert_eq!(
        server.await.unwrap(),
        3,
        "the second request met both connections"
    );
}

#[tokio::test]
async fn a_new_connection_that_ends_without_an_answer_is_a_failure() {
    let (to, server) = ends_after(&[0]).await;
    let client = Client::new(AT_MOST, settings());
    ask(&client, &to).await.unwrap_err();
    assert_eq!(server.await.unwrap(), 1, "sent once");
}

#[tokio::test]
async fn a_kept_connection_that_ends_later_may_have_brought_the_request() {
    let (to, server) = ends_after(&[1]).await;
    let client = Client::new(AT_MOST, settings());
    ask(&client, &to).await.unwrap();
    let body = Full::new(Bytes::from_static(b"hello"));
    let request = Request::post(&to).body(body).unwrap();
    let error = client.pools.request(request).await.unwrap_err();
    for (when, after, expected) in [
        (ResendPolicy::RefusedOrClosed, 999, true),
        (ResendPolicy::RefusedOrClosed, 1000, false),
        (ResendPolicy::Refused, 0, false),
    ] {
        let allows = when.allows(&error, Duration::from_millis(after));
        assert_eq!(allows, expected, "{when:?} {after}");
    }
    assert_eq!(server.await.unwrap(), 2);
}

#[tokio::test]
async fn an_answer_that_has_begun_is_not_asked_for_again() {
    for began in [
        &b"H"[..],
        b"HTTP/1.1 200 OK\r\ncontent-ty",
        b"HTTP/1.1 102 Processing\r\n\r\n",
    ] {
        for kept in [true, false] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let to = format!("http://{}/", listener.local_addr().unwrap())
                .parse()
                .unwrap();
            let server = tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                if kept {
                    assert!(has_request(&mut stream).await);
                    stream.write_all(OK).await.unwrap();
                }
                assert!(has_request(&mut stream).await);
                stream.write_all(began).await.unwrap();
                // A second connection would not be accepted, and its request would hang.
                listener
            });
            let client = Client::new(AT_MOST, settings());
            if kept {
                ask(&client, &to).await.unwrap();
            }
            let error = ask(&client, &to).await.unwrap_err();
            assert!(answer_had_begun(&error), "{kept} {error:?}");
            drop(server.await.unwrap());
        }
    }
}

#[tokio::test]
async fn an_answer_that_begins_while_the_request_is_still_sent_has_begun() {
    // More than the sockets of both sides hold.
    let body = Bytes::from(vec![b'x'; 32 << 20]);
    for kept in [true, false] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let to: Uri = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let length = body.len();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            if kept {
                assert!(has_request(&mut stream).await);
                stream.write_all(OK).await.unwrap();
            }
            let mut read = stream.read(&mut [0; 1024]).await.unwrap();
            stream.write_all(b"H").await.unwrap();
            let mut piece = vec![0; 1 << 16];
            while read < length {
                read += stream.read(&mut piece).await.unwrap();
            }
            listener
        });
        let client = Client::new(AT_MOST, settings());
        if kept {
            ask(&client, &to).await.unwrap();
        }
        let error = client
            .send(
                Method::POST,
                &to,
                HeaderMap::new(),
                body.clone(),
                ResendPolicy::RefusedOrClosed,
            )
            .await
            .unwrap_err();
        assert!(answer_had_begun(&error), "{kept} {error:?}");
        drop(server.await.unwrap());
    }
}

/// What became of a request to an HTTP/2 server that answers it with this frame.
async fn met(frame: &'static [u8]) -> legacy::Error {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let to: Uri = format!("http://{}/", listener.local_addr().unwrap())
        .parse()
        .unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(SETTINGS).await.unwrap();
        let mut read = Vec::new();
        // What follows the body of the request (an end, an acknowledgement) is read while the peer leaves.
        while !read.windows(5).any(|window| window == b"hello") {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0);
        }
        stream.write_all(frame).await.unwrap();
        // Until the peer leaves.
        while stream.read_buf(&mut read).await.is_ok_and(|read| read > 0) {}
    });
    let client = legacy::Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .http2_only(true)
        .build::<_, Full<Bytes>>(HttpConnector::new());
    let body = Full::new(Bytes::from_static(b"hello"));
    let error = client
        .request(Request::post(to).body(body).unwrap())
        .await
        .unwrap_err();
    drop(client);
    server.await.unwrap();
    error
}

#[tokio::test]
async fn an_http_2_server_says_whether_it_took_a_request() {
    let long = Duration::from_hours(1);
    for (frame, expected) in [
        // RST_STREAM with REFUSED_STREAM, INTERNAL_ERROR and CANCEL.
        (&[0_u8, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 7] as &'static [u8], true),
        (&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 2], false),
        (&[0, 0, 4, 3, 0, 0, 0, 0, 1, 0, 0, 0, 8], false),
        // GOAWAY before the first stream, with NO_ERROR and ENHANCE_YOUR_CALM.
        (&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], true),
        (&[0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 11], false),
    ] {
        let error = met(frame).await;
        for when in [ResendPolicy::Refused, ResendPolicy::RefusedOrClosed] {
            assert_eq!(when.allows(&error, long), expected, "{frame:?}: {error:?}");
        }
    }
}
