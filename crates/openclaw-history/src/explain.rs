//! The story of a run, told from its records alone: what was asked for, what became of every candidate, what comes
//! next. For an operator who reads a log at night.
//!
//! ```
//! use openclaw_history::explain::{read, stories};
//! let log = r#"{"event":"model_fallback_decision","decision":"skip_candidate","runId":"run-7",
//!   "requestedProvider":"anthropic","requestedModel":"claude","candidateProvider":"anthropic",
//!   "candidateModel":"claude","attempt":1,"total":2,"reason":"rate_limit","restsUntil":1772366430000,
//!   "nextCandidateProvider":"openai","nextCandidateModel":"gpt"}"#.replace('\n', " ");
//! let told = stories(&read(&log)?)[0].to_string();
//! assert!(told.contains("anthropic/claude was skipped: its credentials are rate limited"));
//! # Ok::<(), openclaw_history::explain::ReadError>(())
//! ```

mod ending;
mod reason_text;
mod record;
mod story;
mod text;

use openclaw_runner::RunReport;

pub use ending::Ending;
pub use record::{CandidateRecord, ReadError, Record, RotationRecord, read};
pub use story::{Credential, Fate, Story, Visit};

/// The runs that `records` are about, in the order they began. Records of several runs may be mixed, as they are in a
/// log; runs that share a name are told apart by where they end.
pub fn stories(records: &[Record]) -> Vec<Story> {
    let mut stories: Vec<Story> = Vec::new();
    for record in records {
        let open = stories.iter_mut().rev().find(|story| story.is_about(record));
        if let Some(story) = open.filter(|story| story.continues_with(record)) {
            story.add(record);
        } else {
            let mut story = Story::new(record);
            story.add(record);
            stories.push(story);
        }
    }
    for story in &mut stories {
        story.close();
    }
    stories
}

/// The story of a run that this process just made; none when it left no record, as a first try that succeeds does.
pub fn story_of(report: &RunReport) -> Option<Story> {
    let records: Vec<Record> = report.events.iter().map(Record::from).collect();
    let mut told = stories(&records);
    (!told.is_empty()).then(|| told.remove(0))
}

#[cfg(test)]
mod tests;
