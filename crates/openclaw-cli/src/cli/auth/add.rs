//! `auth add`: stores a key, a token, or a pointer to one.

use std::io;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use openclaw_auth_store::{
    ApiKey, Attributes, AuthSnapshot, Credential, ExclusionReason, Expiry, KeySource, ProfileStore, Secret,
    SecretRef, Token, UsageStore, credential_eligibility,
};
use openclaw_config::Environment;
use openclaw_ids::{AgentId, ProfileId, ProviderId};
use serde::Serialize;
use serde_json::json;

use super::named;
use crate::cli::chain::no_address;
use crate::files::{AgentArg, CommonArgs, Files, runtime};
use crate::outcome::{CommandError, Outcome};
use crate::terminal::Render;
use crate::terminal::prompt::read_secret;
use crate::terminal::screen::{Screen, now};

/// Arguments of `auth add`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::cli) struct AddArgs {
    /// The provider, or the provider and a name of yours: `openai` is `openai:default`
    #[arg(value_name = "PROVIDER[:NAME]")]
    profile: String,
    /// What a secret that is typed as an argument ends up in, so that no message repeats it
    #[arg(hide = true, value_name = "SECRET")]
    secrets: Vec<String>,
    /// What it is
    #[arg(long, value_enum, default_value = "api-key")]
    kind: Kind,
    /// Copy the secret from this variable of the environment, once
    #[arg(long, value_name = "VARIABLE", conflicts_with = "reference")]
    from_env: Option<String>,
    /// Store a pointer instead of a secret: env:<VARIABLE>, file:<alias>:</pointer>, or exec:<alias>:<id>
    #[arg(long = "ref", value_name = "POINTER")]
    reference: Option<String>,
    /// When a token ends, such as 2027-01-31T00:00:00Z
    #[arg(long, value_name = "TIME")]
    expires: Option<Timestamp>,
    /// What people call it
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// The address of its account
    #[arg(long, value_name = "ADDRESS")]
    email: Option<String>,
    /// Try it before the provider's other credentials
    #[arg(long)]
    first: bool,
    #[command(flatten)]
    agent: AgentArg,
    #[command(flatten)]
    common: CommonArgs,
}

const EXAMPLES: &str = "\
The secret comes from standard input, from a hidden prompt at a terminal, or from a variable; never
from an argument, which every process of this machine could read.

Examples:
  openclaw-gateway auth add openai                            Asks for the key
  openclaw-gateway auth add openai:work < key.txt             A second key, from a file
  openclaw-gateway auth add groq --from-env GROQ_API_KEY      Copies the key from a variable
  openclaw-gateway auth add groq --ref env:GROQ_API_KEY       Looks the variable up at every use
  openclaw-gateway auth add anthropic:ci --kind token --expires 2027-01-31T00:00:00Z
  openclaw-gateway auth add openai:new --first --agent ops    Tried first, in agent ops alone

Then: openclaw-gateway auth test openai";

/// What is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A key without an end
    ApiKey,
    /// A bearer token, perhaps with an end
    Token,
}

/// What was asked for cannot be stored.
#[derive(Debug, thiserror::Error)]
enum AddError {
    #[error(
        "a secret is no argument, since every process of this machine could read it; name the provider alone, such as \
         `openai`, and type the secret when you are asked, or pipe it in"
    )]
    Argument,
    #[error("--expires is for tokens; add --kind token, or leave it out")]
    KeyWithEnd,
    #[error(
        "`{0}` is no name for a credential; use letters, digits and the signs . _ - + @ and one colon, such as \
         `openai:work`"
    )]
    Name(String),
    #[error("--ref is no pointer; write env:<VARIABLE>, file:<alias>:</pointer> or exec:<alias>:<id>")]
    Pointer,
    #[error("environment variable `{0}` is not set; set it, or pipe the secret in")]
    Unset(String),
    #[error("this cannot be used as a credential ({0}); nothing was stored")]
    Unusable(&'static str),
}

/// Stores the credential.
pub(in crate::cli) fn run(
    environment: &Environment,
    arguments: &AddArgs,
    screen: &mut Screen<'_>,
) -> Result<Outcome, CommandError> {
    if !arguments.secrets.is_empty() || arguments.profile.split(':').any(is_key) {
        return Err(AddError::Argument.into());
    }
    let (provider, id) = named(&arguments.profile)?;
    if !is_plain(id.as_str()) {
        return Err(AddError::Name(arguments.profile.clone()).into());
    }
    let files = Files::open(&arguments.common.places, environment)?;
    let agent = arguments.agent.id(&files)?;
    let credential = credential(arguments, &provider, &id, environment)?;
    let usable = credential_eligibility(&credential, now());
    if !usable.is_ok() {
        return Err(AddError::Unusable(usable.as_str()).into());
    }
    let store = files.store(&agent)?;
    let own = store.agent();
    let replaced = own.snapshot().profiles.contains_key(&id);
    runtime()?.block_on(async {
        own.upsert(id.clone(), credential, now()).await?;
        let promoted = if arguments.first {
            own.snapshot().promoted(&provider, &id)?
        } else {
            None
        };
        if let Some((key, ids)) = promoted {
            own.set_order(key, ids, now()).await?;
        }
        Ok::<(), CommandError>(())
    })?;
    let notes = notes(&files, &store.snapshot(), &provider, &id);
    let added = AddedCredential {
        agent,
        profile: id,
        replaced,
        notes,
    };
    screen.render(&added, arguments.common.output)?;
    Ok(Outcome::Fine)
}

/// A credential that was stored.
struct AddedCredential {
    agent: AgentId,
    profile: ProfileId,
    /// Whether one of that name was stored before.
    replaced: bool,
    /// What keeps it from being used.
    notes: Vec<String>,
}

impl Render for AddedCredential {
    fn text(&self, screen: &mut Screen<'_>) -> io::Result<()> {
        let done = if self.replaced { "Replaced" } else { "Added" };
        screen.line(format!("{done} {} in agent {}.", self.profile, self.agent))?;
        let mut notes = self.notes.iter();
        notes.try_for_each(|note| screen.line(format!("Note: {note}")))
    }

    fn json(&self) -> impl Serialize {
        let done = if self.replaced { "replaced" } else { "added" };
        json!({"agent": self.agent, "profile": self.profile, "done": done, "notes": self.notes})
    }
}

/// How keys begin, as their providers write them.
const KEY_BEGINNINGS: &[&str] = &[
    "AIza",
    "AKIA",
    "csk-",
    "eyJ",
    "fw_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "gsk_",
    "hf_",
    "nvapi-",
    "pk-",
    "pplx-",
    "r8_",
    "rk-",
    "sk-",
    "sk_",
    "tgp_",
    "xai-",
];
/// The fewest characters after that; what is shorter may be a name.
const KEY_REST: usize = 8;

/// Whether a text is a key by its looks, so that no message repeats it: no provider or account is named like that.
fn is_key(text: &str) -> bool {
    let text = text.trim();
    let rest = KEY_BEGINNINGS.iter().find_map(|begin| text.strip_prefix(begin));
    rest.is_some_and(|rest| {
        rest.chars().count() >= KEY_REST && rest.chars().any(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
    })
}

/// Whether a name can be typed, shown and searched for as it is. Stored ones may be of any kind.
fn is_plain(id: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '@' | ':');
    id.chars().all(is_plain) && id.matches(':').count() == 1
}

fn credential(
    arguments: &AddArgs,
    provider: &ProviderId,
    id: &ProfileId,
    environment: &Environment,
) -> Result<Credential, CommandError> {
    if arguments.expires.is_some() && arguments.kind == Kind::ApiKey {
        return Err(AddError::KeyWithEnd.into());
    }
    let attributes = Attributes {
        email: arguments.email.clone(),
        display_name: arguments.display_name.clone(),
        ..Attributes::default()
    };
    let source = source(arguments, id, environment)?;
    Ok(match arguments.kind {
        Kind::ApiKey => Credential::ApiKey(ApiKey {
            provider: provider.clone(),
            key: Some(source),
            metadata: indexmap::IndexMap::new(),
            attributes,
        }),
        Kind::Token => {
            let (token, token_ref) = match source {
                KeySource::Inline(token) => (Some(token), None),
                KeySource::Reference(pointer) => (None, Some(pointer)),
            };
            Credential::Token(Token {
                provider: provider.clone(),
                token,
                token_ref,
                expires: arguments.expires.map(|end| Expiry::At(end.as_millisecond())),
                attributes,
            })
        }
    })
}

fn source(arguments: &AddArgs, id: &ProfileId, environment: &Environment) -> Result<KeySource, CommandError> {
    if let Some(text) = &arguments.reference {
        let pointer = pointer(text).ok_or(AddError::Pointer)?;
        return Ok(KeySource::Reference(pointer));
    }
    if let Some(name) = &arguments.from_env {
        let value = environment
            .get(name)
            .ok_or_else(|| AddError::Unset(name.clone()))?;
        return Ok(KeySource::Inline(Secret::new(value)));
    }
    Ok(KeySource::Inline(read_secret(&format!("Secret of {id}"))?))
}

/// `env:NAME`, or `<source>:<alias>:<id>`.
fn pointer(text: &str) -> Option<SecretRef> {
    let (source, rest) = text.split_once(':')?;
    let pointer = match (source, rest.split_once(':')) {
        ("env", None) => SecretRef::env(rest),
        (_, Some((alias, id))) => SecretRef::parse(&json!({"source": source, "provider": alias, "id": id}))?,
        (_, None) => return None,
    };
    pointer.is_well_formed().then_some(pointer)
}

/// What keeps a stored credential from being used, for people.
fn notes(files: &Files, seen: &AuthSnapshot, provider: &ProviderId, id: &ProfileId) -> Vec<String> {
    let mut notes = Vec::new();
    if files.endpoints.get(provider).is_none() {
        notes.push(no_address(provider));
    }
    let installation = files.installation();
    let order = openclaw_gateway::report::OrderOfProvider::of(&installation, seen, provider, now());
    if !order.order.contains(id) {
        notes.push(match order.passed_over.get(id) {
            Some(ExclusionReason::NotListed) => format!(
                "the order of {provider} does not name it, so it is not tried; add it with `auth order set {provider} …`"
            ),
            Some(ExclusionReason::Ineligible(why)) => format!("it is not tried ({})", why.as_str()),
            None => "it is not tried (not_listed)".to_owned(),
        });
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_can_be_typed() {
        for (name, expected) in [
            ("openai:work", true),
            ("openai:me+1@example.com", true),
            ("z.ai:käse_2", true),
            ("pa:we ird/..", false),
            ("a:b:c", false),
            ("a:\u{202e}b", false),
            ("a:b\n", false),
            ("a:b/c", false),
        ] {
            assert_eq!(is_plain(name), expected, "{name}");
        }
    }

    #[test]
    fn keys_and_names_are_told_apart() {
        for (text, expected) in [
            ("sk-proj-0123456789", true),
            (" sk-ant-api03-Abcdefgh", true),
            ("gsk_A1b2C3d4E5", true),
            ("AIzaSyA-0123456", true),
            ("openai", false),
            ("sk-telecom", false),
            ("sk-telecom-chat", false),
            ("xai", false),
            ("hf_7", false),
            ("me+1@example.com", false),
            ("team-2026-berlin", false),
        ] {
            assert_eq!(is_key(text), expected, "{text}");
        }
    }

    #[test]
    fn pointers_as_people_write_them() {
        for (text, expected) in [
            ("env:GROQ_API_KEY", Some(("env", "default", "GROQ_API_KEY"))),
            (
                "env:default:GROQ_API_KEY",
                Some(("env", "default", "GROQ_API_KEY")),
            ),
            ("file:vault:/openai/key", Some(("file", "vault", "/openai/key"))),
            ("file:vault:value", Some(("file", "vault", "value"))),
            ("exec:op:openai/key", Some(("exec", "op", "openai/key"))),
            ("env:lower", None),
            ("file:vault:openai", None),
            ("file:/a/path", None),
            ("GROQ_API_KEY", None),
            ("sk-123", None),
            ("web:a:b", None),
        ] {
            let read = pointer(text);
            let read = read
                .as_ref()
                .map(|p| (p.source.as_str(), p.provider.as_str(), p.id.as_str()));
            assert_eq!(read, expected, "{text}");
        }
    }
}
