//! Addresses of providers: which host is this machine.

use std::net::IpAddr;

/// Whether a host, in brackets when it is an IPv6 address, is this machine.
///
/// ```
/// assert!(openclaw_providers::is_loopback_host("[::1]"));
/// assert!(!openclaw_providers::is_loopback_host("api.openai.com"));
/// ```
pub fn is_loopback_host(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
