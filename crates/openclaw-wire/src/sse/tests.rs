//! The parser against texts, and against itself under every way of cutting a text into chunks.

use proptest::prelude::*;

use super::*;

const LIMIT: usize = 4096;

/// Data of the events (`-` for none) when `text` arrives in `chunks`, then what `finish` finds.
fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> (Vec<String>, Option<String>, Vec<u8>) {
    let mut parser = SseParser::new(LIMIT);
    let (mut seen, mut raw) = (Vec::new(), Vec::new());
    for chunk in chunks {
        parser.push(chunk);
        while let Some(event) = parser.next_event().unwrap() {
            raw.extend_from_slice(&event.raw);
            // The end of a line that was cut in two says nothing.
            if event.raw != "\n" {
                seen.push(show(&event));
            }
        }
    }
    let rest = parser.finish().map(|event| show(&event));
    (seen, rest, raw)
}

fn show(event: &SseEvent) -> String {
    let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let data = event.data.as_ref().map_or_else(|| "-".to_owned(), text);
    match &event.name {
        Some(name) => format!("{}={data}", text(name)),
        None => data,
    }
}

#[test]
fn events_of_a_text() {
    for (text, events, rest) in [
        ("data: a\n\ndata: b\n\n", &["a", "b"] as &[_], None),
        ("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"], None),
        ("data: a\r\rdata: b\r\r", &["a", "b"], None),
        ("data:a\n\n", &["a"], None),
        ("data:  a\n\n", &[" a"], None),
        ("data: a\ndata: b\n\n", &["a\nb"], None),
        ("data\n\n", &[""], None),
        (": ping\n\ndata: a\n\n", &["-", "a"], None),
        (": ping\ndata: a\n\n", &["a"], None),
        ("event: error\ndata: a\n\n", &["error=a"], None),
        ("id: 7\nretry: 10\ndata: a\n\n", &["a"], None),
        ("\u{feff}data: a\n\n", &["a"], None),
        ("data: a\n\ndata: [DONE]", &["a"], Some("[DONE]")),
        ("data: a\n\ndata: [DONE]\n", &["a"], Some("[DONE]")),
        ("data: a\n\n: bye", &["a"], None),
        ("\n\ndata: a\n\n", &["a"], None),
        ("", &[], None),
    ] {
        let (seen, left, _) = parse([text.as_bytes()]);
        assert_eq!(seen, events, "{text:?}");
        assert_eq!(left.as_deref(), rest, "{text:?}");
    }
}

#[test]
fn a_line_end_cut_in_two_is_kept_before_what_follows() {
    let text = b"data: a\r\n\r\ndata: [DONE]\r\n\r\n";
    for cut in 0..text.len() {
        let mut parser = SseParser::new(LIMIT);
        let (mut raw, mut done) = (Vec::new(), false);
        for chunk in [&text[..cut], &text[cut..]] {
            parser.push(chunk);
            while let Some(event) = parser.next_event().unwrap() {
                done |= event.data.as_deref() == Some(b"[DONE]");
                if !done {
                    raw.extend_from_slice(&event.raw);
                }
            }
        }
        assert_eq!(raw, b"data: a\r\n\r\n", "{cut}");
        assert!(done);
    }
}

#[test]
fn the_end_of_an_unclosed_event_is_completed_for_forwarding() {
    let mut parser = SseParser::new(LIMIT);
    parser.push(b"data: [DONE]");
    assert_eq!(parser.finish().unwrap().raw, "data: [DONE]\n\n");
}

#[test]
fn an_event_over_the_limit_is_refused_and_one_at_the_limit_is_not() {
    let event = |size: usize| format!("data: {}\n\n", "x".repeat(size - "data: \n\n".len()));
    let mut parser = SseParser::new(64);
    parser.push(event(64).as_bytes());
    assert!(parser.next_event().unwrap().is_some());
    parser.push(&[b'x'; 65]);
    assert_eq!(parser.next_event(), Err(EventTooLarge { limit: 64 }));
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "data: ?[a-z:\\[\\]{}]{0,12}",
        Just("data".to_owned()),
        ": ?[a-z]{0,5}",
        "event: [a-z]{1,5}",
        "[a-z]{1,4}(: [a-z]{0,3})?",
        Just(String::new()),
    ]
}

proptest! {
    #[test]
    fn chunks_do_not_matter_and_no_byte_is_lost(
        lines in proptest::collection::vec((line(), prop_oneof!["\n", "\r\n", "\r"]), 0..20),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        marked in any::<bool>(),
    ) {
        let mut text = String::from(if marked { "\u{feff}" } else { "" });
        text.extend(lines.iter().flat_map(|(line, end)| [line.as_str(), end.as_str()]));
        let bytes = text.as_bytes();
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let whole = parse([bytes]);
        let pieces = parse(at.windows(2).map(|pair| &bytes[pair[0]..pair[1]]));
        prop_assert_eq!(&whole.0, &pieces.0);
        prop_assert_eq!(&whole.1, &pieces.1);
        let body = text.trim_start_matches('\u{feff}').as_bytes();
        prop_assert!(body.starts_with(&whole.2));
        prop_assert_eq!(&whole.2, &pieces.2);
    }

    #[test]
    fn any_bytes_are_legal(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        parse([bytes.as_slice()]);
    }
}
