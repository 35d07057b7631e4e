//! Streams cut at every byte and in every way, without sockets.

use futures_util::stream;
use proptest::prelude::*;

use super::super::{AnswerStep, Endpoint};
use super::*;

const ROLE: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n";
const PING: &str = ": ping\n\n";
const HEL: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n";
const LO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// How a stream that arrives in `chunks` and then ends looked to a client.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Failed,
    Cut(String),
    Finished(String),
}

async fn see(chunks: Vec<Bytes>) -> Seen {
    let endpoint = Endpoint::try_new("relay".parse().unwrap(), "http://127.0.0.1:1").unwrap();
    let source = Box::pin(stream::iter(chunks.into_iter().map(Ok)));
    let Ok(mut live) = first_content(
        WireFormat::ChatCompletions,
        source,
        &Deadlines::DEFAULT,
        Instant::now(),
        AttemptDeadline::after(Deadlines::DEFAULT.total),
        &AttemptFacts::new(&endpoint, None),
    )
    .await
    else {
        return Seen::Failed;
    };
    let mut shown = String::new();
    loop {
        match live.next().await {
            AnswerStep::Events(events) => shown.push_str(std::str::from_utf8(&events).unwrap()),
            AnswerStep::Cut(_) => return Seen::Cut(shown),
            AnswerStep::Finished(_) => return Seen::Finished(shown),
            end @ (AnswerStep::Mismatch | AnswerStep::Hollow(..)) => panic!("{end:?}"),
        }
    }
}

fn expected(text: &str, end: usize) -> Seen {
    // An event counts from its last brace on: closing line ends may be missing at the end of the bytes.
    let has = |event: &str| {
        let at = text.find(event).unwrap();
        end >= at + event.trim_end().len()
    };
    let whole = |events: &[&str]| events.concat();
    match (has(HEL), has(LO), has(STOP)) {
        (false, ..) => Seen::Failed,
        (true, false, _) => Seen::Cut(whole(&[ROLE, PING, HEL])),
        (true, true, false) => Seen::Cut(whole(&[ROLE, PING, HEL, LO])),
        (true, true, true) => Seen::Finished(whole(&[ROLE, PING, HEL, LO, STOP])),
    }
}

/// Line ends are the upstream's; what is completed at the end of the bytes gets plain ones.
fn plain(seen: Seen) -> Seen {
    let plain = |text: String| text.replace("\r\n", "\n").replace("\n\n\n", "\n\n");
    match seen {
        Seen::Failed => Seen::Failed,
        Seen::Cut(text) => Seen::Cut(plain(text)),
        Seen::Finished(text) => Seen::Finished(plain(text)),
    }
}

#[tokio::test]
async fn bl_88_cut_after_every_byte() {
    let text = [ROLE, PING, HEL, LO, STOP, DONE].concat();
    for end in 0..=text.len() {
        let cut = Bytes::copy_from_slice(&text.as_bytes()[..end]);
        assert_eq!(
            plain(see(vec![cut]).await),
            plain(expected(&text, end)),
            "{:?}",
            &text[..end]
        );
    }
}

proptest! {
    #[test]
    fn chunks_do_not_matter(
        end in any::<prop::sample::Index>(),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let text = [ROLE, PING, HEL, LO, STOP, DONE].concat();
        let end = end.index(text.len() + 1);
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(end + 1)).collect();
        at.extend([0, end]);
        at.sort_unstable();
        let chunk = |pair: &[usize]| Bytes::copy_from_slice(&text.as_bytes()[pair[0]..pair[1]]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let whole = runtime.block_on(see(vec![chunk(&[0, end])]));
        let pieces = runtime.block_on(see(at.windows(2).map(chunk).collect()));
        prop_assert_eq!(plain(whole), plain(pieces));
    }
}

#[tokio::test]
async fn the_upstream_is_read_only_as_fast_as_the_client_takes_it() {
    let endpoint = Endpoint::try_new("relay".parse().unwrap(), "http://127.0.0.1:1").unwrap();
    let pulled = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&pulled);
    let endless = stream::repeat_with(move || {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(Bytes::from_static(HEL.as_bytes()))
    });
    let mut live = first_content(
        WireFormat::ChatCompletions,
        Box::pin(endless),
        &Deadlines::DEFAULT,
        Instant::now(),
        AttemptDeadline::after(Deadlines::DEFAULT.total),
        &AttemptFacts::new(&endpoint, None),
    )
    .await
    .ok()
    .unwrap();
    for taken in 1..100 {
        assert!(matches!(live.next().await, AnswerStep::Events(_)));
        assert_eq!(pulled.load(std::sync::atomic::Ordering::Relaxed), taken);
    }
}

#[tokio::test(start_paused = true)]
async fn bl_93_a_stream_that_drips_on_is_cut_at_the_end_of_its_time() {
    let endpoint = Endpoint::try_new("relay".parse().unwrap(), "http://127.0.0.1:1").unwrap();
    let drip = stream::repeat(Bytes::from_static(HEL.as_bytes())).then(async |piece| {
        tokio::time::sleep(Duration::from_secs(30)).await;
        Ok(piece)
    });
    let deadlines = Deadlines {
        total: Duration::from_secs(100),
        ..Deadlines::DEFAULT
    };
    let source = Box::pin(drip);
    let end = AttemptDeadline::after(deadlines.total);
    let facts = AttemptFacts::new(&endpoint, None);
    let live = first_content(
        WireFormat::ChatCompletions,
        source,
        &deadlines,
        Instant::now(),
        end,
        &facts,
    );
    let mut live = live.await.ok().unwrap();
    let mut events = 0;
    let failure = loop {
        match live.next().await {
            AnswerStep::Events(_) => events += 1,
            AnswerStep::Cut(failure) => break failure,
            other => panic!("{other:?}"),
        }
    };
    let waited = Transport::Timeout(TimeoutPhase::Total, openclaw_classify::TimerOwner::Us);
    assert_eq!((events, failure.transport), (3, Some(waited)));
}
