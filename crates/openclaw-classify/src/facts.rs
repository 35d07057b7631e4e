//! The facts of one level of a failure: status, codes and texts, its own and those quoted from upstream (classify.md
//! C-2).

mod announcements;
mod byte_set;
mod error_names;
mod foreign_cues;
mod limit_comparison;
mod members;
mod message;
mod status;

use smallvec::SmallVec;

use crate::text::name_table::NameTable;
use crate::text::normal::{SEGMENT, append, is_alphanumeric, is_code_key};
use crate::{Failure, Header};

pub(crate) use foreign_cues::may_state_end;
use limit_comparison::LimitComparison;
pub(crate) use limit_comparison::{REQUEST_OVER_LIMIT, TOKENS_OVER_LIMIT};
pub(crate) use message::clip;

/// Words after which a time is the end of a limit; a time elsewhere in a text is not read.
#[rustfmt::skip]
pub(crate) const RESET_CUES: [&str; 20] = [
    "try again", "trying again", "again", "retry", "resets", "reset", "resetting", "wait", "available", "regain", "refresh", "renew", "until", "restore", "renewed", "restablec", "reinici", "disponib", "expires", "|",
];

/// The codes that rows name, each with the numbers of these rows.
pub(crate) type Codes = NameTable<Vec<u16>>;

/// An error code or type that some row names.
pub(crate) struct Code<'c> {
    /// The field it was read from, for the evidence.
    pub(crate) field: &'static str,
    /// As sent.
    pub(crate) raw: String,
    /// The [`code_key`](crate::text::normal::code_key) of `raw`.
    key: &'c str,
    /// The numbers of the rows that name it.
    pub(crate) rows: &'c [u16],
}

/// Codes and texts of the same origin.
#[derive(Default)]
pub(crate) struct Layer<'c> {
    pub(crate) codes: Vec<Code<'c>>,
    /// Whether there was any code, also one that no row names.
    has_code: bool,
    /// All texts in normal form, with [`SEGMENT`] between them.
    pub(crate) text: String,
    /// Where the text of each field ends in `text`.
    fields: SmallVec<[(usize, &'static str); 2]>,
    pub(crate) status: Option<u16>,
}

impl<'c> Layer<'c> {
    fn add_code(&mut self, codes: &'c Codes, field: &'static str, raw: &str) {
        // Clients give these names to all of their errors.
        if matches!(raw, "APIError" | "ApiError")
            || is_code_key(raw, "error")
            || !raw.contains(is_alphanumeric)
        {
            return;
        }
        self.has_code = true;
        if let Some((key, rows)) = codes.get(raw)
            && !self.codes.iter().any(|code| code.key == key)
        {
            self.push_code(field, raw, key, rows);
        }
    }

    /// Adds the code of a comparison that was read from the numbers of a text.
    fn add_comparison(&mut self, codes: &'c Codes, field: &'static str, comparison: &LimitComparison<'_>) {
        self.has_code = true;
        if let Some((key, rows)) = codes.get(comparison.code) {
            self.push_code(field, comparison.text, key, rows);
        }
    }

    fn push_code(&mut self, field: &'static str, raw: &str, key: &'c str, rows: &'c [u16]) {
        self.codes.push(Code {
            field,
            raw: raw.to_owned(),
            key,
            rows,
        });
    }

    fn add_text(&mut self, field: &'static str, raw: &str) {
        if !self.text.is_empty() && !self.text.ends_with(SEGMENT) {
            self.text.push(SEGMENT);
        }
        append(&mut self.text, raw);
        self.fields.push((self.text.len(), field));
    }

    /// The field that the text at byte `offset` came from.
    pub(crate) fn field_at(&self, offset: usize) -> &'static str {
        self.fields
            .iter()
            .find(|(end, _)| offset < *end)
            .map_or("message", |(_, field)| field)
    }

    /// True when there is neither a code nor a text.
    pub(crate) fn is_empty(&self) -> bool {
        !self.has_code && self.text.trim_matches([SEGMENT, ' ']).is_empty()
    }
}

/// A member of a body that may state when a limit ends (C-9).
pub(crate) struct TimeMember {
    pub(crate) key: &'static str,
    pub(crate) value: String,
    /// Whether the object of the member says that its limit is used up, if it says either.
    pub(crate) exhausted: Option<bool>,
}

/// What a member or header says about how much of a limit is used (C-9).
#[derive(Clone, Copy)]
pub(crate) enum UsageField {
    /// How much is left.
    Remaining,
    /// How much is used, 100 being all.
    Percent,
    /// How much is used, 1 being all.
    Fraction,
    /// A word such as `rejected`.
    Status,
}

/// Whose statement a code or text is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The provider that answered.
    Own,
    /// An upstream that the provider quotes (C-2.4).
    Upstream,
}

/// Everything that was read from one level of a failure.
pub(crate) struct Facts<'c> {
    options: ReadOptions<'c>,
    pub(crate) own: Layer<'c>,
    pub(crate) upstream: Layer<'c>,
    pub(crate) explicit_status: Option<u16>,
    pub(crate) provider: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) times: Vec<TimeMember>,
    pub(crate) headers: Vec<Header>,
    /// Messages for people, as sent.
    pub(crate) sentences: Vec<String>,
    /// The text is an HTML page, so its words may come from a proxy.
    pub(crate) page: bool,
    /// There is rate-limit telemetry that says that the request was allowed (BL-05).
    pub(crate) allowed: bool,
}

/// What is read, so that nothing is kept that the caller does not use.
#[derive(Clone, Copy)]
pub(crate) struct ReadOptions<'c> {
    /// The codes that are kept; other codes only count as present.
    pub(crate) codes: &'c Codes,
    pub(crate) pages: PageDetail,
    pub(crate) sentences: SentenceFilter,
}

/// How much of an HTML page in the own texts is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PageDetail {
    /// All of its text.
    Full,
    /// Only whether it has text, which one letter stands for.
    Presence,
}

/// Which messages for people are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum SentenceFilter {
    All,
    /// Those that may state a time.
    WithTime,
}

impl ReadOptions<'static> {
    /// Options for reading messages alone, without codes.
    pub(crate) const fn texts(pages: PageDetail, sentences: SentenceFilter) -> Self {
        static NONE: Codes = Codes::EMPTY;
        Self {
            codes: &NONE,
            pages,
            sentences,
        }
    }
}

impl<'c> Facts<'c> {
    /// Reads one level; the cause of the failure is a level of its own.
    pub(crate) fn read(failure: &Failure, options: ReadOptions<'c>) -> Self {
        let mut facts = Self {
            options,
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
                members::add_code(&mut facts, Origin::Own, field, value.trim());
            }
        }
        let message = failure.message.as_deref().unwrap_or_default();
        message::read(&mut facts, Origin::Own, "message", message, 0);
        if let Some(body) = &failure.body {
            let body = String::from_utf8_lossy(body);
            if body != message {
                message::read(&mut facts, Origin::Own, "body", &body, 0);
            }
        }
        facts
    }

    fn add_code(&mut self, origin: Origin, field: &'static str, raw: &str) {
        let codes = self.options.codes;
        self.layer(origin).add_code(codes, field, raw);
    }

    /// The effective status (C-2.2): that of the response unless it claims success, then the one in the text.
    pub(crate) fn status(&self) -> Option<u16> {
        let failed = |status: &u16| *status >= 400;
        self.explicit_status
            .filter(failed)
            .or(self.own.status)
            .or(self.upstream.status)
            .or(self.explicit_status)
    }

    fn layer(&mut self, origin: Origin) -> &mut Layer<'c> {
        match origin {
            Origin::Own => &mut self.own,
            Origin::Upstream => &mut self.upstream,
        }
    }

    /// True when nothing but a status may be known.
    pub(crate) fn is_empty(&self) -> bool {
        self.own.is_empty() && self.upstream.is_empty()
    }
}
