//! What may be typed.

use crate::Failure;

/// What this process does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Compares counts with their bounds.
    Check,
    /// Does what is counted.
    Count,
    /// Forwards and does nothing else.
    Floor,
    /// Measures.
    Measure,
    /// Stands for the providers.
    Upstream,
}

/// The words, sorted.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) role: Role,
    /// What is measured, or what the role is told.
    pub(crate) words: Vec<String>,
    pub(crate) rounds: usize,
    /// How long one round of one case takes, in milliseconds.
    pub(crate) millis: u64,
    pub(crate) json: Option<String>,
    /// Where growth is drawn.
    pub(crate) plot: Option<String>,
    /// Whether what was counted is accepted as the new bound.
    pub(crate) write: bool,
    /// The gateway's program.
    pub(crate) gateway: Option<String>,
}

const NAMES: &[&str] = &["classify", "gateway", "growth", "large", "steady", "switches"];

impl Arguments {
    pub(crate) fn parse(words: &[String]) -> Result<Self, Failure> {
        let mut arguments = Self {
            role: Role::Measure,
            words: Vec::new(),
            rounds: 5,
            millis: 1_500,
            json: None,
            plot: None,
            write: false,
            gateway: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                words
                    .next()
                    .cloned()
                    .ok_or_else(|| format!("`{word}` needs a value after it"))
            };
            match word.as_str() {
                "--role" => {
                    arguments.role = match value()?.as_str() {
                        "count" => Role::Count,
                        "upstream" => Role::Upstream,
                        "floor" => Role::Floor,
                        other => return Err(format!("there is no role `{other}`").into()),
                    }
                }
                "--check" => arguments.role = Role::Check,
                "--write" => arguments.write = true,
                "--rounds" => arguments.rounds = number(&value()?)?,
                "--millis" => arguments.millis = number(&value()?)?,
                "--json" => arguments.json = Some(value()?),
                "--plot" => arguments.plot = Some(value()?),
                "--gateway" => arguments.gateway = Some(value()?),
                flag if flag.starts_with('-') => return Err(format!("there is no option `{flag}`").into()),
                name => arguments.words.push(name.to_owned()),
            }
        }
        if arguments.role == Role::Measure {
            let unknown = arguments
                .words
                .iter()
                .find(|word| !NAMES.contains(&word.as_str()));
            if let Some(unknown) = unknown {
                return Err(format!(
                    "there is no bench `{unknown}`; the benches are {}",
                    NAMES.join(", ")
                )
                .into());
            }
        }
        Ok(arguments)
    }

    /// Whether the bench is one of the two that are measured when none is named, or was asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.words.is_empty() || self.names(name)
    }

    /// Whether the bench was asked for.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.words.iter().any(|word| word == name)
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, Failure> {
    text.parse().map_err(|_| format!("`{text}` is no number").into())
}
