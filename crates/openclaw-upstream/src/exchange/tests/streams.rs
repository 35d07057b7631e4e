//! How streams begin and end, and what of them is shown.

use super::*;

const LO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const WHOLE_CHUNK: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello\"},\"finish_reason\":\"stop\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
const THINK: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning\":\"hm\"}}]}\n\n";

#[tokio::test]
async fn crlf_streams_keep_their_bytes_up_to_done() {
    let crlf = |text: &str| text.replace('\n', "\r\n");
    let (hel, stop, done) = (crlf(HEL), crlf(STOP), crlf(DONE));
    let (seen, end, _) = drain(Script::stream(&[&hel, &stop, &done])).await;
    assert_eq!((seen, end), (hel.clone() + &stop, "finished"));
    let cut = stop.len() - 1;
    for chunks in [
        &[&hel, &stop[..cut], &format!("\n{done}")] as &[&str],
        &[&hel, &stop[..cut], "\n"],
    ] {
        let (seen, end, _) = drain(Script::stream(chunks)).await;
        assert_eq!((seen, end), (hel.clone() + &stop, "finished"));
    }
}

#[tokio::test]
async fn a_stream_is_forwarded_as_it_came_from_its_first_content_on() {
    for (chunks, seen) in [
        (
            &[ROLE, HEL, LO, STOP, DONE] as &[&str],
            [ROLE, HEL, LO, STOP].concat(),
        ),
        (
            &[PING, ROLE, PING, HEL, STOP, USAGE, DONE],
            [PING, ROLE, PING, HEL, STOP, USAGE].concat(),
        ),
        (&[HEL, STOP], [HEL, STOP].concat()),
        (&[HEL, DONE], HEL.to_owned()),
        (&[HEL, "data: [DO", "NE]"], HEL.to_owned()),
        (&[&HEL[..20], &HEL[20..], STOP], [HEL, STOP].concat()),
        (&[ROLE, WHOLE_CHUNK.trim_end()], [ROLE, WHOLE_CHUNK].concat()),
        (&[HEL, STOP.trim_end()], [HEL, STOP].concat()),
    ] {
        for script in [Script::stream(chunks), Script::unframed(chunks)] {
            let (shown, end, _) = drain(script).await;
            assert_eq!((shown.as_str(), end), (seen.as_str(), "finished"));
        }
    }
}

#[tokio::test]
async fn bl_89_a_complete_answer_may_end_badly() {
    for script in [
        Script::cut(&[HEL, STOP]),
        Script::cut(&[HEL, STOP]).then_reset(),
        Script::cut(&[HEL, STOP]).then_silence(),
        Script::cut(&[HEL, STOP, DONE]).then_silence(),
    ] {
        assert_eq!(drain(script).await.1, "finished");
    }
}

#[tokio::test]
async fn bl_88_a_stream_that_broke_off_is_cut() {
    use TimeoutPhase::Idle;
    for (script, transport) in [
        (Script::stream(&[HEL]), Transport::Reset),
        (Script::cut(&[HEL]), Transport::Reset),
        (Script::unframed(&[HEL, &LO[..30]]), Transport::Reset),
        (
            Script::cut(&[HEL]).then_silence(),
            Transport::Timeout(Idle, TimerOwner::Us),
        ),
    ] {
        let (shown, end, failure) = drain(script).await;
        assert_eq!((shown.as_str(), end), (HEL, "cut"));
        let failure = failure.unwrap();
        assert_eq!(
            (failure.transport, failure.phase),
            (Some(transport), Some(Phase::AfterContent))
        );
        assert_eq!(failure.provider.unwrap().as_str(), "relay");
    }
    let (shown, end, failure) = drain(Script::stream(&[HEL, ERROR])).await;
    assert_eq!((shown.as_str(), end), (HEL, "cut"));
    assert_eq!(
        failure.unwrap().body.as_deref(),
        Some(&b"{\"error\":{\"message\":\"overloaded\"}}"[..])
    );
}

#[tokio::test]
async fn thinking_is_shown_live_and_alone_it_is_hollow() {
    let (shown, end, failure) = drain(Script::stream(&[ROLE, THINK, STOP, DONE])).await;
    assert_eq!((shown, end), ([ROLE, THINK, STOP].concat(), "hollow"));
    assert_eq!(failure.unwrap().status, Some(200));
    assert_eq!(
        drain(Script::stream(&[THINK, HEL, STOP, DONE])).await.1,
        "finished"
    );
}

#[tokio::test]
async fn a_plain_answer_to_a_streaming_request_becomes_one_event() {
    let (shown, end, _) = drain(Script::json(200, WHOLE)).await;
    assert_eq!(
        shown,
        "data: {\"id\":\"1\",\"choices\":[{\"index\":0,\"finish_reason\":\"stop\",\"delta\":{\"role\":\"assistant\",\
         \"content\":\"Hello\"}}],\"object\":\"chat.completion.chunk\"}\n\n"
    );
    assert_eq!(end, "finished");
}

#[tokio::test]
async fn bl_88_an_error_that_stands_bare_in_a_stream_is_one() {
    const BARE: &str = "{\"error\":{\"message\":\"overloaded\"}}";
    let line = format!("{BARE}\n\n");
    for pieces in [&[ROLE, HEL, BARE] as &[_], &[ROLE, HEL, &line, DONE]] {
        let (shown, end, failure) = drain(Script::stream(pieces)).await;
        assert_eq!((shown, end), ([ROLE, HEL].concat(), "cut"), "{pieces:?}");
        assert_eq!(failure.unwrap().body.as_deref(), Some(BARE.as_bytes()));
    }
    let early = failure(Script::stream(&[ROLE, BARE]), true).await;
    assert_eq!(early.body.as_deref(), Some(BARE.as_bytes()));
    let (shown, end, _) = drain(Script::stream(&[HEL, "{\"usage\":1}\n\n", STOP, DONE])).await;
    assert_eq!(end, "finished", "{shown}");
}

#[tokio::test]
async fn bl_88_an_end_within_the_arguments_of_a_call_is_a_break() {
    let call = |arguments: &str| {
        let call =
            serde_json::json!({"index": 0, "id": "c", "function": {"name": "f", "arguments": arguments}});
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
    };
    for (arguments, end) in [("{\"a\":", "cut"), ("{\"a\":1}", "finished"), ("", "finished")] {
        let (_, ended, _) = drain(Script::stream(&[&call(arguments), DONE])).await;
        assert_eq!(ended, end, "{arguments}");
    }
}

#[tokio::test]
async fn bl_89_an_answer_under_a_wrong_content_type_is_one() {
    let events = [ROLE, HEL, LO, STOP, DONE].concat();
    for content_type in ["application/json", "text/html; charset=utf-8"] {
        let script = Script::reply(200, &[("content-type", content_type)], &events);
        let (shown, end, _) = drain(script).await;
        assert_eq!(
            (shown, end),
            ([ROLE, HEL, LO, STOP].concat(), "finished"),
            "{content_type}"
        );
        let cut = Script::reply(200, &[("content-type", content_type)], &[ROLE, HEL].concat());
        assert_eq!(drain(cut).await.1, "cut", "{content_type}");
    }
    let named = drain(Script::json(200, WHOLE)).await;
    assert_eq!(drain(Script::unframed(&["\n", "\n", WHOLE])).await.0, named.0);
}
