//! Turns errors of a connection into failures: what broke, and in which phase of the attempt.

use std::error::Error as StdError;
use std::io;

use hyper_util::client::legacy;
use openclaw_classify::error_chain;
use openclaw_classify::{Failure, Phase, TimeoutPhase, TimerOwner, Transport};

use crate::client::{ConnectTimeout, DnsError, answer_had_begun};

/// What kinds of I/O errors mean for the connection.
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

/// Words in messages of the client library, for causes without a public type.
const WORDS: &[(&str, Transport)] = &[
    ("tunnel", Transport::Proxy),
    ("proxy", Transport::Proxy),
    ("socks", Transport::Proxy),
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

/// How messages of the client library begin that are about an invalid HTTP/2 answer.
const INVALID_HTTP2: &[&str] = &["stream error detected", "connection error detected"];

/// The failure of `error`, which happened in `phase` of the attempt.
///
/// The message is the innermost cause: what wraps it says only that a request was sent.
pub(crate) fn of_error(error: &(dyn StdError + 'static), phase: Phase) -> Failure {
    let phase = match phase {
        _ if is_connect(error) => Phase::BeforeRequest,
        // An answer had begun, so a second request would be paid for, too.
        Phase::BeforeFirstByte if is_unreadable(error) || has_begun(error) => Phase::BeforeFirstContent,
        phase => phase,
    };
    Failure {
        message: error_chain::each(error).last().map(ToString::to_string),
        transport: Some(transport(error)),
        phase: Some(phase),
        ..Failure::default()
    }
}

/// The failure of a wait that was too long.
pub(crate) fn timeout(waited_for: TimeoutPhase, phase: Phase) -> Failure {
    Failure {
        transport: Some(Transport::Timeout(waited_for, TimerOwner::Us)),
        phase: Some(phase),
        ..Failure::default()
    }
}

fn transport(error: &(dyn StdError + 'static)) -> Transport {
    if error_chain::each(error).any(is_dns) {
        return Transport::Dns;
    }
    if error_chain::each(error).any(is_timeout) {
        let waited_for = if is_connect(error) {
            TimeoutPhase::Connect
        } else {
            TimeoutPhase::Idle
        };
        return Transport::Timeout(waited_for, TimerOwner::Us);
    }
    let by_words = || {
        let text: String = error_chain::each(error)
            .map(|cause| cause.to_string().to_lowercase())
            .collect();
        WORDS
            .iter()
            .find(|(words, _)| text.contains(words))
            .map(|(_, transport)| *transport)
    };
    // An unknown error while connecting did not reach the provider; later it is like a broken connection.
    let unknown = if is_connect(error) {
        Transport::Unreachable
    } else {
        Transport::Reset
    };
    error_chain::each(error)
        .find_map(io_kind)
        .or_else(by_words)
        .unwrap_or(unknown)
}

/// Whether connecting failed.
fn is_connect(error: &(dyn StdError + 'static)) -> bool {
    error_chain::each(error).any(|cause| {
        cause
            .downcast_ref::<legacy::Error>()
            .is_some_and(legacy::Error::is_connect)
    })
}

/// Whether the first bytes of an answer came.
fn has_begun(error: &(dyn StdError + 'static)) -> bool {
    error_chain::each(error).any(|cause| cause.downcast_ref().is_some_and(answer_had_begun))
}

/// Whether the answer is invalid: no HTTP, or a head that is too large.
fn is_unreadable(error: &(dyn StdError + 'static)) -> bool {
    let by_type = |cause: &(dyn StdError + 'static)| {
        cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_parse)
    };
    error_chain::each(error).any(|cause| {
        by_type(cause)
            || INVALID_HTTP2
                .iter()
                .any(|words| cause.to_string().starts_with(words))
    })
}

fn is_dns(cause: &(dyn StdError + 'static)) -> bool {
    cause.is::<DnsError>()
}

fn is_timeout(cause: &(dyn StdError + 'static)) -> bool {
    cause.is::<ConnectTimeout>()
        || cause
            .downcast_ref::<hyper::Error>()
            .is_some_and(hyper::Error::is_timeout)
        || cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::TimedOut)
}

fn io_kind(cause: &(dyn StdError + 'static)) -> Option<Transport> {
    let kind = cause.downcast_ref::<io::Error>()?.kind();
    KINDS
        .iter()
        .find(|(known, _)| *known == kind)
        .map(|(_, transport)| *transport)
}
