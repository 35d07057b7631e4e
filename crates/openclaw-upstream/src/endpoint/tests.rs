//! Base URLs: what may be called, what is shown, what is secret.

use super::*;

fn endpoint(base_url: &str) -> Result<Endpoint, EndpointError> {
    Endpoint::try_new(ProviderId::try_new("relay").unwrap(), base_url)
}

#[test]
fn paths_are_put_below_the_base_url() {
    for (base, url) in [
        (
            "https://api.openai.com/v1",
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "https://api.openai.com/v1/",
            "https://api.openai.com/v1/chat/completions",
        ),
        (" http://127.0.0.1:9 ", "http://127.0.0.1:9/chat/completions"),
        (
            "http://h/v1?api-version=2",
            "http://h/v1/chat/completions?api-version=2",
        ),
    ] {
        assert_eq!(endpoint(base).unwrap().url("chat/completions").as_str(), url);
    }
}

#[test]
fn what_is_no_base_url_and_how_to_write_one() {
    for (base, error) in [
        (
            "api.openai.com/v1",
            "`api.openai.com/v1` is not a URL; write it like `https://host/v1`",
        ),
        ("", "`` is not a URL; write it like `https://host/v1`"),
        (
            "${BASE}",
            "the variable in `${BASE}` is not looked up: only keys, headers and tokens may be variables; write the address",
        ),
        (
            "ftp://h/",
            "`ftp://h/` cannot be called; the base URL must begin with http:// or https://",
        ),
        (
            "user:password@h/v1?key=k",
            "`h/v1` cannot be called; the base URL must begin with http:// or https://",
        ),
        (
            "ftp://user:password@h/?key=k",
            "`ftp://h/` cannot be called; the base URL must begin with http:// or https://",
        ),
        (
            "http://user:pass/word@h/v1",
            "`http://h/v1` is not a URL; write it like `https://host/v1`",
        ),
        (
            "http://user:pass?word#@h/v1?key=k",
            "`http://h/v1` is not a URL; write it like `https://host/v1`",
        ),
        (
            "sk-proj-0123456789abcdefghij",
            "`sk-pro…ghij` is not a URL; write it like `https://host/v1`",
        ),
        (
            "mailto:a@b",
            "`b` cannot be called; the base URL must begin with http:// or https://",
        ),
    ] {
        assert_eq!(endpoint(base).err().unwrap().to_string(), error);
    }
}

#[test]
fn what_identifies_an_endpoint_holds_no_secret_and_what_is_called_does() {
    let endpoint = endpoint("https://user:password@h/v1/?key=k#f").unwrap();
    assert_eq!(endpoint.base_url(), "https://h/v1");
    assert_eq!(endpoint.url("x").as_str(), "https://user:password@h/v1/x?key=k#f");
    let target = endpoint.target(WireFormat::Messages);
    assert_eq!(target.to_string(), "https://h/v1/messages?key=k");
    assert_eq!(endpoint.login().unwrap(), "Basic dXNlcjpwYXNzd29yZA==");
}

#[test]
fn loopback_hosts() {
    for (base, expected) in [
        ("http://127.0.0.1:11434/v1", true),
        ("http://localhost:1/v1", true),
        ("http://[::1]:1/v1", true),
        ("https://api.openai.com/v1", false),
        ("http://10.0.0.1/v1", false),
    ] {
        assert_eq!(endpoint(base).unwrap().is_loopback(), expected, "{base}");
    }
}
