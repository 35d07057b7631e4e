//! Turns what went wrong on the wire into the plain facts of a failure.

use std::error::Error as StdError;
use std::io;

use openclaw_classify::{Failure, Phase, TimeoutPhase, TimerOwner, Transport};

/// What an I/O error says about the connection.
const KINDS: &[(io::ErrorKind, Transport)] = &[
    (io::ErrorKind::AddrNotAvailable, Transport::Unreachable),
    (io::ErrorKind::BrokenPipe, Transport::Reset),
    (io::ErrorKind::ConnectionAborted, Transport::Reset),
    (io::ErrorKind::ConnectionRefused, Transport::Refused),
    (io::ErrorKind::ConnectionReset, Transport::Reset),
    (io::ErrorKind::HostUnreachable, Transport::Unreachable),
    (io::ErrorKind::NetworkDown, Transport::Unreachable),
    (io::ErrorKind::NetworkUnreachable, Transport::Unreachable),
    (io::ErrorKind::NotConnected, Transport::Reset),
    (io::ErrorKind::UnexpectedEof, Transport::Reset),
];

/// Words of the client library for causes that it has no public type for.
const WORDS: &[(&str, Transport)] = &[
    ("tunnel", Transport::Proxy),
    ("proxy", Transport::Proxy),
    ("certificate", Transport::Tls),
    ("tls", Transport::Tls),
    ("handshake", Transport::Tls),
    ("invalidcontenttype", Transport::Tls),
    ("corrupt message", Transport::Tls),
    ("connection closed before message completed", Transport::Reset),
    ("end of file before message length reached", Transport::Reset),
    ("unexpected eof", Transport::Reset),
    ("stream error received", Transport::Reset),
];

/// The facts of `error`, which happened when the attempt had come as far as `phase`.
///
/// The message is the innermost cause: what wraps it says only that a request was sent, and may name the URL, which
/// may carry a key.
pub(crate) fn failure(error: reqwest::Error, phase: Phase) -> Failure {
    let error = error.without_url();
    let innermost = causes(&error).last().map(ToString::to_string);
    let phase = if error.is_connect() {
        Phase::BeforeRequest
    } else {
        phase
    };
    Failure {
        message: innermost,
        transport: Some(transport(&error)),
        phase: Some(phase),
        ..Failure::default()
    }
}

/// The facts of a wait that was too long.
pub(crate) fn timeout(waited_for: TimeoutPhase, phase: Phase) -> Failure {
    Failure {
        transport: Some(Transport::Timeout(waited_for, TimerOwner::Us)),
        phase: Some(phase),
        ..Failure::default()
    }
}

fn transport(error: &reqwest::Error) -> Transport {
    if error.is_dns() {
        return Transport::Dns;
    }
    if error.is_timeout() {
        let waited_for = if error.is_connect() {
            TimeoutPhase::Connect
        } else {
            TimeoutPhase::Idle
        };
        return Transport::Timeout(waited_for, TimerOwner::Us);
    }
    let by_words = || {
        let text: String = causes(error)
            .map(|cause| cause.to_string().to_lowercase())
            .collect();
        WORDS
            .iter()
            .find(|(words, _)| text.contains(words))
            .map(|(_, transport)| *transport)
    };
    // An unknown fault while connecting left the provider untouched; later it is like a broken connection.
    let unknown = if error.is_connect() {
        Transport::Unreachable
    } else {
        Transport::Reset
    };
    causes(error)
        .find_map(io_kind)
        .or_else(by_words)
        .unwrap_or(unknown)
}

fn io_kind(cause: &(dyn StdError + 'static)) -> Option<Transport> {
    let kind = cause.downcast_ref::<io::Error>()?.kind();
    KINDS
        .iter()
        .find(|(known, _)| *known == kind)
        .map(|(_, transport)| *transport)
}

fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn StdError + 'static)> {
    std::iter::successors(Some(error as &(dyn StdError + 'static)), |cause| {
        (*cause).source()
    })
}
