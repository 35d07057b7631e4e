//! What one level of a failure says: status, codes and texts, own and quoted from upstream (classify.md C-2).

mod announcements;
mod byte_set;
mod error_names;
mod limit_comparison;
mod members;
mod status;
mod text;

use crate::Failure;
use crate::failure::Header;
use crate::few::Few;
use crate::text::name_table::Keyed;
use crate::text::normal::{SEGMENT, append, is_alphanumeric, is_code_key};

pub(crate) use limit_comparison::{OVER_RATE, OVER_WINDOW};
pub(crate) use text::clip;

/// Words after which a time says when to come back; only what follows one is looked at.
#[rustfmt::skip]
pub(crate) const CUES: [&str; 15] = [
    "try again", "trying again", "again", "retry", "resets", "reset", "resetting", "wait", "available", "regain", "refresh", "renew", "until", "restore", "|",
];

/// The names that rows ask for, each with the numbers of these rows.
pub(crate) type Codes = Keyed<Vec<u16>>;

/// A name that a provider gives to a failure, and that some row asks for.
pub(crate) struct Code<'c> {
    /// The member it was read from, for the evidence.
    pub(crate) field: &'static str,
    /// As sent.
    pub(crate) raw: String,
    /// As compared.
    key: &'c str,
    /// The rows that ask for it.
    pub(crate) rows: &'c [u16],
}

/// Codes and texts from the same source.
#[derive(Default)]
pub(crate) struct Layer<'c> {
    pub(crate) codes: Vec<Code<'c>>,
    /// Whether there was any code, be it one that no row asks for.
    named: bool,
    /// All texts in normal form, separated by [`SEGMENT`].
    pub(crate) text: String,
    /// Where the texts of each field end in `text`.
    fields: Few<(usize, &'static str), 2>,
    pub(crate) status: Option<u16>,
}

impl<'c> Layer<'c> {
    fn code(&mut self, codes: &'c Codes, field: &'static str, raw: &str) {
        // The names that clients give to all of their errors say nothing.
        if matches!(raw, "APIError" | "ApiError")
            || is_code_key(raw, "error")
            || !raw.contains(is_alphanumeric)
        {
            return;
        }
        self.named = true;
        if let Some((key, rows)) = codes.get(raw)
            && !self.codes.iter().any(|code| code.key == key)
        {
            self.add(field, raw, key, rows);
        }
    }

    /// A code that was read off the numbers of a text.
    fn relation(&mut self, codes: &'c Codes, field: &'static str, relation: &limit_comparison::Relation<'_>) {
        self.named = true;
        if let Some((key, rows)) = codes.get(relation.code) {
            self.add(field, relation.said, key, rows);
        }
    }

    fn add(&mut self, field: &'static str, raw: &str, key: &'c str, rows: &'c [u16]) {
        self.codes.push(Code {
            field,
            raw: raw.to_owned(),
            key,
            rows,
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
        !self.named && self.text.trim_matches([SEGMENT, ' ']).is_empty()
    }
}

/// A member that may tell when a limit ends (C-9).
pub(crate) struct TimeMember {
    pub(crate) key: &'static str,
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
pub(crate) struct Facts<'c> {
    wanted: Wanted<'c>,
    pub(crate) own: Layer<'c>,
    pub(crate) upstream: Layer<'c>,
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
}

/// What facts are read for.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'c> {
    /// The codes that matter; of all others it is known only that there are some.
    pub(crate) codes: &'c Codes,
    pub(crate) pages: Pages,
    pub(crate) sentences: Sentences,
}

/// How much of a page in the own texts is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pages {
    /// All of its words.
    Whole,
    /// Whether it has words at all: they stand for one letter.
    Skimmed,
}

/// Which texts for people are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sentences {
    All,
    /// Those that may state a time.
    Timed,
}

impl Wanted<'static> {
    /// For what people are shown: no code means anything.
    pub(crate) const fn texts(pages: Pages, sentences: Sentences) -> Self {
        static NONE: Codes = Codes::EMPTY;
        Self {
            codes: &NONE,
            pages,
            sentences,
        }
    }
}

impl<'c> Facts<'c> {
    /// Reads one level; the cause is a level of its own.
    pub(crate) fn read(failure: &Failure, wanted: Wanted<'c>) -> Self {
        let mut facts = Self {
            wanted,
            own: Layer::default(),
            upstream: Layer::default(),
            explicit_status: failure.status.filter(|status| (100..600).contains(status)),
            provider: None,
            request_id: None,
            times: Vec::new(),
            headers: Vec::new(),
            sentences: Vec::new(),
            page: false,
            allowed: false,
        };
        for (field, value) in [("code", &failure.code), ("type", &failure.kind)] {
            if let Some(value) = value {
                members::code(&mut facts, Speaker::Own, field, value.trim());
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

    fn code(&mut self, speaker: Speaker, field: &'static str, raw: &str) {
        let codes = self.wanted.codes;
        self.layer(speaker).code(codes, field, raw);
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

    fn layer(&mut self, speaker: Speaker) -> &mut Layer<'c> {
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
