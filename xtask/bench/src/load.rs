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
    pub(crate) streamed: bool,
}

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
    let mut sender = connect(target).await?;
    exchange(&mut sender, target).await.map(|_| ())
}

async fn connection(target: &Target, end: Instant) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let mut sender = connect(target).await?;
    let (mut latencies, mut firsts) = (Vec::new(), Vec::new());
    while Instant::now() < end {
        let begun = Instant::now();
        let first = exchange(&mut sender, target).await?;
        firsts.push(micros(first.duration_since(begun)));
        latencies.push(micros(begun.elapsed()));
    }
    Ok((latencies, firsts))
}

async fn connect(target: &Target) -> Result<SendRequest<Full<Bytes>>, Failure> {
    let stream = TcpStream::connect(&target.address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// Sends one request, reads its answer to the end and says when its first piece came.
async fn exchange(sender: &mut SendRequest<Full<Bytes>>, target: &Target) -> Result<Instant, Failure> {
    let body = format!(
        r#"{{"model":"openclaw","stream":{},"messages":[{{"role":"user","content":"Say something about a fox."}}]}}"#,
        target.streamed
    );
    let request = Request::post(target.path)
        .header("host", &target.address)
        .header("content-type", "application/json")
        .header("x-openclaw-agent-id", target.agent)
        .body(Full::new(Bytes::from(body)))?;
    sender.ready().await?;
    let response = sender.send_request(request).await?;
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

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
