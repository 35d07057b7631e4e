//! The server: every connection is one request, and every request is remembered.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::answer::{acts, reply};
use crate::fault::{FAULTS, Fault, Plan, TOKENS, Times};
use crate::perform::perform;
use crate::request::{RecordedRequest, WallRequest, read};

/// A running wall; it stops when dropped.
#[derive(Debug)]
pub struct Wall {
    address: SocketAddr,
    memory: Arc<Memory>,
    task: JoinHandle<()>,
}

/// What happened so far.
#[derive(Debug, Default)]
struct Memory {
    seen: Mutex<Vec<RecordedRequest>>,
    /// Faults that happen once, and happened to this upstream.
    happened: Mutex<HashSet<(String, Fault)>>,
    /// Connections that are open.
    open: watch::Sender<usize>,
}

/// One open connection.
struct Connection(Arc<Memory>);

impl Connection {
    fn new(memory: &Arc<Memory>) -> Self {
        memory.open.send_modify(|open| *open += 1);
        Self(Arc::clone(memory))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.open.send_modify(|open| *open = open.saturating_sub(1));
    }
}

impl Wall {
    /// Starts on a free port of the loopback interface.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start() -> io::Result<Self> {
        Self::on(TcpListener::bind("127.0.0.1:0").await?)
    }

    /// Starts on `listener`.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn on(listener: TcpListener) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let memory = Arc::new(Memory::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&memory)));
        Ok(Self {
            address,
            memory,
            task,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URL of one upstream. Any name will do; it is what [`seen`](Self::seen) asks for.
    pub fn base_url(&self, upstream: &str) -> String {
        format!("http://{}/{upstream}/v1", self.address)
    }

    /// What one upstream saw, in order.
    pub fn seen(&self, upstream: &str) -> Vec<RecordedRequest> {
        let seen = locked(&self.memory.seen);
        seen.iter()
            .filter(|seen| seen.upstream == upstream)
            .cloned()
            .collect()
    }

    /// How many requests all upstreams saw.
    pub fn calls(&self) -> usize {
        locked(&self.memory.seen).len()
    }

    /// Waits until no connection is open.
    pub async fn left_alone(&self) {
        // The sender lives as long as the wall.
        let _ = self.memory.open.subscribe().wait_for(|open| *open == 0).await;
    }
}

impl Drop for Wall {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: TcpListener, memory: Arc<Memory>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let connection = Connection::new(&memory);
                tokio::spawn(answer(stream, connection));
            }
            // Out of files: others have to close some first.
            Err(_) => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    }
}

async fn answer(mut stream: TcpStream, connection: Connection) {
    // Small pieces must not wait for each other; a socket that refuses is slower and nothing else.
    let _ = stream.set_nodelay(true);
    let Some(asked) = read(&mut stream).await else {
        return;
    };
    match asked {
        WallRequest::Model(seen) => {
            let acts = acts(connection.0.fault(&seen), &seen);
            locked(&connection.0.seen).push(seen);
            perform(stream, acts).await;
        }
        WallRequest::Models => send(stream, 200, &models()).await,
        WallRequest::Record => {
            let record = connection.0.record();
            send(stream, 200, &record).await;
        }
        WallRequest::Unknown => {
            let message = "not here; the wall answers POST /<name>/v1/{chat/completions,messages,responses}, GET /<name>/v1/models and GET /seen";
            send(stream, 404, &json!({"error": {"message": message}})).await;
        }
    }
    drop(connection);
}

async fn send(mut stream: TcpStream, status: u16, body: &Value) {
    let bytes = reply(status, &[("content-type", "application/json")], &body.to_string());
    // The client is gone.
    let _ = stream.write_all(&bytes).await;
    let _ = stream.shutdown().await;
}

impl Memory {
    /// The fault of a request: that of its model, else that of its upstream.
    fn fault(&self, seen: &RecordedRequest) -> Fault {
        let Some(plan) = Plan::of(&seen.model).or_else(|| Plan::of(&seen.upstream)) else {
            return Fault::Ok(TOKENS);
        };
        let first = || locked(&self.happened).insert((seen.upstream.clone(), plan.fault));
        if plan.times == Times::Always || first() {
            plan.fault
        } else {
            Fault::Ok(TOKENS)
        }
    }

    /// What all upstreams saw, without keys.
    fn record(&self) -> Value {
        let seen = locked(&self.seen);
        let rows = seen.iter().map(|seen| {
            json!({"upstream": seen.upstream, "path": seen.wire.path(), "model": seen.model, "stream": seen.stream})
        });
        rows.collect()
    }
}

/// Every fault as a model.
fn models() -> Value {
    let rows = FAULTS
        .iter()
        .map(|row| json!({"id": row.example, "object": "model"}));
    json!({"object": "list", "data": rows.collect::<Vec<_>>()})
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
