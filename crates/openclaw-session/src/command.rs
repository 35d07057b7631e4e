//! Parses the chat commands that show and change a session's model: `/model`, `/new`, `/reset`, `/status`.

use openclaw_chain::split_profile;
use openclaw_ids::ProfileId;

/// A model as a person typed it behind a command, to be resolved by the configuration, and a profile when one was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelArgument {
    /// A reference or an alias.
    pub reference: String,
    /// The profile behind the `@`.
    pub profile: Option<ProfileId>,
}

/// One command about a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// `/model`: which model is used.
    Model,
    /// `/model default`: back to what is configured.
    ModelDefault,
    /// `/model list`: which models there are.
    ModelList,
    /// `/model <ref>[@profile]`: use this one.
    ModelSet(ModelArgument),
    /// `/new [ref]`: start over, perhaps with another model.
    New(Option<ModelArgument>),
    /// `/reset`: start over.
    Reset,
    /// `/status`: which model the session uses and why.
    Status,
}

/// A message that begins with one of the commands and has more words than it takes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is more than the command takes; write {usage}")]
pub struct CommandError {
    /// The message.
    pub text: String,
    /// How the command is written.
    pub usage: &'static str,
}

/// Commands without an argument.
const WITHOUT_ARGUMENT: &[(&str, &[&str], Command)] = &[
    ("/model", &[], Command::Model),
    ("/model", &["default"], Command::ModelDefault),
    ("/model", &["list"], Command::ModelList),
    ("/new", &[], Command::New(None)),
    ("/reset", &[], Command::Reset),
    ("/status", &[], Command::Status),
];

/// How each command is written.
const USAGE: &[(&str, &str)] = &[
    (
        "/model",
        "`/model`, `/model list`, `/model default` or `/model <ref>[@profile]`",
    ),
    ("/new", "`/new` or `/new <ref>`"),
    ("/reset", "`/reset`"),
    ("/status", "`/status`"),
];

/// Reads a whole message as a command; `None` when it is none of these. Command words are read in any case.
///
/// # Errors
/// When a command is followed by more words than it takes.
///
/// ```
/// use openclaw_session::{Command, parse_command};
///
/// assert_eq!(parse_command("/model default"), Some(Ok(Command::ModelDefault)));
/// assert_eq!(parse_command("what is a model?"), None);
/// ```
pub fn parse_command(message: &str) -> Option<Result<Command, CommandError>> {
    let words: Vec<&str> = message.split_whitespace().collect();
    let (name, rest) = words.split_first()?;
    let name = name.to_lowercase();
    let (_, usage) = USAGE.iter().find(|(known, _)| *known == name)?;
    let plain = WITHOUT_ARGUMENT
        .iter()
        .find(|(known, tail, _)| *known == name && same_words(tail, rest));
    if let Some((_, _, command)) = plain {
        return Some(Ok(command.clone()));
    }
    Some(match (name.as_str(), rest) {
        ("/model", [model]) => Ok(Command::ModelSet(typed(model))),
        ("/new", [model]) => Ok(Command::New(Some(typed(model)))),
        _ => Err(CommandError {
            text: message.trim().to_owned(),
            usage,
        }),
    })
}

fn same_words(known: &[&str], typed: &[&str]) -> bool {
    known.len() == typed.len()
        && known
            .iter()
            .zip(typed)
            .all(|(known, typed)| known.eq_ignore_ascii_case(typed))
}

fn typed(text: &str) -> ModelArgument {
    let (reference, profile) = split_profile(text);
    ModelArgument {
        reference: reference.to_owned(),
        profile: profile.and_then(|profile| ProfileId::try_new(profile).ok()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(reference: &str, profile: Option<&str>) -> ModelArgument {
        ModelArgument {
            reference: reference.to_owned(),
            profile: profile.map(crate::testing::profile),
        }
    }

    #[test]
    fn what_people_type() {
        for (message, command) in [
            ("/model", Command::Model),
            ("  /MODEL List ", Command::ModelList),
            ("/model default", Command::ModelDefault),
            ("/model openai/gpt", Command::ModelSet(model("openai/gpt", None))),
            (
                "/model openai/gpt@openai:work",
                Command::ModelSet(model("openai/gpt", Some("openai:work"))),
            ),
            ("/model Fast@work", Command::ModelSet(model("Fast", Some("work")))),
            (
                "/model ollama/q@q4_0",
                Command::ModelSet(model("ollama/q@q4_0", None)),
            ),
            ("/new", Command::New(None)),
            ("/new\topus", Command::New(Some(model("opus", None)))),
            ("/reset", Command::Reset),
            ("/Status\n", Command::Status),
        ] {
            assert_eq!(parse_command(message), Some(Ok(command)), "{message:?}");
        }
    }

    #[test]
    fn what_is_no_command_of_ours() {
        for message in [
            "",
            " ",
            "model",
            "/models",
            "/model/list",
            "hello /model",
            "/statusline",
            "//reset",
        ] {
            assert_eq!(parse_command(message), None, "{message:?}");
        }
    }

    #[test]
    fn too_much_is_an_error_that_shows_the_form() {
        for (message, usage) in [
            (
                "/model a b",
                "`/model`, `/model list`, `/model default` or `/model <ref>[@profile]`",
            ),
            ("/new a b", "`/new` or `/new <ref>`"),
            ("/reset now", "`/reset`"),
            ("/status please", "`/status`"),
        ] {
            let error = parse_command(message).unwrap().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{message}` is more than the command takes; write {usage}")
            );
        }
    }
}
