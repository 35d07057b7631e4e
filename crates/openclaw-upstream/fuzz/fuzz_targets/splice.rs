//! Two answers of any bytes, one after the other: what a client gets says what the second one says (BL-94), in any pieces.
#![no_main]

#[path = "shared/naive.rs"]
mod naive;

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use openclaw_upstream::fuzzing::{Ending, Parsed, see_spliced};
use openclaw_wire::WireFormat;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().expect("nothing else is needed");
}

fuzz_target!(|data: &[u8]| {
    let [format, seed, cut_high, cut_low, bytes @ ..] = data else { return };
    let twice = *seed % 2 == 0;
    let format = naive::format(*format);
    // Two answers stand in the bytes, or one that is cut and then comes whole.
    let cut = usize::from(u16::from_be_bytes([*cut_high, *cut_low])) % (bytes.len() + 1);
    let (first, second) = if twice { (&bytes[..cut], bytes) } else { bytes.split_at(cut) };
    let play = |seed: u8| {
        let (first, second) = (naive::pieces(first, seed), naive::pieces(second, seed));
        RUNTIME.with(|runtime| runtime.block_on(see_spliced(format, first, second)))
    };
    let (before, after) = play(0);
    let (before_again, after_again) = play(seed.wrapping_add(2));
    assert_eq!(naive::events(&before.bytes), naive::events(&before_again.bytes));
    assert_eq!(after.is_some(), after_again.is_some());
    let Some((after, again)) = after.zip(after_again) else { return };
    assert_eq!(naive::events(&after.bytes), naive::events(&again.bytes));
    assert_eq!(after.skipped, again.skipped);
    match (&after.end, &again.end) {
        (Ending::Finished(end), Ending::Finished(other)) => assert_eq!(naive::events(end), naive::events(other)),
        (one, other) => assert_eq!(one, other),
    }
    let Ending::Finished(end) = &after.end else { return };
    assert!(naive::may_be_complete(format, &naive::events(second)), "finished although it was cut");
    // A byte order mark within a stream is none, also where what went before it was left out.
    let client = naive::events(&[b":\n", before.bytes.as_slice(), &after.bytes, end].concat());
    let mut whole = naive::events(second);
    // What comes after its end is not part of it.
    let end = whole.iter().position(|event| naive::is_end(format, event));
    whole.truncate(end.map_or(whole.len(), |end| end + 1));
    assert_eq!(texts(format, &client), texts(format, &whole), "the client got what the second answer says");
});

/// The answer's text, per choice.
fn texts(format: WireFormat, events: &[Parsed]) -> BTreeMap<u64, String> {
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    let mut silent: Vec<u64> = Vec::new();
    let number = |event: &Value| event["index"].as_u64().unwrap_or_default();
    let mut add = |choice: u64, text: Option<&Value>| {
        if let Some(text) = text.and_then(Value::as_str).filter(|text| !text.is_empty()) {
            texts.entry(choice).or_default().push_str(text);
        }
    };
    for event in events {
        let Some(json) = naive::json(event) else { continue };
        match format {
            WireFormat::ChatCompletions => {
                for choice in json.get("choices").and_then(Value::as_array).into_iter().flatten() {
                    let index = choice.get("index").and_then(Value::as_u64).unwrap_or_default();
                    add(index, choice.pointer("/delta/content"));
                }
            }
            WireFormat::Messages => match json["type"].as_str() {
                // Text within a block of another kind is shown by no client.
                Some("content_block_delta") if silent.contains(&number(&json)) => {}
                Some("content_block_delta") => add(0, json.pointer("/delta/text")),
                Some("content_block_start") => {
                    silent.retain(|index| *index != number(&json));
                    if json.pointer("/content_block/type").is_some_and(|kind| kind != "text") {
                        silent.push(number(&json));
                    }
                    add(0, json.pointer("/content_block/text"));
                }
                _ => {}
            },
            WireFormat::Responses if json["type"] == "response.output_text.delta" => add(0, json.get("delta")),
            WireFormat::CountTokens | WireFormat::Embeddings | WireFormat::Responses => {}
        }
    }
    texts
}
