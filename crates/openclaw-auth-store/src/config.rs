//! The `auth` section of the configuration: which profiles, in which order, how long they cool down (auth-store.md
//! 5.2).

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;

use indexmap::IndexMap;
use openclaw_cooldown::CooldownConfig;
use openclaw_ids::{ProfileId, ProviderId};
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::{HasProvider, ProfileMap};

/// The `auth` section. It names profiles; it never holds secrets.
///
/// A wrong value is an error that says what is expected; an unknown member is ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(expecting = "the `auth` section as an object with `profiles`, `order` and `cooldowns`")]
pub struct AuthConfig {
    /// Configured profiles in written order.
    #[serde(default, deserialize_with = "profiles")]
    pub profiles: ProfileMap<ConfiguredProfile>,
    /// Explicit orders; of two keys that name the same provider the first counts.
    #[serde(default, deserialize_with = "orders")]
    pub order: IndexMap<ProviderId, Vec<ProfileId>>,
    /// How long credentials cool down.
    #[serde(default)]
    pub cooldowns: CooldownConfig,
    /// Providers whose entry under `models.providers` says `auth: "aws-sdk"`; filled in by the caller that reads that
    /// section.
    #[serde(skip)]
    pub aws_sdk: BTreeSet<ProviderId>,
}

/// What the configuration says about one profile.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(
    rename_all = "camelCase",
    expecting = "an object such as {provider: \"openai\", mode: \"api_key\"}"
)]
pub struct ConfiguredProfile {
    /// The provider that the profile is for.
    pub provider: ProviderId,
    /// The kind of its credential.
    pub mode: ConfiguredMode,
    /// Shown in place of the stored one.
    pub email: Option<String>,
    /// Shown in place of the stored one.
    pub display_name: Option<String>,
}

impl HasProvider for ConfiguredProfile {
    fn provider(&self) -> &ProviderId {
        &self.provider
    }
}

/// The modes of a configured profile: the stored types, and `aws-sdk`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfiguredMode {
    /// A static key.
    ApiKey,
    /// The cloud vendor's own credential chain; never stored.
    #[serde(rename = "aws-sdk")]
    AwsSdk,
    /// A login.
    Oauth,
    /// A static bearer token; also serves a profile configured as a login.
    Token,
}

impl ConfiguredMode {
    /// The name in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::AwsSdk => "aws-sdk",
            Self::Oauth => "oauth",
            Self::Token => "token",
        }
    }
}

fn profiles<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ProfileMap<ConfiguredProfile>, D::Error> {
    keyed(deserializer).map(ProfileMap::from)
}

fn orders<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<IndexMap<ProviderId, Vec<ProfileId>>, D::Error> {
    let lists: IndexMap<ProviderId, Order> = keyed(deserializer)?;
    Ok(lists
        .into_iter()
        .map(|(provider, list)| (provider, list.0))
        .collect())
}

/// A list whose error says what is expected.
struct Order(Vec<ProfileId>);

impl<'de> Deserialize<'de> for Order {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ids;
        impl<'de> Visitor<'de> for Ids {
            type Value = Order;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of profile ids such as [\"openai:work\", \"openai:default\"]")
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Order, A::Error> {
                let mut ids = Vec::new();
                while let Some(id) = items.next_element()? {
                    ids.push(id);
                }
                Ok(Order(ids))
            }
        }
        deserializer.deserialize_seq(Ids)
    }
}

/// A map whose keys are ids: blank ones are errors, and the first of equal ones counts.
fn keyed<'de, D, K, V>(deserializer: D) -> Result<IndexMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: std::str::FromStr<Err: fmt::Display> + std::hash::Hash + Eq,
    V: Deserialize<'de>,
{
    struct KeyedMapVisitor<K, V>(PhantomData<(K, V)>);
    impl<'de, K, V> Visitor<'de> for KeyedMapVisitor<K, V>
    where
        K: std::str::FromStr<Err: fmt::Display> + std::hash::Hash + Eq,
        V: Deserialize<'de>,
    {
        type Value = IndexMap<K, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object with one entry per id")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut map = IndexMap::new();
            while let Some((key, value)) = entries.next_entry::<String, V>()? {
                map.entry(key.parse().map_err(A::Error::custom)?).or_insert(value);
            }
            Ok(map)
        }
    }
    deserializer.deserialize_map(KeyedMapVisitor(PhantomData))
}

#[cfg(test)]
mod tests;
