//! Renders a story as text.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use openclaw_classify::Reason;
use openclaw_runner::{LOGIN_NOT_RENEWED, RotationKind, login_command, printable};

use super::ending::Ending;
use super::reason_text::{Remedy, words};
use super::story::{Credential, Fate, Story, Visit};

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.headline(f)?;
        let (mut expected, mut jumped) = (1, false);
        for visit in &self.visits {
            if let Some(position) = visit.position.filter(|_| !visit.last_resort) {
                if !jumped {
                    missing(f, expected..position)?;
                }
                expected = position + 1;
            }
            jumped = visit.fate == Fate::Redirected;
            visit.tell(f, self.began_at)?;
        }
        self.next(f)
    }
}

impl Story {
    fn headline(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.run_id.is_empty() {
            "A run without a name"
        } else {
            &self.run_id
        };
        let after = self
            .took_ms
            .map_or_else(String::new, |ms| format!(", after {}", span(ms)));
        write!(f, "{} asked for {}", printable(name), printable(&self.requested))?;
        match &self.ending {
            Ending::Answered { by, position } => {
                let place = position.map_or_else(String::new, |at| format!(", {at} of {}", self.total));
                writeln!(f, " and was answered by {}{place}{after}.", printable(by))?;
            }
            Ending::Exhausted => writeln!(f, " and got no answer{after}: all of its models failed or rest.")?,
            Ending::Surfaced { from } => {
                let repeated = self
                    .visits
                    .last()
                    .and_then(|visit| visit.reason)
                    .is_some_and(would_repeat);
                let because = if repeated {
                    "any other model would repeat it"
                } else {
                    "something had been shown or done by then"
                };
                writeln!(
                    f,
                    " and got the failure of {} as it was{after}: {because}.",
                    printable(from)
                )?;
            }
            Ending::Open { next } => {
                let before = next.as_ref().map_or_else(String::new, |next| {
                    format!(" before {} answered", printable(next))
                });
                let alone = self.visits.len() == 1 && self.visits[0].fate == Fate::Open;
                let answered = if alone {
                    "that it answered, which leaves no record of a first model, "
                } else {
                    ""
                };
                writeln!(f, "; its records end{before}{after}.")?;
                writeln!(
                    f,
                    "That means {answered}that it was cancelled, that it ran out of attempts or time, or that it still goes on."
                )?;
            }
        }
        if let Some(at) = self.began_at {
            writeln!(f, "began {}", instant(at))?;
        }
        if let Some(session) = &self.session_id {
            writeln!(f, "session {}", printable(session))?;
        }
        Ok(())
    }

    /// What the next run meets.
    fn next(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut told: Vec<&str> = Vec::new();
        // A last resort says more than the skip before it.
        let left = self.visits.iter().rev().filter(|visit| {
            let first = !told.contains(&visit.model.as_str());
            told.push(&visit.model);
            first
                && matches!(
                    visit.fate,
                    Fate::Failed | Fate::Redirected | Fate::Skipped | Fate::Surfaced
                )
        });
        let mut left: Vec<&Visit> = left.collect();
        left.sort_by_key(|visit| visit.position);
        if left.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nNext time")?;
        for visit in left {
            writeln!(f, "  {}", visit.next_time())?;
        }
        Ok(())
    }
}

/// Positions without a record.
fn missing(f: &mut fmt::Formatter<'_>, positions: std::ops::Range<usize>) -> fmt::Result {
    for position in positions {
        writeln!(f, "\n{position:>3}. no record: the log left out a repeated one")?;
    }
    Ok(())
}

impl Visit {
    fn tell(&self, f: &mut fmt::Formatter<'_>, began: Option<Timestamp>) -> fmt::Result {
        let number = self
            .position
            .map_or_else(|| "  -".to_owned(), |position| format!("{position:>3}"));
        write!(f, "\n{number}. {} ", printable(&self.model))?;
        if let Some(reason) = self.probed {
            let why = self.said(words(reason).skipped);
            if self.last_resort {
                write!(f, "was asked as the last resort although {why}; it ")?;
            } else {
                write!(f, "was probed although {why}; it ")?;
            }
        }
        match self.fate {
            Fate::Answered => write!(f, "answered")?,
            Fate::Failed => write!(f, "failed: {}", self.said(why(self.reason)))?,
            Fate::Surfaced => write!(
                f,
                "failed, and that went to the caller: {}",
                self.said(why(self.reason))
            )?,
            Fate::Skipped => write!(
                f,
                "was skipped: {}",
                self.said(self.reason.map_or("it rests", |reason| words(reason).skipped))
            )?,
            Fate::Redirected => {
                let next = self.next.as_deref().unwrap_or("another model");
                write!(f, "was left because a person chose {}", printable(next))?;
            }
            Fate::Open => write!(f, "was being asked when the records end")?,
        }
        if let Some(ms) = self.took_ms.filter(|ms| *ms > 0) {
            write!(f, " ({})", span(ms))?;
        }
        writeln!(f)?;
        let facts = self.facts();
        if !facts.is_empty() {
            writeln!(f, "     {facts}")?;
        }
        if let Some(detail) = &self.detail {
            writeln!(f, "     \"{}\"", printable(detail))?;
        }
        for credential in &self.credentials {
            writeln!(f, "     {}", credential.tell(began))?;
            if let Some(detail) = credential
                .detail
                .as_ref()
                .filter(|detail| self.detail.as_ref() != Some(detail))
            {
                writeln!(f, "       \"{}\"", printable(detail))?;
            }
        }
        if let Some(until) = self.rests_until.filter(|_| self.credentials.is_empty()) {
            writeln!(f, "     rests until {}", instant_from(until, began))?;
        }
        match self.left_out {
            0 => Ok(()),
            1 => writeln!(f, "     the log left out one equal record before this one"),
            count => writeln!(f, "     the log left out {count} equal records before this one"),
        }
    }

    /// Reason, status, code and rule, for those who look things up.
    fn facts(&self) -> String {
        let facts = [
            self.reason.map(|reason| reason.as_str().to_owned()),
            self.status.map(|status| format!("HTTP {status}")),
            self.code
                .as_deref()
                .map(|code| format!("code {}", printable(code))),
            self.rule
                .as_deref()
                .map(|rule| format!("rule {}", printable(rule))),
        ];
        facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn next_time(&self) -> String {
        let remedy = match self.proof() {
            Proof::NotRenewed => Remedy::Do(MAKE_ROOM),
            Proof::Key | Proof::Login | Proof::Missing | Proof::Token | Proof::Unknown => {
                self.reason.map_or(Remedy::Wait, |reason| words(reason).remedy)
            }
        };
        // A refused login is not probed.
        let probed = self.position == Some(1) && remedy != Remedy::LogIn;
        let when = match (self.rests_until, self.fate) {
            (Some(until), _) => {
                let probed = if probed {
                    ", and before that as a probe now and then"
                } else {
                    ""
                };
                format!("is asked from {}{probed}", instant(until))
            }
            (None, Fate::Skipped) if self.took_ms.is_none() => "is asked when its rest is over".to_owned(),
            (None, Fate::Skipped) => "is asked as before; it was only passed over in this run".to_owned(),
            (None, _) => "is asked as before; nothing rests because of it".to_owned(),
        };
        let model = printable(&self.model);
        match remedy {
            Remedy::Wait => format!("{model} {when}"),
            Remedy::Do(what) => format!("{model} {when}; {what}"),
            Remedy::LogIn => format!("{model} {when}; {}", self.new_proof()),
        }
    }

    /// What a person does about a credential that was refused.
    fn new_proof(&self) -> String {
        let provider = self.model.split('/').next().unwrap_or_default();
        let command = provider.parse().ok().as_ref().and_then(login_command);
        let Some(command) = command else {
            return "or sign in again, or replace its key".to_owned();
        };
        let sign_in = format!("or sign in again with `{command}`");
        let replace =
            |what: &str| format!("or replace its {what} with `openclaw-gateway auth add {provider}`");
        match self.proof() {
            Proof::Key => replace("key"),
            Proof::Login | Proof::NotRenewed => sign_in,
            Proof::Missing => format!("or store a key with `openclaw-gateway auth add {provider}`"),
            Proof::Token => replace("token"),
            Proof::Unknown => format!("{sign_in}, {}", replace("key")),
        }
    }

    /// `text` about a login, in the words of what was really refused.
    fn said(&self, text: &'static str) -> Cow<'static, str> {
        match self.proof() {
            Proof::Key => text.replace("login", "key").into(),
            Proof::NotRenewed if self.fate != Fate::Skipped => {
                "the login has ended, and this machine could not store a new one".into()
            }
            Proof::Missing if self.reason == Some(Reason::Auth) => "there was no credential".into(),
            Proof::Token => text.replace("login", "token").into(),
            Proof::Login | Proof::Missing | Proof::NotRenewed | Proof::Unknown => text.into(),
        }
    }

    fn proof(&self) -> Proof {
        let is_anonymous = |credential: &Credential| credential.profile.is_none();
        match self.auth_mode.as_deref() {
            _ if self.code.as_deref() == Some(LOGIN_NOT_RENEWED) => Proof::NotRenewed,
            Some("api_key") => Proof::Key,
            Some("oauth") => Proof::Login,
            Some("token") => Proof::Token,
            None if self.credentials.last().is_some_and(is_anonymous) => Proof::Missing,
            Some(_) | None => Proof::Unknown,
        }
    }
}

impl Credential {
    fn tell(&self, began: Option<Timestamp>) -> String {
        let name = self.profile.as_deref().map_or_else(
            || "no credential".to_owned(),
            |hash| format!("credential {}", printable(hash)),
        );
        let rests = self.rests_until.map_or_else(String::new, |until| {
            format!(", rests until {}", instant_from(until, began))
        });
        let then = match self.then {
            RotationKind::FallbackModel => "; on to the next model",
            RotationKind::InlineWait => "; asked once more after the short wait it named",
            RotationKind::Redirect => "; on to the model that a person chose",
            RotationKind::RetryRepaired => "; asked once more with a repaired request",
            RotationKind::RotateProfile => "; on to another credential",
            RotationKind::SurfaceError => "",
            RotationKind::WaitForReset => "; waited for until its rest is over",
        };
        let status = self
            .status
            .map_or_else(String::new, |status| format!(", HTTP {status}"));
        format!("{name}: {}{status}{rests}{then}", self.reason)
    }
}

/// What to do about a disk that keeps a login from being renewed.
const MAKE_ROOM: &str =
    "make room on this machine's disk, or let its state be written; the login is renewed then";

/// What a credential is to a person.
#[derive(Clone, Copy)]
enum Proof {
    Key,
    Login,
    /// There was none.
    Missing,
    /// It has ended, and this machine could not store another.
    NotRenewed,
    Token,
    /// Records of older versions do not say.
    Unknown,
}

/// Whether the failure is one of the request and not of the model (A1).
fn would_repeat(reason: Reason) -> bool {
    matches!(
        reason,
        Reason::ContentPolicy
            | Reason::ContextOverflow
            | Reason::Format
            | Reason::Local
            | Reason::Unclassified
    )
}

fn why(reason: Option<Reason>) -> &'static str {
    reason.map_or("its time was over", |reason| words(reason).failed)
}

/// A length of time in the two largest units that say something.
pub(crate) fn span(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
        _ => format!("{} h {} min", ms / 3_600_000, ms % 3_600_000 / 60_000),
    }
}

fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// An instant, and how far it is from the start of the run if that is known.
fn instant_from(at: Timestamp, began: Option<Timestamp>) -> String {
    let ahead = began.and_then(|began| u64::try_from(at.as_millisecond() - began.as_millisecond()).ok());
    ahead.map_or_else(
        || instant(at),
        |ahead| format!("{} ({} after the run began)", instant(at), span(ahead)),
    )
}
