//! Hosts: which of them is this machine, and which belongs to a domain.

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

/// Whether a host is `domain` or a subdomain of it; both in lower case.
///
/// ```
/// assert!(openclaw_providers::is_host_or_below("api.openai.com", "openai.com"));
/// assert!(!openclaw_providers::is_host_or_below("notopenai.com", "openai.com"));
/// ```
pub fn is_host_or_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}
