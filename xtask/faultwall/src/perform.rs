//! Performs the acts on a connection.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::answer::Act;

/// Performs all of `acts`, or as many as the peer stays for.
pub(crate) async fn perform(mut stream: TcpStream, acts: Vec<Act>) {
    for act in acts {
        // A peer that left is what is looked for, not a fault of the wall.
        let stays = match act {
            Act::Drip(bytes, pause) => drip(&mut stream, &bytes, Duration::from_millis(pause)).await,
            Act::Forever(bytes) => {
                while stream.write_all(&bytes).await.is_ok() {}
                false
            }
            Act::Hang => {
                until_left(&mut stream).await;
                false
            }
            Act::Reset => {
                // Fails only on a socket that is gone, which looks the same to the peer.
                let _ = stream.set_zero_linger();
                return;
            }
            Act::Send(bytes) => stream.write_all(&bytes).await.is_ok(),
            Act::Wait(wait) => {
                tokio::select! {
                    () = sleep(Duration::from_millis(wait)) => true,
                    () = until_left(&mut stream) => false,
                }
            }
        };
        if !stays {
            return;
        }
    }
    let _ = stream.shutdown().await;
}

async fn drip(stream: &mut TcpStream, bytes: &[u8], pause: Duration) -> bool {
    for piece in bytes.chunks(16) {
        if stream.write_all(piece).await.is_err() {
            return false;
        }
        sleep(pause).await;
    }
    true
}

async fn until_left(stream: &mut TcpStream) {
    let _ = stream.read(&mut [0; 1]).await;
}
