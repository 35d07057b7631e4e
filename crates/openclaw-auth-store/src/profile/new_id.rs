//! The id of a new profile (auth-store.md 5.1).

use openclaw_ids::{ProfileId, ProviderId};

/// The source of a new profile's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProfileSource<'a> {
    /// A login, with the address of its account where it is known.
    Login(Option<&'a str>),
    /// A key that was asked for while setting up.
    Onboarding,
    /// A key or token that was pasted into a command.
    Pasted,
}

/// The name of a login of this provider, whose account has no address.
const GITHUB_COPILOT: (&str, &str) = ("github-copilot", "github");

/// The default id of a new profile of `provider` (P1 to P3).
///
/// An address is kept as it is written. The id has no further meaning (P4).
///
/// ```
/// # use openclaw_auth_store::{ProfileSource, new_profile_id};
/// let openai = openclaw_ids::ProviderId::try_new("openai")?;
/// assert_eq!(new_profile_id(&openai, ProfileSource::Login(Some("Me@x.example"))).as_str(), "openai:Me@x.example");
/// assert_eq!(new_profile_id(&openai, ProfileSource::Pasted).as_str(), "openai:manual");
/// # Ok::<(), openclaw_ids::IdError>(())
/// ```
pub fn new_profile_id(provider: &ProviderId, source: ProfileSource<'_>) -> ProfileId {
    let name = match source {
        ProfileSource::Login(_) if provider.as_str() == GITHUB_COPILOT.0 => GITHUB_COPILOT.1,
        ProfileSource::Login(email) => email.unwrap_or_default(),
        ProfileSource::Onboarding => "",
        ProfileSource::Pasted => "manual",
    };
    #[expect(clippy::expect_used, reason = "a provider is never blank")]
    ProfileId::compose(provider.as_str(), name).expect("an id with a provider in front")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p1_p2_p3_ids_of_new_profiles() {
        use ProfileSource::{Login, Onboarding, Pasted};
        for (provider, source, id) in [
            ("openai", Login(None), "openai:default"),
            ("openai", Login(Some(" ")), "openai:default"),
            ("openai", Login(Some(" Me@X.example ")), "openai:Me@X.example"),
            ("anthropic", Onboarding, "anthropic:default"),
            ("anthropic", Pasted, "anthropic:manual"),
            (
                "github-copilot",
                Login(Some("me@x.example")),
                "github-copilot:github",
            ),
            ("github-copilot", Pasted, "github-copilot:manual"),
        ] {
            let provider = ProviderId::try_new(provider).unwrap();
            assert_eq!(new_profile_id(&provider, source).as_str(), id);
        }
    }
}
