//! Sends requests as fast as they are answered, over a fixed number of connections.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Failure;

/// Where requests go and what they say.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: String,
    pub(crate) path: &'static str,
    pub(crate) agent: &'static str,
    pub(crate) asks: RequestKind,
    /// What clients are known by.
    pub(crate) token: Option<&'static str>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A whole answer.
    Whole,
    /// An answer as it comes.
    Streamed,
    /// No answer of a model: what the gateway knows.
    Reading,
}

impl Target {
    fn request(&self) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = match self.asks {
            RequestKind::Reading => Request::get(self.path),
            RequestKind::Streamed | RequestKind::Whole => Request::post(self.path),
        };
        request = request
            .header("host", &self.address)
            .header("content-type", "application/json")
            .header("x-openclaw-agent-id", self.agent);
        if let Some(token) = self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = match self.asks {
            RequestKind::Reading => Bytes::new(),
            RequestKind::Streamed => Bytes::from_static(STREAMED),
            RequestKind::Whole => Bytes::from_static(WHOLE),
        };
        Ok(request.body(Full::new(body))?)
    }
}

const WHOLE: &[u8] = br#"{"model":"openclaw","stream":false,"messages":[{"role":"user","content":"Say something about a fox."}]}"#;
const STREAMED: &[u8] = br#"{"model":"openclaw","stream":true,"messages":[{"role":"user","content":"Say something about a fox."}]}"#;

/// What came of one load.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Microseconds until each answer was complete, ascending.
    latencies: Vec<f64>,
    /// Microseconds until the first piece of each answer, ascending.
    firsts: Vec<f64>,
    elapsed: Duration,
}

impl Outcome {
    /// Microseconds that the given share of answers took at most.
    pub(crate) fn latency(&self, share: f64) -> f64 {
        quantile(&self.latencies, share)
    }

    /// Microseconds until the first piece, for the given share of answers.
    pub(crate) fn first(&self, share: f64) -> f64 {
        quantile(&self.firsts, share)
    }

    pub(crate) fn per_second(&self) -> f64 {
        self.count() / self.elapsed.as_secs_f64()
    }

    pub(crate) fn count(&self) -> f64 {
        u32::try_from(self.latencies.len()).map_or(f64::INFINITY, f64::from)
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a place in a list of measurements"
)]
fn quantile(ascending: &[f64], share: f64) -> f64 {
    let at = (ascending.len() as f64 * share) as usize;
    let last = ascending.len().saturating_sub(1);
    ascending.get(at.min(last)).copied().unwrap_or(f64::NAN)
}

/// Loads the target with `connections` for `millis`.
pub(crate) async fn run(target: &Target, connections: usize, millis: u64) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let end = begun + Duration::from_millis(millis);
    let mut tasks = JoinSet::new();
    for _ in 0..connections {
        let target = target.clone();
        tasks.spawn(async move { connection(&target, end).await });
    }
    let mut all = Outcome::default();
    while let Some(done) = tasks.join_next().await {
        let (latencies, firsts) = done??;
        all.latencies.extend(latencies);
        all.firsts.extend(firsts);
    }
    all.elapsed = begun.elapsed();
    all.latencies.sort_by(f64::total_cmp);
    all.firsts.sort_by(f64::total_cmp);
    Ok(all)
}

/// One request on a connection of its own; used to wait for a server.
pub(crate) async fn once(target: &Target) -> Result<(), Failure> {
    Connection::open(target).await?.exchange(target).await.map(|_| ())
}

async fn connection(target: &Target, end: Instant) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let mut connection = Connection::open(target).await?;
    let (mut latencies, mut firsts) = (Vec::new(), Vec::new());
    while Instant::now() < end {
        let begun = Instant::now();
        let first = connection.exchange(target).await?;
        firsts.push(micros(first.duration_since(begun)));
        latencies.push(micros(begun.elapsed()));
    }
    Ok((latencies, firsts))
}

/// A connection that is kept.
pub(crate) struct Connection(SendRequest<Full<Bytes>>);

impl Connection {
    pub(crate) async fn open(target: &Target) -> Result<Self, Failure> {
        let stream = TcpStream::connect(&target.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self(sender))
    }

    /// Sends one request, reads its answer to the end and says when its first piece came.
    pub(crate) async fn exchange(&mut self, target: &Target) -> Result<Instant, Failure> {
        let request = target.request()?;
        self.0.ready().await?;
        let response = self.0.send_request(request).await?;
        let status = response.status();
        let mut body = response.into_body();
        let mut first = None;
        let mut last = Bytes::new();
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                first.get_or_insert_with(Instant::now);
                last = data;
            }
        }
        if !status.is_success() {
            return Err(format!(
                "{}{} answered {status}: {}",
                target.address,
                target.path,
                String::from_utf8_lossy(&last)
            )
            .into());
        }
        Ok(first.unwrap_or_else(Instant::now))
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
