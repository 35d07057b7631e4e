//! More runs in the history of decisions.

use std::hint::black_box;

use openclaw_gateway::history::{
    Entry, History, HistoryConfig, HistoryReader, Record, RunFilter, RunNote, RunOutcome,
};
use openclaw_ids::AgentId;
use tempfile::TempDir;

use super::Work;
use crate::Failure;
use crate::engine;

/// So many entries are handed over before it is waited for them.
const BATCH: usize = 256;

/// The story of one run, another one each time.
pub(super) fn story(count: usize) -> Result<Work, Failure> {
    let (folder, reader) = filled(count)?;
    let mut at = 0;
    Ok(Box::new(move || {
        at = (at + 7_919) % count;
        black_box((folder.path(), reader.story(&name(at)).is_ok()));
    }))
}

/// The latest runs of an agent.
pub(super) fn latest(count: usize) -> Result<Work, Failure> {
    let (folder, reader) = filled(count)?;
    let filter = RunFilter {
        agent: Some(AgentId::main()),
        latest: Some(50),
        ..RunFilter::default()
    };
    Ok(Box::new(move || {
        black_box((folder.path(), reader.runs(&filter).is_ok()));
    }))
}

fn name(number: usize) -> String {
    format!("run-{number}")
}

/// A history with so many runs that were answered at once.
fn filled(count: usize) -> Result<(TempDir, HistoryReader), Failure> {
    let folder = tempfile::tempdir()?;
    let at = engine::at(0);
    let history = History::open(folder.path(), &HistoryConfig::default(), at)?;
    let runtime = crate::runtime()?;
    let chain = engine::chain(3);
    for number in 0..count {
        let note = RunNote {
            run_id: name(number),
            agent: AgentId::main(),
            session_key: None,
            session_id: None,
            wire: "openai".to_owned(),
            chain: chain.clone(),
            started_at: at,
            outcome: RunOutcome::Answered,
            calls: 1,
            served: chain.first().cloned(),
            fallback_index: Some(0),
            first_failure: None,
        };
        let record = Record::Run(Box::new(note));
        history.record(Entry { at, record });
        if number % BATCH == BATCH - 1 {
            runtime.block_on(history.flush());
        }
    }
    runtime.block_on(history.flush());
    if history.dropped() + history.failed() > 0 {
        return Err("the history could not keep all runs; is the disk full?".into());
    }
    let reader = HistoryReader::open(folder.path())?.ok_or("the history is not there")?;
    Ok((folder, reader))
}
