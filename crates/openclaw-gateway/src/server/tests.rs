//! Half requests and the end of serving, over real sockets with short limits.

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use bytes::Bytes;
use hyper::body::Body as _;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use super::*;

const LONG: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_millis(20);

/// Waits for nothing to end.
const PATIENT: Server = Server {
    head: LONG,
    body: LONG,
    whole_body: LONG,
    take: LONG,
    drain: LONG,
    flush: SHORT,
};

/// A server with a path that answers, one that reads its body, and one that answers when it is told to.
struct Running {
    address: String,
    arrived: Arc<Notify>,
    answer: Arc<Notify>,
    stop: oneshot::Sender<()>,
    stop_now: oneshot::Sender<()>,
    serving: JoinHandle<Drained>,
}

async fn start(server: Server) -> Running {
    start_for(usize::MAX, server).await
}

/// The same for at most so many connections.
async fn start_for(most: usize, server: Server) -> Running {
    let (arrived, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let late = {
        let (arrived, answer) = (Arc::clone(&arrived), Arc::clone(&answer));
        move |ConnectInfo(peer): ConnectInfo<SocketAddr>| async move {
            assert!(peer.ip().is_loopback(), "peers are told apart by address");
            arrived.notify_one();
            answer.notified().await;
            "late"
        }
    };
    let read = {
        let arrived = Arc::clone(&arrived);
        move |body: Body| async move {
            arrived.notify_one();
            match axum::body::to_bytes(body, 100).await {
                Ok(body) => format!("read {}", body.len()),
                Err(error) => format!("{:?}", BodyFault::behind(&error)),
            }
        }
    };
    let router = Router::new()
        .route("/", get(async || "here"))
        .route(
            "/peer",
            get(async |ConnectInfo(peer): ConnectInfo<SocketAddr>| peer.ip().to_string()),
        )
        .route(
            "/empty",
            post(async |body: Body| format!("empty: {}", body.is_end_stream())),
        )
        .route("/endless", get(async || Body::from_stream(endless())))
        .route("/late", get(late))
        .route("/read", post(read));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let ((stop, stopped), (stop_now, stopped_now)) = (oneshot::channel(), oneshot::channel());
    let told = |told: oneshot::Receiver<()>| async {
        if told.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let serving = async move {
        let workers = WorkerRuntimes::one();
        server
            .serve_until(
                &workers,
                listener,
                || most,
                router,
                told(stopped),
                told(stopped_now),
            )
            .await
    };
    Running {
        address,
        arrived,
        answer,
        stop,
        stop_now,
        serving: tokio::spawn(serving),
    }
}

/// More than any buffer holds.
fn endless() -> impl futures_util::Stream<Item = Result<Bytes, Infallible>> {
    futures_util::stream::repeat_with(|| Ok(Bytes::from_static(&[b'x'; 16 * 1024])))
}

impl Running {
    async fn send(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }
}

/// Everything that comes until the peer hangs up.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    text
}

const WHOLE: &str = "GET / HTTP/1.1\r\nhost: h\r\n\r\n";
const HALF_HEAD: &str = "GET / HTTP/1.1\r\nhost: ";
const HALF_BODY: &str = "POST /read HTTP/1.1\r\nhost: h\r\ncontent-length: 10\r\n\r\nhalf";

/// A connection whose first request was answered.
async fn used(running: &Running) -> TcpStream {
    let mut stream = running.send(WHOLE).await;
    let mut answer = [0; 512];
    let mut length = 0;
    while !answer[..length].ends_with(b"here") {
        length += stream.read(&mut answer[length..]).await.unwrap();
    }
    stream
}

#[tokio::test]
async fn connections_beyond_the_limit_are_told_to_come_back() {
    let running = start_for(2, PATIENT).await;
    let (first, silent) = (used(&running).await, running.send("").await);
    let turned_away = rest(running.send("").await).await;
    assert!(turned_away.starts_with("HTTP/1.1 503 "), "{turned_away}");
    let (head, body) = turned_away.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("retry-after: 1") && head.contains(&format!("content-length: {}", body.len())));
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(
        (&body["type"], &body["error"]["code"]),
        (&"error".into(), &"too_many_connections".into())
    );
    drop(silent);
    loop {
        let asked = "GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
        if rest(running.send(asked).await).await.ends_with("here") {
            break;
        }
        tokio::task::yield_now().await;
    }
    drop(first);
}

#[tokio::test]
async fn who_closes_its_half_of_a_connection_has_left_unless_the_answer_is_there() {
    let running = start(PATIENT).await;
    let mut stream = running.send("GET /late HTTP/1.1\r\nhost: h\r\n\r\n").await;
    running.arrived.notified().await;
    stream.shutdown().await.unwrap();
    assert_eq!(rest(stream).await, "");
    let mut stream = running.send(WHOLE).await;
    stream.shutdown().await.unwrap();
    assert!(rest(stream).await.ends_with("here"));
}

#[tokio::test]
async fn handlers_know_who_asks() {
    let running = start(PATIENT).await;
    let asked = "GET /peer HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n";
    let answer = rest(running.send(asked).await).await;
    assert!(answer.ends_with("\r\n\r\n127.0.0.1"), "{answer}");
}

#[tokio::test]
async fn half_a_head_is_hung_up_on() {
    let running = start(Server {
        head: SHORT,
        ..PATIENT
    })
    .await;
    assert_eq!(rest(running.send(HALF_HEAD).await).await, "");
    let mut again = used(&running).await;
    again.write_all(HALF_HEAD.as_bytes()).await.unwrap();
    assert_eq!(rest(again).await, "");
}

#[tokio::test]
async fn half_a_body_is_answered_with_its_fault() {
    let running = start(Server {
        body: SHORT,
        ..PATIENT
    })
    .await;
    let answer = rest(running.send(HALF_BODY).await).await;
    assert!(answer.ends_with("Some(Late)"), "{answer}");
}

#[tokio::test]
async fn a_body_that_trickles_is_cut_off_in_the_end() {
    let running = start(Server {
        whole_body: SHORT,
        ..PATIENT
    })
    .await;
    let mut stream = running
        .send("POST /read HTTP/1.1\r\nhost: h\r\ncontent-length: 100000\r\n\r\n")
        .await;
    let (mut answers, mut asks) = stream.split();
    let trickle = async {
        // It stops when the server hangs up, long before the body is whole.
        while asks.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let answer = async {
        let mut text = String::new();
        let mut piece = [0; 512];
        while !text.contains("Some(Late)") {
            let length = answers.read(&mut piece).await.unwrap();
            assert!(length > 0, "{text}");
            text.push_str(std::str::from_utf8(&piece[..length]).unwrap());
        }
    };
    // What was answered can be read also after the server hung up.
    tokio::join!(trickle, answer);
}

#[tokio::test]
async fn who_takes_nothing_of_an_answer_is_hung_up_on() {
    let running = start(Server {
        take: SHORT,
        ..PATIENT
    })
    .await;
    let mut stream = running.send("GET /endless HTTP/1.1\r\nhost: h\r\n\r\n").await;
    assert!(stream.read(&mut [0; 512]).await.unwrap() > 0);
    running.stop.send(()).unwrap();
    // Nothing else ends an answer that goes on.
    assert_eq!(running.serving.await.unwrap(), Drained::Completely);
    drop(stream);
}

#[tokio::test]
async fn a_whole_body_arrives_as_it_is() {
    let running = start(PATIENT).await;
    let text = "POST /read HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody";
    let answer = rest(running.send(text).await).await;
    assert!(answer.ends_with("read 4"), "{answer}");
    assert!(answer.contains("content-length: 6"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_empty_says_so_before_it_is_read() {
    let running = start(PATIENT).await;
    for (length, body, expected) in [
        ("", "", "empty: true"),
        ("content-length: 0\r\n", "", "empty: true"),
        ("content-length: 4\r\n", "body", "empty: false"),
    ] {
        let text = format!("POST /empty HTTP/1.1\r\nhost: h\r\nconnection: close\r\n{length}\r\n{body}");
        let answer = rest(running.send(&text).await).await;
        assert!(answer.ends_with(expected), "{length:?}: {answer}");
    }
}

#[tokio::test]
async fn answers_in_flight_are_finished() {
    let running = start(PATIENT).await;
    let stream = running.send("GET /late HTTP/1.1\r\nhost: h\r\n\r\n").await;
    running.arrived.notified().await;
    running.stop.send(()).unwrap();
    running.answer.notify_one();
    assert!(rest(stream).await.ends_with("late"));
    assert_eq!(running.serving.await.unwrap(), Drained::Completely);
}

#[tokio::test]
async fn draining_has_a_limit_and_a_second_signal_ends_it() {
    for (drain, second) in [(SHORT, false), (LONG, true)] {
        let running = start(Server { drain, ..PATIENT }).await;
        let stream = running.send("GET /late HTTP/1.1\r\nhost: h\r\n\r\n").await;
        running.arrived.notified().await;
        running.stop.send(()).unwrap();
        let _held = if second {
            running.stop_now.send(()).unwrap();
            None
        } else {
            Some(running.stop_now)
        };
        assert_eq!(running.serving.await.unwrap(), Drained::Partly);
        assert_eq!(rest(stream).await, "");
    }
}

#[tokio::test]
async fn half_a_request_and_an_idle_connection_hold_nothing_up() {
    let running = start(PATIENT).await;
    let idle = used(&running).await;
    let mut half_head = used(&running).await;
    half_head.write_all(HALF_HEAD.as_bytes()).await.unwrap();
    let half_body = running.send(HALF_BODY).await;
    running.arrived.notified().await;
    running.stop.send(()).unwrap();
    assert_eq!(running.serving.await.unwrap(), Drained::Completely);
    assert_eq!(rest(idle).await, "");
    let answer = rest(half_body).await;
    assert!(answer.ends_with("Some(Stopping)"), "{answer}");
    drop(half_head);
}
