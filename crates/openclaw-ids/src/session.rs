//! Session keys, the addresses of conversations, and session ids, their current transcripts.

use crate::text_id::text_id;

text_id! {
    /// The stable address of a conversation, which `/new` and `/reset` do not change. Trimmed; case is kept.
    SessionKey, "session key", |text| text.trim().into()
}

text_id! {
    /// The id of the current transcript, which changes on `/new`, `/reset`, expiry and some compactions (S-1.1).
    /// Trimmed; case is kept.
    SessionId, "session id", |text| text.trim().into()
}
