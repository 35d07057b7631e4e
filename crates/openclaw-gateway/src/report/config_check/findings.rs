//! What only a gateway looks for: providers that it cannot call as they are written.

use openclaw_chain::{AuthMode, Finding, LintRule, ModelsConfig, Severity};
use openclaw_classify::redact;
use openclaw_config::{ExposedFile, INCLUDE_REMEDY, Include, MisspeltKey};
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{AgentId, ModelRef, ProfileId};

use crate::providers::DanglingPointer;
use crate::providers::UnusableSecret;
use crate::report::legacy_credentials::LegacyCredentials;

static FOREIGN_FORMAT: LintRule = LintRule {
    code: "foreign-format",
    severity: Severity::Warning,
    remedy: "give the provider a base URL below which chat completions are answered, or remove it from the chain",
};

static NO_ENDPOINT: LintRule = LintRule {
    code: "no-endpoint",
    severity: Severity::Error,
    remedy: "set the provider's baseUrl under models.providers, or remove the model from the chain",
};

static UNUSABLE_SECRET: LintRule = LintRule {
    code: "unusable-secret",
    severity: Severity::Error,
    remedy: "set the variable that is named, write the secret itself, or remove the key",
};

static READABLE_BY_OTHERS: LintRule = LintRule {
    code: "readable-by-others",
    severity: Severity::Warning,
    remedy: "run the command that is named, or close a folder above it to others",
};

static FOLDER_OPEN_TO_OTHERS: LintRule = LintRule {
    code: "folder-open-to-others",
    severity: Severity::Note,
    remedy: "run the command that is named; until then each file in it must be closed by itself",
};

/// A file with secrets that others on this machine may read, or the folder of such files.
pub(super) fn exposed(exposed: &ExposedFile) -> Finding {
    Finding {
        rule: if exposed.is_folder() {
            &FOLDER_OPEN_TO_OTHERS
        } else {
            &READABLE_BY_OTHERS
        },
        place: exposed.path().display().to_string(),
        detail: exposed.finding(),
    }
}

/// The longest waits that are shorter than a first one (F-5).
pub(super) fn caps_below_first_wait(cooldowns: &CooldownConfig) -> Vec<Finding> {
    let place = |key: &str| format!("auth.cooldowns.{key}");
    let billing = cooldowns
        .billing_backoffs()
        .map(|(provider, wait)| match provider {
            None => (place("billingBackoffHours"), wait),
            Some(provider) => (place(&format!("billingBackoffHoursByProvider.{provider}")), wait),
        })
        .map(|(first, wait)| (first, wait, "billingMaxHours", cooldowns.billing_max()));
    let auth_permanent = (
        place("authPermanentBackoffMinutes"),
        cooldowns.auth_permanent_backoff(),
        "authPermanentMaxMinutes",
        cooldowns.auth_permanent_max(),
    );
    billing
        .chain([auth_permanent])
        .filter(|(_, wait, _, cap)| wait > cap)
        .map(|(first, wait, key, cap)| Finding {
            rule: &CAP_BELOW_FIRST_WAIT,
            place: first,
            detail: format!(
                "the first wait is {} min, and {key} lets none be longer than {} min",
                wait.as_secs() / 60,
                cap.as_secs() / 60
            ),
        })
        .collect()
}

static CAP_BELOW_FIRST_WAIT: LintRule = LintRule {
    code: "cap-below-first-wait",
    severity: Severity::Warning,
    remedy: "raise the longest wait, or shorten the first one; until then every wait is the longest one",
};

/// A key or header whose secret leads nowhere.
pub(super) fn unusable_secret(secret: &UnusableSecret) -> Finding {
    Finding {
        rule: &UNUSABLE_SECRET,
        place: secret.path(),
        detail: secret.consequence(),
    }
}

/// A stored credential whose secret is kept elsewhere and is not there.
pub(super) fn dangling(agent: &AgentId, profile: &ProfileId, dangling: &DanglingPointer) -> Finding {
    Finding {
        rule: &DANGLING_CREDENTIAL,
        place: format!("credential {profile} of agent {agent}"),
        detail: dangling.to_string(),
    }
}

static DANGLING_CREDENTIAL: LintRule = LintRule {
    code: "dangling-credential",
    severity: Severity::Error,
    remedy: "put the secret where the credential points, or store another credential",
};

/// A file that would be included.
pub(super) fn include(include: &Include) -> Finding {
    Finding {
        rule: &INCLUDE,
        place: redact(if include.path.is_empty() {
            "$include"
        } else {
            &include.path
        }),
        detail: "another file is included, and nothing in it is read".to_owned(),
    }
}

static INCLUDE: LintRule = LintRule {
    code: "include",
    severity: Severity::Error,
    remedy: INCLUDE_REMEDY,
};

/// A key that is not read, and that is nearly one that is.
pub(super) fn misspelt(key: &MisspeltKey) -> Finding {
    Finding {
        rule: &MISSPELT_KEY,
        place: redact(&key.path),
        detail: format!("this key is not read; did you mean `{}`?", key.nearest),
    }
}

static MISSPELT_KEY: LintRule = LintRule {
    code: "misspelt-key",
    severity: Severity::Warning,
    remedy: "write the key as it is read, or remove it",
};

/// Credentials that are in files of older versions alone.
pub(super) fn older(older: &LegacyCredentials) -> Finding {
    Finding {
        rule: match older {
            LegacyCredentials { unreadable: true, .. } => &OLDER_UNREADABLE,
            LegacyCredentials { used: true, .. } => &OLDER_LOGINS,
            LegacyCredentials { .. } => &OLDER_CREDENTIALS,
        },
        place: older.place(),
        detail: older.what(),
    }
}

static OLDER_CREDENTIALS: LintRule = LintRule {
    code: "older-credentials",
    severity: Severity::Warning,
    remedy: "bring them into the store: openclaw-gateway doctor --fix",
};

static OLDER_UNREADABLE: LintRule = LintRule {
    code: "older-unreadable",
    severity: Severity::Warning,
    remedy: "repair the file, then: openclaw-gateway doctor --fix; or remove it",
};

static OLDER_LOGINS: LintRule = LintRule {
    code: "older-logins",
    severity: Severity::Note,
    remedy: "nothing needs to be done; `openclaw-gateway auth list` shows them once a gateway has run",
};

/// What is looked for here, beside the rules of the chain.
pub static RULES: &[&LintRule] = &[
    &CAP_BELOW_FIRST_WAIT,
    &DANGLING_CREDENTIAL,
    &FOLDER_OPEN_TO_OTHERS,
    &FOREIGN_AUTH,
    &FOREIGN_FORMAT,
    &LOGINS_ALONE,
    &MISSPELT_KEY,
    &NO_ENDPOINT,
    &OLDER_CREDENTIALS,
    &OLDER_LOGINS,
    &OLDER_UNREADABLE,
    &READABLE_BY_OTHERS,
    &UNUSABLE_SECRET,
];

/// Wire formats whose provider offers chat completions as well.
const CALLABLE: &[&str] = &[
    "anthropic-messages",
    "google-generative-ai",
    "ollama",
    "openai-completions",
    "openai-responses",
];

/// Rows that ask for a format of another kind.
pub(super) fn foreign_formats(models: &ModelsConfig) -> impl Iterator<Item = Finding> {
    models.providers.iter().filter_map(|(id, row)| {
        let api = row.api.as_deref().filter(|api| !CALLABLE.contains(api))?;
        Some(Finding {
            rule: &FOREIGN_FORMAT,
            place: format!("models.providers[\"{id}\"].api"),
            detail: format!("`{api}` is not spoken here; chat completions are asked for all the same"),
        })
    })
}

static FOREIGN_AUTH: LintRule = LintRule {
    code: "foreign-auth",
    severity: Severity::Warning,
    remedy: "use a key of the provider, or give the address of a proxy that signs requests",
};

static LOGINS_ALONE: LintRule = LintRule {
    code: "logins-alone",
    severity: Severity::Note,
    remedy: "ask it in the format of its logins, or add a key; for other formats it is passed over",
};

/// Rows whose requests would have to be signed.
pub(super) fn foreign_auth(models: &ModelsConfig) -> impl Iterator<Item = Finding> {
    let signed = models
        .providers
        .iter()
        .filter(|(_, row)| row.auth == Some(AuthMode::AwsSdk));
    signed.map(|(id, _)| Finding {
        rule: &FOREIGN_AUTH,
        place: format!("models.providers[\"{id}\"].auth"),
        detail: "requests are not signed here; they are sent as they are".to_owned(),
    })
}

/// A model that no chat completion can reach, because there are only logins for other formats.
pub(super) fn logins_alone(agent: &AgentId, model: &ModelRef) -> Finding {
    Finding {
        rule: &LOGINS_ALONE,
        place: format!("chain of {agent}"),
        detail: format!("`{model}` has only logins, which are not good for chat completions"),
    }
}

/// Rules that say already that a provider cannot be called.
const SAYS_SO: &[&str] = &["incomplete-provider", "unknown-provider"];

/// Whether a finding says already that the provider of `model` cannot be called.
pub(super) fn is_told(findings: &[Finding], model: &ModelRef) -> bool {
    let provider = model.provider().as_str();
    findings.iter().any(|finding| {
        let names = [format!("`{provider}`"), format!("[\"{provider}\"]")];
        let is_about = |name: &String| finding.detail.contains(name) || finding.place.contains(name);
        (SAYS_SO.contains(&finding.rule.code) || finding.rule.code == NO_ENDPOINT.code)
            && names.iter().any(is_about)
    })
}

/// A model of a chain whose provider has no address.
pub(super) fn no_endpoint(agent: &AgentId, model: &ModelRef) -> Finding {
    Finding {
        rule: &NO_ENDPOINT,
        place: format!("chain of {agent}"),
        detail: format!(
            "`{model}` cannot be called; `{}` has no address",
            model.provider()
        ),
    }
}
