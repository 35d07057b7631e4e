//! Every format's answers read back as the tokens they were made of.

use super::*;

#[test]
fn answers_read_back_whole_and_streamed() {
    let tokens = ["to ".to_owned(), "be".to_owned()];
    for wire in Wire::ALL {
        let events = wire.events("m", &tokens);
        let stream = events.opening.clone() + &events.tokens.concat() + &events.closing;
        assert_eq!(wire.text_of(&stream, true).as_deref(), Ok("to be"), "{wire:?}");
        let whole = wire.whole("m", &tokens).to_string();
        assert_eq!(wire.text_of(&whole, false).as_deref(), Ok("to be"), "{wire:?}");
        let open = events.opening + &events.tokens.concat();
        assert!(wire.text_of(&open, true).is_err(), "an end is missing: {wire:?}");
        let failed = open + &wire.error_event("m", "server_error", "gone");
        assert!(
            wire.text_of(&failed, true).unwrap_err().contains("gone"),
            "{wire:?}"
        );
        let error = wire.error("server_error", "gone").to_string();
        assert!(
            wire.text_of(&error, false).unwrap_err().contains("gone"),
            "{wire:?}"
        );
    }
}
