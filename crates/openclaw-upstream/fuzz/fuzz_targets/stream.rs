//! A stream of any bytes in any pieces looks the same, comes in order, and is never finished when it was cut (BL-88, BL-89).
#![no_main]

#[path = "shared/naive.rs"]
mod naive;

use libfuzzer_sys::fuzz_target;
use openclaw_upstream::fuzzing::{Ending, Parsed, ClientView, events, see};
use openclaw_wire::WireFormat;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().expect("nothing else is needed");
}

fuzz_target!(|data: &[u8]| {
    let [format, seed, bytes @ ..] = data else { return };
    let format = naive::format(*format);
    let expected = naive::events(bytes);
    let mut first: Option<ClientView> = None;
    for seed in [0, 1, seed.wrapping_add(2)] {
        let pieces = naive::pieces(bytes, seed);
        assert_eq!(events(&pieces), expected, "events in pieces of seed {seed}");
        let seen = RUNTIME.with(|runtime| runtime.block_on(see(format, pieces)));
        let Some(whole) = &first else {
            check(format, bytes, &expected, &seen);
            first = Some(seen);
            continue;
        };
        assert_eq!(naive::events(&seen.bytes), naive::events(&whole.bytes), "shown, seed {seed}");
        assert_eq!(plain(&seen.end), plain(&whole.end), "end, seed {seed}");
        assert_eq!(seen.skipped, whole.skipped, "skipped, seed {seed}");
    }
});

/// An end without what only says where its line ends.
fn plain(end: &Ending) -> (u8, Vec<Parsed>, &str) {
    match end {
        Ending::Refused(why) => (0, Vec::new(), why),
        Ending::Cut(why) => (1, Vec::new(), why),
        Ending::Mismatch => (2, Vec::new(), ""),
        Ending::Finished(last) => (3, naive::events(last), ""),
        Ending::Hollow(last) => (4, naive::events(last), ""),
    }
}

fn check(format: WireFormat, bytes: &[u8], upstream: &[Parsed], seen: &ClientView) {
    // A byte order mark within a stream is none, also where what went before it was left out.
    let shown = naive::events(&[b":\n", seen.bytes.as_slice()].concat());
    let mut rest = upstream.iter();
    for event in &shown {
        assert!(rest.any(|sent| sent == event), "in order and as sent: {event:?}");
    }
    match &seen.end {
        Ending::Finished(_) | Ending::Hollow(_) => {
            assert!(naive::may_be_complete(format, upstream), "finished although it was cut");
        }
        Ending::Cut(_) => {
            let ends = shown.iter().any(|event| naive::is_end(format, event));
            assert!(!ends, "what broke off shows an end");
        }
        Ending::Refused(_) => assert!(seen.bytes.is_empty()),
        Ending::Mismatch => unreachable!("nothing was to be taken over from"),
    }
    if seen.skipped == 0 {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let completed = seen.bytes.strip_suffix(b"\n\n").unwrap_or(&seen.bytes);
        assert!(text.starts_with(&seen.bytes) || text.starts_with(completed), "other bytes than were sent");
    }
}
