//! Which windows changes open, move and end.

use openclaw_auth_store::EndpointKey;

use super::*;

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(ms).unwrap()
}

fn profile(windows: &[(&str, i64, i64)]) -> CooldownWindows {
    let row = |(lane, opened, until): &(&str, i64, i64)| {
        let window = Window::new(at(*opened), at(*until), Reason::RateLimit);
        (lane.parse::<Lane>().unwrap(), window)
    };
    let windows: BTreeMap<Lane, Window> = windows.iter().map(row).collect();
    CooldownWindows::Profile {
        profile: "a:x".parse().unwrap(),
        provider: None,
        windows,
    }
}

fn endpoint(window: Option<(i64, i64)>) -> CooldownWindows {
    let key = EndpointKey {
        provider: "a".parse().unwrap(),
        base_url: "http://secret@a".to_owned(),
    };
    let window = window.map(|(opened, until)| EndpointWindow {
        opened_at: at(opened),
        until: at(until),
    });
    CooldownWindows::Endpoint(key, window)
}

#[test]
fn what_a_change_did_to_windows() {
    let (none, open) = (profile(&[]), profile(&[("profile", 10, 100)]));
    for (before, after, now, expected) in [
        (&none, &none, 50, ""),
        (&none, &open, 50, "profile Opened"),
        (&open, &open, 50, ""),
        (&open, &none, 99, "profile Cleared"),
        // At its end it is over by itself.
        (&open, &none, 100, ""),
        (&none, &open, 100, ""),
        (&open, &profile(&[("profile", 10, 200)]), 50, "profile Extended"),
        (&open, &profile(&[("profile", 10, 60)]), 50, "profile Shortened"),
        (&open, &profile(&[("profile", 50, 200)]), 50, "profile Opened"),
        (
            &open,
            &profile(&[("billing", 50, 200), ("model:m", 50, 200)]),
            50,
            "profile Cleared, billing Opened, model:m Opened",
        ),
        (
            &endpoint(None),
            &endpoint(Some((10, 40))),
            10,
            "endpoint a Opened",
        ),
        (&endpoint(Some((10, 40))), &endpoint(Some((10, 40))), 20, ""),
        (
            &endpoint(Some((10, 40))),
            &endpoint(Some((20, 50))),
            20,
            "endpoint a Opened",
        ),
        (
            &endpoint(Some((10, 40))),
            &endpoint(None),
            20,
            "endpoint a Cleared",
        ),
        (&endpoint(Some((10, 40))), &endpoint(None), 40, ""),
    ] {
        let notes = window_changes(&AgentId::main(), Some("r"), before, after, at(now));
        let shown: Vec<String> = notes
            .iter()
            .map(|note| match &note.rested {
                CooldownTarget::Profile { lane, .. } => format!("{lane} {:?}", note.change),
                CooldownTarget::Endpoint { endpoint } => format!("endpoint {endpoint} {:?}", note.change),
            })
            .collect();
        assert_eq!(shown.join(", "), expected, "{before:?} {after:?} {now}");
    }
}
