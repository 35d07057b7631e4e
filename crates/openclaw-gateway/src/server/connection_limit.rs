//! The limit of open connections, and the answer to further ones.

use std::io::{Read, Write};
use std::sync::LazyLock;

use serde_json::json;
use tokio::net::TcpStream;

/// The answer. The format of the request is not known yet, so it is an error in each.
static TOO_MANY: LazyLock<String> = LazyLock::new(|| {
    let body = json!({
        "type": "error",
        "error": {
            "message": "the gateway has as many connections open as it may; come back in a second",
            "type": "overloaded_error",
            "code": "too_many_connections",
            "param": null,
        },
    })
    .to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
});

/// How many reads are made of a request that is turned away.
const MAX_READS: usize = 8;

/// Whether the limit was reached when the last connection came.
#[derive(Debug, Default)]
pub(super) struct ConnectionLimit {
    is_full: bool,
}

impl ConnectionLimit {
    /// Whether one more connection may be open beside `open` others of at most `most`. Each time that the limit is reached it
    /// is logged once.
    pub(super) fn has_room(&mut self, open: usize, most: usize) -> bool {
        let is_full = open >= most;
        if is_full && !self.is_full {
            tracing::warn!(open, "further connections are turned away (`maxConnections`)");
        }
        self.is_full = is_full;
        !is_full
    }
}

/// Answers `stream` before its request is read, and closes it.
pub(super) fn turn_away(stream: TcpStream) {
    let Ok(mut stream) = stream.into_std() else { return };
    // The buffer of a new connection has room for the answer, and a client that has left needs none.
    let _ = stream.write_all(TOO_MANY.as_bytes());
    // Closing a connection with unread bytes resets it, and the client may lose the answer.
    let mut discarded = [0; 16 * 1024];
    for _ in 0..MAX_READS {
        if !matches!(stream.read(&mut discarded), Ok(1..)) {
            break;
        }
    }
}
