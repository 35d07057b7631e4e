//! The OpenAI-compatible providers that need no setting but a key.

pub mod ambient;
mod deadlines;
pub mod discovery;
mod endpoints;
mod logins;
mod secrets;
pub mod wire_support;

use openclaw_chain::ModelsConfig;
use openclaw_ids::ProviderId;

pub use deadlines::attempt_deadlines;
pub use endpoints::Endpoints;
pub use endpoints::ProviderError;
pub use endpoints::secret_kind;
pub(crate) use logins::{LoginEndpoints, TokenPlace};
pub use secrets::SecretSources;
pub(crate) use secrets::{DanglingPointer, UnusableSecret, pointer, secret_text, unusable};

use openclaw_wire::WireFormat::{self, ChatCompletions, CountTokens, Embeddings, Messages, Responses};

/// What is known about a provider without any configuration.
///
/// All of them take the key as a bearer token, also Anthropic and Google on these compatibility endpoints;
/// whoever wants another header sets it under `models.providers.<id>.headers`.
#[derive(Debug, PartialEq, Eq)]
pub struct KnownProvider {
    /// The normalised id.
    pub(crate) id: &'static str,
    /// Where `chat/completions` is found.
    pub(crate) base_url: &'static str,
    /// Environment variables that may hold the key, first one first; none for a server that needs no key.
    pub(crate) key_variables: &'static [&'static str],
    /// The model of the chain that is built when nothing is configured.
    pub default_model: Option<&'static str>,
}

/// The known providers, in the order of the chain that is built from found keys.
#[rustfmt::skip]
pub(crate) static KNOWN: &[KnownProvider] = &[
    row("anthropic", "https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"], Some("claude-sonnet-5")),
    row("openai", "https://api.openai.com/v1", &["OPENAI_API_KEY"], Some("gpt-5.5")),
    row("google", "https://generativelanguage.googleapis.com/v1beta/openai", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], Some("gemini-3.1-pro-preview")),
    row("xai", "https://api.x.ai/v1", &["XAI_API_KEY"], Some("grok-4")),
    row("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"], Some("openrouter/auto")),
    row("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], Some("mistral-large-latest")),
    row("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], Some("deepseek-chat")),
    row("moonshot", "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"], Some("kimi-k2.6")),
    row("zai", "https://api.z.ai/api/paas/v4", &["ZAI_API_KEY", "Z_AI_API_KEY"], Some("glm-5")),
    row("minimax", "https://api.minimax.io/v1", &["MINIMAX_API_KEY"], Some("MiniMax-M2")),
    row("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], Some("llama-3.3-70b-versatile")),
    row("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"], Some("gpt-oss-120b")),
    row("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY"], Some("moonshotai/Kimi-K2.6")),
    row("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"], None),
    row("nvidia", "https://integrate.api.nvidia.com/v1", &["NVIDIA_API_KEY"], None),
    row("huggingface", "https://router.huggingface.co/v1", &["HF_TOKEN", "HUGGINGFACE_HUB_TOKEN"], None),
    row("dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", &["DASHSCOPE_API_KEY"], None),
    row("deepinfra", "https://api.deepinfra.com/v1/openai", &["DEEPINFRA_API_KEY"], None),
    row("perplexity", "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"], None),
    row("venice", "https://api.venice.ai/api/v1", &["VENICE_API_KEY"], None),
    row("cohere", "https://api.cohere.ai/compatibility/v1", &["COHERE_API_KEY", "CO_API_KEY"], None),
    row("sambanova", "https://api.sambanova.ai/v1", &["SAMBANOVA_API_KEY"], None),
    row("novita", "https://api.novita.ai/v3/openai", &["NOVITA_API_KEY"], None),
    row("nebius", "https://api.studio.nebius.com/v1", &["NEBIUS_API_KEY"], None),
    row("hyperbolic", "https://api.hyperbolic.xyz/v1", &["HYPERBOLIC_API_KEY"], None),
    row("chutes", "https://llm.chutes.ai/v1", &["CHUTES_API_KEY"], None),
    row("volcengine", "https://ark.cn-beijing.volces.com/api/v3", &["VOLCANO_ENGINE_API_KEY", "ARK_API_KEY"], None),
    row("byteplus", "https://ark.ap-southeast.bytepluses.com/api/v3", &["BYTEPLUS_API_KEY"], None),
    row("qianfan", "https://qianfan.baidubce.com/v2", &["QIANFAN_API_KEY"], None),
    row("stepfun", "https://api.stepfun.ai/v1", &["STEPFUN_API_KEY"], None),
    row("opencode", "https://opencode.ai/zen/v1", &["OPENCODE_API_KEY"], None),
    row("ollama-cloud", "https://ollama.com/v1", &["OLLAMA_API_KEY"], None),
    row("vercel-ai-gateway", "https://ai-gateway.vercel.sh/v1", &["AI_GATEWAY_API_KEY"], None),
    row(OLLAMA, "http://127.0.0.1:11434/v1", &[], None),
    row("lmstudio", "http://127.0.0.1:1234/v1", &[], None),
    row("vllm", "http://127.0.0.1:8000/v1", &[], None),
];

/// Where the OpenAI-compatible paths of a provider are, when its base URL is written for its own wire format.
struct Beside {
    /// The `api` of a provider row, or a provider's id.
    name: &'static str,
    /// The path of the base URL for that format.
    own: &'static str,
    /// The path for ours.
    compatible: &'static str,
}

#[rustfmt::skip]
static BESIDE: &[Beside] = &[
    Beside { name: "anthropic", own: "", compatible: "/v1" },
    Beside { name: "anthropic-messages", own: "", compatible: "/v1" },
    Beside { name: "google", own: "/v1beta", compatible: "/v1beta/openai" },
    Beside { name: "google-generative-ai", own: "/v1beta", compatible: "/v1beta/openai" },
    Beside { name: "ollama", own: "", compatible: "/v1" },
];

/// The path to use instead of `path` for a provider, or a wire format, of this name.
fn compatible_path(names: [&str; 2], path: &str) -> Option<&'static str> {
    let own = path.trim_end_matches('/');
    let row = BESIDE
        .iter()
        .find(|row| names.contains(&row.name) && row.own == own);
    row.map(|row| row.compatible)
}

/// What providers speak beside chat completions and embeddings, by the `api` of their row, else by their id.
#[rustfmt::skip]
static WIRES: &[(&[&str], &[WireFormat])] = &[
    (&["anthropic", "anthropic-messages"], &[ChatCompletions, Messages, CountTokens]),
    (&["fireworks", "groq", "huggingface", "lmstudio", "ollama", "openai", "openai-responses", "openrouter", "vllm", "xai"],
     &[ChatCompletions, Embeddings, Responses]),
];

/// The formats in which requests are passed on to a provider. What its row says counts, also when it says less.
fn wires(id: &str, api: &str) -> &'static [WireFormat] {
    let name = if api.is_empty() { id } else { api };
    let row = WIRES.iter().find(|(names, _)| names.contains(&name));
    row.map_or(&[ChatCompletions, Embeddings], |(_, wires)| wires)
}

/// The provider whose models are asked for when nothing is configured.
pub(crate) const OLLAMA: &str = "ollama";

const fn row(
    id: &'static str,
    base_url: &'static str,
    key_variables: &'static [&'static str],
    default_model: Option<&'static str>,
) -> KnownProvider {
    KnownProvider {
        id,
        base_url,
        key_variables,
        default_model,
    }
}

impl KnownProvider {
    /// The provider; there is one for every row.
    fn provider(&self) -> Option<ProviderId> {
        ProviderId::try_new(self.id).ok()
    }
}

/// The known providers.
pub(crate) fn shipped() -> impl Iterator<Item = ProviderId> {
    KNOWN.iter().filter_map(KnownProvider::provider)
}

/// The providers that have a row under `models.providers`, in the order of the file.
pub fn configured(models: &ModelsConfig) -> impl Iterator<Item = ProviderId> {
    models
        .providers
        .keys()
        .filter_map(|key| ProviderId::try_new(key).ok())
}

/// The row of a provider.
pub fn known(provider: &ProviderId) -> Option<&'static KnownProvider> {
    KNOWN.iter().find(|row| row.id == provider.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use openclaw_upstream::Endpoint;

    #[test]
    fn every_row_can_be_called_and_is_there_once() {
        for (position, row) in KNOWN.iter().enumerate() {
            let id = ProviderId::try_new(row.id).unwrap();
            assert_eq!(id.as_str(), row.id, "ids are written normalised");
            let endpoint = Endpoint::try_new(id.clone(), row.base_url).unwrap();
            assert_eq!(endpoint.is_loopback(), row.key_variables.is_empty(), "{}", row.id);
            assert_eq!(known(&id), Some(row));
            let variables = |row: &'static KnownProvider| row.key_variables;
            let later = KNOWN.iter().skip(position + 1).flat_map(variables);
            assert!(
                later.into_iter().all(|name| !row.key_variables.contains(name)),
                "{}",
                row.id
            );
        }
    }
}
