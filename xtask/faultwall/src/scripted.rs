//! An upstream that does exactly what its script says, one connection per request: for tests that state each answer.

#![expect(clippy::expect_used, reason = "a test double says what is wrong by panicking")]

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What the upstream does with one request.
#[derive(Debug, Clone)]
pub struct Script(Vec<Act>);

#[derive(Debug, Clone)]
enum Act {
    Send(Vec<u8>),
    /// Keeps the connection open until the peer leaves.
    Hang,
    Reset,
    /// Waits until [`Upstream::go_on`].
    Wait,
}

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Request line and headers.
    pub head: String,
    /// Body.
    pub body: String,
}

impl Seen {
    /// The value of a header, by lowercase name.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines
            .find(|(header, _)| header.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
    }
}

impl Script {
    /// A whole answer.
    pub fn reply(status: u16, headers: &[(&str, &str)], body: &str) -> Self {
        Self(vec![Act::Send(response(status, headers, body))])
    }

    /// A whole JSON answer.
    pub fn json(status: u16, body: &str) -> Self {
        Self::reply(status, &[("content-type", "application/json")], body)
    }

    /// A stream of `chunks` with a proper end.
    pub fn stream(chunks: &[&str]) -> Self {
        let mut script = Self::cut(chunks);
        script.0.push(Act::Send(b"0\r\n\r\n".to_vec()));
        script
    }

    /// A stream of `chunks` that breaks off.
    pub fn cut(chunks: &[&str]) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let mut acts = vec![Act::Send(head.as_bytes().to_vec())];
        acts.extend(
            chunks
                .iter()
                .map(|chunk| Act::Send(format!("{:x}\r\n{chunk}\r\n", chunk.len()).into_bytes())),
        );
        Self(acts)
    }

    /// A stream whose end is only the end of the connection, so that a break looks like an end.
    pub fn unframed(chunks: &[&str]) -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let mut acts = vec![Act::Send(head.as_bytes().to_vec())];
        acts.extend(chunks.iter().map(|chunk| Act::Send(chunk.as_bytes().to_vec())));
        Self(acts)
    }

    /// Bytes as they are.
    pub fn raw(bytes: &[u8]) -> Self {
        Self(vec![Act::Send(bytes.to_vec())])
    }

    /// No answer; the connection stays open.
    pub fn silence() -> Self {
        Self(vec![Act::Hang])
    }

    /// A TCP reset instead of an answer.
    pub fn reset() -> Self {
        Self(vec![Act::Reset])
    }

    /// The same, once the test says so.
    #[must_use]
    pub fn after_a_while(mut self) -> Self {
        self.0.insert(0, Act::Wait);
        self
    }

    /// Keeps the connection open at the end of the script.
    #[must_use]
    pub fn then_silence(mut self) -> Self {
        self.0.push(Act::Hang);
        self
    }

    /// Resets the connection at the end of the script.
    #[must_use]
    pub fn then_reset(mut self) -> Self {
        self.0.push(Act::Reset);
        self
    }
}

fn response(status: u16, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let lines: Vec<String> = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let (length, lines) = (body.len(), lines.concat());
    format!(
        "HTTP/1.1 {status} Scripted\r\ncontent-length: {length}\r\nconnection: close\r\n{lines}\r\n{body}"
    )
    .into_bytes()
}

/// What the peers of an upstream did.
#[derive(Debug, Default)]
struct Peers {
    seen: Mutex<Vec<Seen>>,
    asked: Notify,
    left: Notify,
    on: Notify,
}

/// The running upstream; it stops when dropped.
#[derive(Debug)]
pub struct Upstream {
    address: SocketAddr,
    falls_silent: bool,
    peers: Arc<Peers>,
    task: JoinHandle<()>,
}

impl Upstream {
    /// Starts on a free port of the loopback interface. Each request takes the next script; the last one repeats.
    pub async fn start(scripts: impl IntoIterator<Item = Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let peers = Arc::new(Peers::default());
        let scripts: Vec<Script> = scripts.into_iter().collect();
        let falls_silent = scripts
            .iter()
            .any(|Script(acts)| acts.iter().any(|act| matches!(act, Act::Hang)));
        let of_this = Arc::clone(&peers);
        let task = tokio::spawn(async move {
            let mut scripts = scripts.into_iter().peekable();
            while let Ok((stream, _)) = listener.accept().await {
                let script = scripts.next().expect("the last script repeats");
                if scripts.peek().is_none() {
                    scripts = vec![script.clone()].into_iter().peekable();
                }
                tokio::spawn(perform(stream, script, Arc::clone(&of_this)));
            }
        });
        Self {
            address,
            falls_silent,
            peers,
            task,
        }
    }

    /// The base URL to configure.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Whether a script keeps its peer waiting, so that only short waits end the test.
    pub fn falls_silent(&self) -> bool {
        self.falls_silent
    }

    /// Stops and returns when connections are refused.
    pub async fn stop(mut self) {
        self.task.abort();
        // Cancelled, which is what was asked for.
        let _ = (&mut self.task).await;
    }

    /// Waits for a request that nobody waited for yet.
    pub async fn asked(&self) {
        self.peers.asked.notified().await;
    }

    /// Lets a script go on that waits.
    pub fn go_on(&self) {
        self.peers.on.notify_one();
    }

    /// Waits until a peer left during a silence.
    pub async fn left_alone(&self) {
        self.peers.left.notified().await;
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<Seen> {
        let seen = self.peers.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn perform(mut stream: TcpStream, Script(acts): Script, peers: Arc<Peers>) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    peers
        .seen
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(request);
    peers.asked.notify_one();
    for act in acts {
        match act {
            Act::Send(bytes) => {
                // A peer that left is a case under test, not a fault of the upstream.
                if stream.write_all(&bytes).await.and(stream.flush().await).is_err() {
                    return;
                }
            }
            Act::Hang => {
                let _ = stream.read(&mut [0; 1]).await;
                peers.left.notify_one();
            }
            Act::Wait => peers.on.notified().await,
            Act::Reset => {
                stream.set_zero_linger().expect("a connected socket");
                return;
            }
        }
    }
    let _ = stream.shutdown().await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Seen> {
    let mut bytes = Vec::new();
    loop {
        let read = stream.read_buf(&mut bytes).await.ok()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let seen = Seen {
                head: head.to_owned(),
                body: body.to_owned(),
            };
            let length = seen
                .header("content-length")
                .and_then(|length| length.parse().ok())
                .unwrap_or(0_usize);
            if seen.body.len() >= length {
                return Some(seen);
            }
        }
        if read == 0 {
            return None;
        }
    }
}
