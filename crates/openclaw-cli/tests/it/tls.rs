//! Calls over an encrypted connection: what the encryption itself sends is no part of an answer.
//!
//! The program runs by itself, since what it trusts is read from its environment.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

use crate::cli::Desk;
use crate::served::Service;
use crate::world::HELLO;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("OPENCLAW_WORKSPACE_ROOT"))
        .join("fixtures/tls")
        .join(name)
}

/// A server whose connections see one request each, send these bytes and end.
struct Server {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn start(answers: Vec<Vec<u8>>) -> Self {
        let certificate = CertificateDer::from_pem_file(fixture("certificate.pem")).unwrap();
        let key = PrivateKeyDer::from_pem_file(fixture("key.pem")).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for answer in answers {
                let (mut socket, _) = listener.accept().unwrap();
                let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = rustls::Stream::new(&mut connection, &mut socket);
                read_request(&mut stream);
                seen.fetch_add(1, Ordering::SeqCst);
                stream.write_all(&answer).unwrap();
                stream.flush().unwrap();
            }
        });
        Self { address, requests }
    }
}

/// Reads up to the end of a body, which is JSON.
fn read_request(stream: &mut rustls::Stream<'_, ServerConnection, TcpStream>) {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    while !(read.ends_with(b"}") && read.windows(4).any(|window| window == b"\r\n\r\n")) {
        let length = stream.read(&mut piece).unwrap();
        assert!(length > 0, "the request is cut");
        read.extend_from_slice(&piece[..length]);
    }
}

#[tokio::test]
async fn a_call_is_repeated_only_when_nothing_of_an_answer_came_above_the_encryption() {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{HELLO}",
        HELLO.len()
    );
    for (first, status, again, requests) in [
        (answer.as_str(), 200, None, 1),
        ("", 200, Some("reset"), 2),
        ("H", 503, None, 1),
        ("HTTP/1.1 200 OK\r\ncontent-ty", 503, None, 1),
    ] {
        let server = Server::start(vec![first.into(), answer.clone().into()]);
        let desk = Desk::with(&format!(
            "{{ agents: {{ defaults: {{ model: 'a/m' }} }},
                models: {{ providers: {{ a: {{ baseUrl: 'https://{}/v1', apiKey: 'k' }} }} }} }}",
            server.address
        ));
        let trusted = fixture("certificate.pem");
        let service = Service::start(&desk.path(""), &[("SSL_CERT_FILE", trusted.to_str().unwrap())]);
        let received = service.ask().await;
        assert_eq!(received.status, status, "{first:?}: {}", received.body);
        assert_eq!(received.header("x-openclaw-immediate-retry"), again, "{first:?}");
        service.stop().await;
        assert_eq!(server.requests.load(Ordering::SeqCst), requests, "{first:?}");
    }
}
