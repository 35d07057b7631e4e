//! What connections are told that come while too many are open.

use std::io::{Read, Write};
use std::sync::LazyLock;

use serde_json::json;
use tokio::net::TcpStream;

/// What they get; nobody knows yet which format they speak, so it is an error in each.
static COME_BACK: LazyLock<String> = LazyLock::new(|| {
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

/// How often something is read of a request that is turned away.
const MOST_READ: usize = 8;

/// Whether there is room, as far as it was told.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    is_full: bool,
}

impl Crowd {
    /// Whether one more connection may be open beside `open` others of at most `most`; told once each time that the
    /// answer becomes no.
    pub(super) fn has_room(&mut self, open: usize, most: usize) -> bool {
        let is_full = open >= most;
        if is_full && !self.is_full {
            tracing::warn!(open, "further connections are turned away (`maxConnections`)");
        }
        self.is_full = is_full;
        !is_full
    }
}

/// Answers `stream` before it asked, and hangs up.
pub(super) fn turn_away(stream: TcpStream) {
    let Ok(mut stream) = stream.into_std() else { return };
    // It is new, so the answer has room; and who has left by now needs none.
    let _ = stream.write_all(COME_BACK.as_bytes());
    // What is left unread when a connection is closed may cost its client the answer.
    let mut asked = [0; 16 * 1024];
    for _ in 0..MOST_READ {
        if !matches!(stream.read(&mut asked), Ok(1..)) {
            break;
        }
    }
}
