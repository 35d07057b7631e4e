//! The entry points of the fuzz targets: requests and configurations from any bytes.

use std::path::Path;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bytes::Bytes;
use openclaw_chain::Resolver;
use openclaw_classify::Failure;
use openclaw_config::{BodyModelPolicy, Config, Environment, FileError, SecretsConfig};
use openclaw_wire::RequestBody;

use crate::agents::run_settings;
use crate::http::Catalogue;
use crate::providers::Endpoints;
use crate::providers::SecretSources;

pub use openclaw_wire::WireFormat;

/// A request body that can be read.
pub struct Body(RequestBody);

/// What a request asks for, in words.
#[derive(Debug, PartialEq, Eq)]
pub struct ResolvedRequest {
    pub agent: String,
    pub run: String,
    pub session: Option<String>,
}

impl Body {
    /// Reads it; why not, in words for its client.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        RequestBody::try_new(Bytes::copy_from_slice(bytes))
            .map(Self)
            .map_err(|error| error.to_string())
    }

    pub fn model(&self) -> &str {
        self.0.model()
    }

    pub fn user(&self) -> Option<&str> {
        self.0.user()
    }

    pub fn with_model(&self, model: &str) -> Vec<u8> {
        self.0.with_model(model).into()
    }

    /// The request with other tool-call ids, when a provider refuses some with these words.
    pub fn repaired(&self, format: WireFormat, refusal: &str) -> Option<Vec<u8>> {
        let failure = Failure {
            status: Some(400),
            message: Some(refusal.to_owned()),
            ..Failure::default()
        };
        let repaired = crate::attempt::repaired(&self.0, format, &failure)?;
        Some(repaired.bytes().to_vec())
    }
}

/// What our own settings file says, as it shows them.
pub fn failover(text: &str) -> Result<String, FileError> {
    let failover = Config::parse_failover(Path::new("/f"), text)?;
    run_settings(&failover, &Environment::of([], Path::new("/")));
    Ok(serde_json::json!(failover).to_string())
}

/// A configuration that requests are judged by.
pub struct Front {
    config: Config,
    resolver: Resolver,
    endpoints: Endpoints,
}

impl Front {
    /// The front of a configuration; why it has none. Secrets lead nowhere, so that nothing is read or run.
    pub fn of(config: Config) -> Result<Self, String> {
        let environment = Environment::of([], Path::new("/"));
        let sources = SecretSources::new(&SecretsConfig::default(), &environment);
        let endpoints =
            Endpoints::try_new(&config.chain.models, &sources).map_err(|error| error.to_string())?;
        Ok(Self {
            resolver: Resolver::new(&config.chain),
            endpoints,
            config,
        })
    }

    /// What a request asks for, or why it is refused.
    pub fn ask(
        &self,
        format: WireFormat,
        model: &str,
        user: Option<&str>,
        headers: &[(&'static str, &[u8])],
    ) -> Result<ResolvedRequest, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                map.append(HeaderName::from_static(name), value);
            }
        }
        let catalogue = Catalogue {
            chain: &self.config.chain,
            resolver: &self.resolver,
            endpoints: &self.endpoints,
            policy: BodyModelPolicy::Auto,
        };
        let asked = catalogue.read(format, model, user, &map);
        let asked = asked.map_err(|error| error.to_string())?;
        Ok(ResolvedRequest {
            agent: asked.agent.to_string(),
            run: format!("{:?}", asked.run),
            session: asked.session.map(|key| key.to_string()),
        })
    }
}
