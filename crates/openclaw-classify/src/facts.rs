//! What one level of a failure says: status, codes and texts, own and quoted from upstream (classify.md C-2).

mod html;
mod named;
mod relation;
mod status;
mod text;
mod walk;

use crate::Failure;
use crate::failure::Header;
use crate::normal::{SEGMENT, append, code_key};

pub(crate) use html::{page_start, page_title};
pub(crate) use relation::{OVER_RATE, OVER_WINDOW};
pub(crate) use text::clip;

/// A name that a provider gives to a failure.
pub(crate) struct Code {
    /// The member it was read from, for the evidence.
    pub(crate) field: &'static str,
    /// As sent.
    pub(crate) raw: String,
    /// As compared ([`code_key`]).
    pub(crate) key: String,
}

/// Codes and texts from the same source.
#[derive(Default)]
pub(crate) struct Layer {
    pub(crate) codes: Vec<Code>,
    /// All texts in normal form, separated by [`SEGMENT`].
    pub(crate) text: String,
    /// Where the texts of each field end in `text`.
    fields: Vec<(usize, &'static str)>,
    pub(crate) status: Option<u16>,
}

impl Layer {
    fn code(&mut self, field: &'static str, raw: &str) {
        // The names that clients give to all of their errors say nothing.
        if matches!(raw, "APIError" | "ApiError") {
            return;
        }
        let key = code_key(raw);
        if !key.is_empty() && key != "error" && !self.codes.iter().any(|code| code.key == *key) {
            self.codes.push(Code {
                field,
                raw: raw.to_owned(),
                key: key.into_owned(),
            });
        }
    }

    /// A code that was read off the numbers of a text.
    fn relation(&mut self, field: &'static str, relation: &relation::Relation<'_>) {
        self.codes.push(Code {
            field,
            raw: relation.said.to_owned(),
            key: relation.code.to_owned(),
        });
    }

    fn words(&mut self, field: &'static str, raw: &str) {
        if !self.text.is_empty() && !self.text.ends_with(SEGMENT) {
            self.text.push(SEGMENT);
        }
        append(&mut self.text, raw);
        self.fields.push((self.text.len(), field));
    }

    /// The field that the text at `offset` came from.
    pub(crate) fn field_at(&self, offset: usize) -> &'static str {
        self.fields
            .iter()
            .find(|(end, _)| offset < *end)
            .map_or("message", |(_, field)| field)
    }

    /// True when it holds neither a code nor a text.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty() && self.text.trim_matches([SEGMENT, ' ']).is_empty()
    }
}

/// A member that may tell when a limit ends (C-9).
pub(crate) struct TimeMember {
    pub(crate) key: String,
    pub(crate) value: String,
    /// The object it stands in says that its limit is used up, or not.
    pub(crate) exhausted: Option<bool>,
}

/// Who speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speaker {
    /// The party that answered us.
    Own,
    /// Somebody that party quotes (C-2.4).
    Upstream,
}

/// Everything read off one level.
#[derive(Default)]
pub(crate) struct Facts {
    pub(crate) own: Layer,
    pub(crate) upstream: Layer,
    pub(crate) explicit_status: Option<u16>,
    pub(crate) provider: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) times: Vec<TimeMember>,
    pub(crate) headers: Vec<Header>,
    /// The texts for people, as sent.
    pub(crate) sentences: Vec<String>,
    /// The body is a page for people: its words belong to whoever answered under that status.
    pub(crate) page: bool,
    /// Rate-limit telemetry that says the request was allowed (BL-05).
    pub(crate) allowed: bool,
    pages: Pages,
}

/// How much of a page is read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Pages {
    /// All of its words.
    #[default]
    Whole,
    /// Whether it has words at all.
    Skimmed,
}

impl Facts {
    /// Reads one level; the cause is a level of its own.
    pub(crate) fn read(failure: &Failure) -> Self {
        Self::of(failure, Pages::Whole)
    }

    /// As [`read`](Self::read), but for the words of a page in the own texts: they stand for one letter.
    pub(crate) fn skim(failure: &Failure) -> Self {
        Self::of(failure, Pages::Skimmed)
    }

    fn of(failure: &Failure, pages: Pages) -> Self {
        let mut facts = Self {
            pages,
            explicit_status: failure.status.filter(|status| (100..600).contains(status)),
            ..Self::default()
        };
        for (field, value) in [("code", &failure.code), ("type", &failure.kind)] {
            if let Some(value) = value {
                walk::code(&mut facts, Speaker::Own, field, value.trim());
            }
        }
        let message = failure.message.as_deref().unwrap_or_default();
        text::read(&mut facts, Speaker::Own, "message", message, 0);
        if let Some(body) = &failure.body {
            let body = String::from_utf8_lossy(body);
            if body != message {
                text::read(&mut facts, Speaker::Own, "body", &body, 0);
            }
        }
        facts
    }

    /// The status that counts (C-2.2): the answer's own unless it claims success, then what the body says.
    pub(crate) fn status(&self) -> Option<u16> {
        let failed = |status: &u16| *status >= 400;
        self.explicit_status
            .filter(failed)
            .or(self.own.status)
            .or(self.upstream.status)
            .or(self.explicit_status)
    }

    pub(crate) fn layer(&mut self, speaker: Speaker) -> &mut Layer {
        match speaker {
            Speaker::Own => &mut self.own,
            Speaker::Upstream => &mut self.upstream,
        }
    }

    /// True when nothing but perhaps a status is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.upstream.is_empty()
    }
}
