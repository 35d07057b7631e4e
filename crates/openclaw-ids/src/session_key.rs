//! Session keys (where a conversation lives) and session ids (which transcript is current).

use crate::text_id::text_id;

text_id! {
    /// The stable address of a conversation; survives `/new` and `/reset`.
    SessionKey, "session key", |text| text.trim().into()
}

text_id! {
    /// The id of the current transcript; changes on `/new`, `/reset`, expiry and some compactions (S-1.1).
    SessionId, "session id", |text| text.trim().into()
}
