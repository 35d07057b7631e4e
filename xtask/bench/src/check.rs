//! Compares what hot paths allocate and execute with bounds that are kept beside the code.

mod bounds;
mod cases;
mod measured;

use std::path::PathBuf;

use crate::Failure;
use crate::arguments::Arguments;

use bounds::{Bounds, Comparison};
use cases::{CASES, Case};
use measured::Counts;

/// How a comparison ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing is above its bound.
    Within,
    /// Something is.
    Over,
}

/// Counts the named cases, or all, and compares or writes down.
pub(crate) fn run(arguments: &Arguments) -> Result<Ending, Failure> {
    let cases = named(&arguments.words)?;
    let valgrind = measured::has_valgrind();
    let counted = cases
        .iter()
        .map(|case| Ok((case.name, measured::count(case, valgrind)?)))
        .collect::<Result<Vec<(&str, Counts)>, Failure>>()?;
    let path = path();
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut bounds = Bounds::read(&text)?;
    if arguments.write {
        if !valgrind {
            return Err("without valgrind there are no instruction counts to write down; install it".into());
        }
        for (name, counts) in &counted {
            bounds.accept(name, *counts);
        }
        if arguments.words.is_empty() {
            bounds.keep_only(CASES.iter().map(|case| case.name));
        }
        std::fs::write(&path, bounds.to_string())
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let comparison = Comparison::new(&bounds, &counted);
    print!("{comparison}");
    if !valgrind {
        println!("valgrind is not installed: allocations alone were compared, instructions were not");
    }
    Ok(if comparison.is_over() {
        Ending::Over
    } else {
        Ending::Within
    })
}

/// One process's share of the work: see [`measured`].
pub(crate) fn play(words: &[String]) -> Result<(), Failure> {
    let [name, passes] = words else {
        return Err("`--role count` takes a case and a number of passes".into());
    };
    let passes = passes.parse().map_err(|_| format!("`{passes}` is no number"))?;
    measured::play(named(std::slice::from_ref(name))?[0], passes)
}

fn named(words: &[String]) -> Result<Vec<&'static Case>, Failure> {
    if words.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |word: &String| {
        let case = CASES.iter().find(|case| case.name == *word);
        case.ok_or_else(|| {
            let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
            format!("there is no case `{word}`; the cases are {}", names.join(", ")).into()
        })
    };
    words.iter().map(find).collect()
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/bounds.tsv"))
}
