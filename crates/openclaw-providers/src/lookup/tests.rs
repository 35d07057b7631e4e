//! The catalogue gives the answers that the separate tables gave before it.

use openclaw_ids::ProviderId;

use super::*;
use ApiFormat::{ChatCompletions, CountTokens, Embeddings, Messages, Responses};

fn id(text: &str) -> ProviderId {
    ProviderId::try_new(text).unwrap()
}

/// Id, address, variables and default model.
type Row = (
    &'static str,
    &'static str,
    &'static [&'static str],
    Option<&'static str>,
);

/// The providers with an address, in the order of the chain that is built from found keys.
#[rustfmt::skip]
const ADDRESSES: &[Row] = &[
    ("anthropic", "https://api.anthropic.com/v1", &["ANTHROPIC_API_KEY"], Some("claude-sonnet-5")),
    ("openai", "https://api.openai.com/v1", &["OPENAI_API_KEY"], Some("gpt-5.5")),
    ("google", "https://generativelanguage.googleapis.com/v1beta/openai", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], Some("gemini-3.1-pro-preview")),
    ("xai", "https://api.x.ai/v1", &["XAI_API_KEY"], Some("grok-4")),
    ("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_KEY"], Some("openrouter/auto")),
    ("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_KEY"], Some("mistral-large-latest")),
    ("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_KEY"], Some("deepseek-chat")),
    ("moonshot", "https://api.moonshot.ai/v1", &["MOONSHOT_API_KEY"], Some("kimi-k2.6")),
    ("zai", "https://api.z.ai/api/paas/v4", &["ZAI_API_KEY", "Z_AI_API_KEY"], Some("glm-5")),
    ("minimax", "https://api.minimax.io/v1", &["MINIMAX_API_KEY"], Some("MiniMax-M2")),
    ("groq", "https://api.groq.com/openai/v1", &["GROQ_API_KEY"], Some("llama-3.3-70b-versatile")),
    ("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_KEY"], Some("gpt-oss-120b")),
    ("together", "https://api.together.xyz/v1", &["TOGETHER_API_KEY"], Some("moonshotai/Kimi-K2.6")),
    ("fireworks", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_API_KEY"], None),
    ("nvidia", "https://integrate.api.nvidia.com/v1", &["NVIDIA_API_KEY"], None),
    ("huggingface", "https://router.huggingface.co/v1", &["HF_TOKEN", "HUGGINGFACE_HUB_TOKEN"], None),
    ("dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", &["DASHSCOPE_API_KEY"], None),
    ("deepinfra", "https://api.deepinfra.com/v1/openai", &["DEEPINFRA_API_KEY"], None),
    ("perplexity", "https://api.perplexity.ai", &["PERPLEXITY_API_KEY"], None),
    ("venice", "https://api.venice.ai/api/v1", &["VENICE_API_KEY"], None),
    ("cohere", "https://api.cohere.ai/compatibility/v1", &["COHERE_API_KEY", "CO_API_KEY"], None),
    ("sambanova", "https://api.sambanova.ai/v1", &["SAMBANOVA_API_KEY"], None),
    ("novita", "https://api.novita.ai/v3/openai", &["NOVITA_API_KEY"], None),
    ("nebius", "https://api.studio.nebius.com/v1", &["NEBIUS_API_KEY"], None),
    ("hyperbolic", "https://api.hyperbolic.xyz/v1", &["HYPERBOLIC_API_KEY"], None),
    ("chutes", "https://llm.chutes.ai/v1", &["CHUTES_API_KEY"], None),
    ("volcengine", "https://ark.cn-beijing.volces.com/api/v3", &["VOLCANO_ENGINE_API_KEY", "ARK_API_KEY"], None),
    ("byteplus", "https://ark.ap-southeast.bytepluses.com/api/v3", &["BYTEPLUS_API_KEY"], None),
    ("qianfan", "https://qianfan.baidubce.com/v2", &["QIANFAN_API_KEY"], None),
    ("stepfun", "https://api.stepfun.ai/v1", &["STEPFUN_API_KEY"], None),
    ("opencode", "https://opencode.ai/zen/v1", &["OPENCODE_API_KEY"], None),
    ("ollama-cloud", "https://ollama.com/v1", &["OLLAMA_API_KEY"], None),
    ("vercel-ai-gateway", "https://ai-gateway.vercel.sh/v1", &["AI_GATEWAY_API_KEY"], None),
    ("ollama", "http://127.0.0.1:11434/v1", &[], None),
    ("lmstudio", "http://127.0.0.1:1234/v1", &[], None),
    ("vllm", "http://127.0.0.1:8000/v1", &[], None),
];

/// Providers that configuration checks accept without a row under `models.providers` (chain.md 1.2).
#[rustfmt::skip]
const BUILT_IN: &[&str] = &[
    "amazon-bedrock", "amazon-bedrock-mantle", "anthropic", "anthropic-vertex", "arcee", "azure-openai-responses",
    "byteplus", "byteplus-plan", "cerebras", "chutes", "claude-cli", "cloudflare-ai-gateway", "codex", "comfy",
    "copilot-proxy", "dashscope", "deepinfra", "deepseek", "fal", "fireworks", "github-copilot", "gmi", "gmi-cloud",
    "gmicloud", "google", "google-antigravity", "google-gemini-cli", "google-vertex", "groq", "huggingface", "kilocode",
    "kimi", "kimi-coding", "litellm", "lmstudio", "meta", "microsoft-foundry", "minimax", "minimax-portal", "mistral",
    "modelstudio", "moonshot", "moonshot-ai", "moonshotai", "nvidia", "novita", "novita-ai", "novitaai", "ollama",
    "ollama-cloud", "openai", "opencode", "opencode-go", "openrouter", "qianfan", "qwen", "qwen-cli", "qwen-oauth",
    "qwen-portal", "qwencloud", "sglang", "stepfun", "stepfun-plan", "synthetic", "tencent-tokenhub",
    "tencent-tokenplan", "together", "venice", "vercel-ai-gateway", "vllm", "volcengine", "volcengine-plan", "vydra",
    "xai", "xiaomi", "xiaomi-token-plan", "z.ai", "z-ai", "zai",
];

#[test]
fn addresses_keys_and_default_models_in_the_order_of_the_chain() {
    let rows: Vec<Row> = with_address()
        .map(|row| {
            (
                row.id,
                row.base_url.unwrap(),
                row.key_variables,
                row.default_model,
            )
        })
        .collect();
    assert_eq!(rows, ADDRESSES);
}

#[test]
fn the_names_that_configuration_checks_accept() {
    let listed = PROVIDERS.iter().filter(|row| row.listing == Listing::BuiltIn);
    let names = listed.flat_map(|row| [&[row.id], row.aliases].concat());
    let mut names: Vec<&str> = names.collect();
    let mut expected = BUILT_IN.to_vec();
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
    assert!(BUILT_IN.iter().all(|name| is_built_in(&id(name))));
    for name in [
        "perplexity",
        "cohere",
        "sambanova",
        "nebius",
        "hyperbolic",
        "minimax-cn",
        "relay",
    ] {
        assert!(!is_built_in(&id(name)), "{name}");
    }
}

/// The formats by the `api` of a row, else by its id, as the gateway had them.
#[rustfmt::skip]
const FORMATS: &[(&[&str], &[ApiFormat])] = &[
    (&["anthropic", "anthropic-messages"], &[ChatCompletions, Messages, CountTokens]),
    (&["fireworks", "groq", "huggingface", "lmstudio", "ollama", "openai", "openai-responses", "openrouter", "vllm", "xai"],
     &[ChatCompletions, Embeddings, Responses]),
];

#[test]
fn formats_by_api_else_by_id() {
    let others = [
        "google-generative-ai",
        "openai-completions",
        "claude-cli",
        "relay",
    ];
    let names = FORMATS.iter().flat_map(|(names, _)| names.iter().copied());
    let names: Vec<&str> = names
        .chain(PROVIDERS.iter().map(|row| row.id))
        .chain(others)
        .collect();
    let expected = |name: &str| {
        let row = FORMATS.iter().find(|(names, _)| names.contains(&name));
        row.map_or(&[ChatCompletions, Embeddings][..], |(_, formats)| formats)
    };
    for one in &names {
        assert_eq!(formats(one, ""), expected(one), "{one}");
        for api in &names {
            assert_eq!(formats(one, api), expected(api), "{one} {api}");
        }
    }
}

/// A provider or an `api`, the path of its own format, and the compatible one.
const PATHS: &[(&str, &str, &str)] = &[
    ("anthropic", "", "/v1"),
    ("anthropic-messages", "", "/v1"),
    ("google", "/v1beta", "/v1beta/openai"),
    ("google-generative-ai", "/v1beta", "/v1beta/openai"),
    ("ollama", "", "/v1"),
];

#[test]
fn compatible_paths_beside_those_of_the_own_format() {
    let others = ["openai-responses", "relay", ""];
    let names: Vec<&str> = PROVIDERS.iter().map(|row| row.id).chain(others).collect();
    let names: Vec<&str> = names
        .into_iter()
        .chain(PATHS.iter().map(|(name, ..)| *name))
        .collect();
    for one in &names {
        for api in &names {
            for path in ["", "/", "/v1", "/v1beta", "/v1beta/", "/v1beta/openai"] {
                let own = path.trim_end_matches('/');
                let row = PATHS
                    .iter()
                    .find(|(name, of, _)| [one, api].contains(&name) && *of == own);
                let expected = row.map(|(.., compatible)| *compatible);
                assert_eq!(compatible_path(one, api, path), expected, "{one} {api} {path}");
            }
        }
    }
}

#[test]
fn s_10_2_the_only_command_line_runtime() {
    let names = PROVIDERS.iter().flat_map(|row| [&[row.id], row.aliases].concat());
    for name in names {
        let owner = cli_runtime_owner(&id(name)).map(|row| row.id);
        assert_eq!(owner, (name == "claude-cli").then_some("anthropic"), "{name}");
    }
}
