//! The catalogue: one row for each provider.

use crate::api_format::{ANTHROPIC_FORMATS, RESPONSES_FORMATS};
use crate::login;
use crate::provider::Provider;

/// Every known provider. Those with an address come first, in the order of the chain that is built from found keys.
#[rustfmt::skip]
pub static PROVIDERS: &[Provider] = &[
    Provider::new("anthropic").at("https://api.anthropic.com/v1").keys(&["ANTHROPIC_API_KEY"]).model("claude-sonnet-5")
        .aliases(&["claude-cli"]).credential_aliases(&["claude-cli"]).cli_runtimes(&["claude-cli"])
        .formats(ANTHROPIC_FORMATS).path("", "/v1").login(login::ANTHROPIC),
    Provider::new("openai").at("https://api.openai.com/v1").keys(&["OPENAI_API_KEY"]).model("gpt-5.5")
        .aliases(&["azure-openai-responses"]).formats(RESPONSES_FORMATS).login(login::OPENAI),
    Provider::new("google").at("https://generativelanguage.googleapis.com/v1beta/openai")
        .keys(&["GEMINI_API_KEY", "GOOGLE_API_KEY"]).model("gemini-3.1-pro-preview").path("/v1beta", "/v1beta/openai"),
    Provider::new("xai").at("https://api.x.ai/v1").keys(&["XAI_API_KEY"]).model("grok-4").formats(RESPONSES_FORMATS),
    Provider::new("openrouter").at("https://openrouter.ai/api/v1").keys(&["OPENROUTER_API_KEY"]).model("openrouter/auto")
        .formats(RESPONSES_FORMATS),
    Provider::new("mistral").at("https://api.mistral.ai/v1").keys(&["MISTRAL_API_KEY"]).model("mistral-large-latest"),
    Provider::new("deepseek").at("https://api.deepseek.com/v1").keys(&["DEEPSEEK_API_KEY"]).model("deepseek-chat"),
    Provider::new("moonshot").at("https://api.moonshot.ai/v1").keys(&["MOONSHOT_API_KEY"]).model("kimi-k2.6")
        .aliases(&["moonshot-ai", "moonshotai"]),
    Provider::new("zai").at("https://api.z.ai/api/paas/v4").keys(&["ZAI_API_KEY", "Z_AI_API_KEY"]).model("glm-5")
        .aliases(&["z-ai", "z.ai"]),
    Provider::new("minimax").at("https://api.minimax.io/v1").keys(&["MINIMAX_API_KEY"]).model("MiniMax-M2")
        .credential_aliases(&["minimax-api", "minimax-api-key-cn", "minimax-api-lightning", "minimax-cloud", "minimax-cn"]),
    Provider::new("groq").at("https://api.groq.com/openai/v1").keys(&["GROQ_API_KEY"]).model("llama-3.3-70b-versatile")
        .formats(RESPONSES_FORMATS),
    Provider::new("cerebras").at("https://api.cerebras.ai/v1").keys(&["CEREBRAS_API_KEY"]).model("gpt-oss-120b"),
    Provider::new("together").at("https://api.together.xyz/v1").keys(&["TOGETHER_API_KEY"]).model("moonshotai/Kimi-K2.6"),
    Provider::new("fireworks").at("https://api.fireworks.ai/inference/v1").keys(&["FIREWORKS_API_KEY"])
        .formats(RESPONSES_FORMATS),
    Provider::new("nvidia").at("https://integrate.api.nvidia.com/v1").keys(&["NVIDIA_API_KEY"]),
    Provider::new("huggingface").at("https://router.huggingface.co/v1").keys(&["HF_TOKEN", "HUGGINGFACE_HUB_TOKEN"])
        .formats(RESPONSES_FORMATS),
    Provider::new("dashscope").at("https://dashscope-intl.aliyuncs.com/compatible-mode/v1").keys(&["DASHSCOPE_API_KEY"]),
    Provider::new("deepinfra").at("https://api.deepinfra.com/v1/openai").keys(&["DEEPINFRA_API_KEY"]),
    Provider::new("perplexity").at("https://api.perplexity.ai").keys(&["PERPLEXITY_API_KEY"]).unlisted(),
    Provider::new("venice").at("https://api.venice.ai/api/v1").keys(&["VENICE_API_KEY"]),
    Provider::new("cohere").at("https://api.cohere.ai/compatibility/v1").keys(&["COHERE_API_KEY", "CO_API_KEY"]).unlisted(),
    Provider::new("sambanova").at("https://api.sambanova.ai/v1").keys(&["SAMBANOVA_API_KEY"]).unlisted(),
    Provider::new("novita").at("https://api.novita.ai/v3/openai").keys(&["NOVITA_API_KEY"])
        .aliases(&["novita-ai", "novitaai"]).credential_aliases(&["novita-ai", "novitaai"]),
    Provider::new("nebius").at("https://api.studio.nebius.com/v1").keys(&["NEBIUS_API_KEY"]).unlisted(),
    Provider::new("hyperbolic").at("https://api.hyperbolic.xyz/v1").keys(&["HYPERBOLIC_API_KEY"]).unlisted(),
    Provider::new("chutes").at("https://llm.chutes.ai/v1").keys(&["CHUTES_API_KEY"]),
    Provider::new("volcengine").at("https://ark.cn-beijing.volces.com/api/v3").keys(&["VOLCANO_ENGINE_API_KEY", "ARK_API_KEY"])
        .credential_aliases(&["volcengine-plan"]),
    Provider::new("byteplus").at("https://ark.ap-southeast.bytepluses.com/api/v3").keys(&["BYTEPLUS_API_KEY"])
        .credential_aliases(&["byteplus-plan"]),
    Provider::new("qianfan").at("https://qianfan.baidubce.com/v2").keys(&["QIANFAN_API_KEY"]),
    Provider::new("stepfun").at("https://api.stepfun.ai/v1").keys(&["STEPFUN_API_KEY"]),
    Provider::new("opencode").at("https://opencode.ai/zen/v1").keys(&["OPENCODE_API_KEY"]),
    Provider::new("ollama-cloud").at("https://ollama.com/v1").keys(&["OLLAMA_API_KEY"]),
    Provider::new("vercel-ai-gateway").at("https://ai-gateway.vercel.sh/v1").keys(&["AI_GATEWAY_API_KEY"]),
    Provider::new("ollama").at("http://127.0.0.1:11434/v1").without_key().formats(RESPONSES_FORMATS).path("", "/v1"),
    Provider::new("lmstudio").at("http://127.0.0.1:1234/v1").without_key().formats(RESPONSES_FORMATS),
    Provider::new("vllm").at("http://127.0.0.1:8000/v1").without_key().formats(RESPONSES_FORMATS),
    // Built in by name; a configuration says where they are.
    Provider::new("amazon-bedrock"),
    Provider::new("amazon-bedrock-mantle"),
    Provider::new("anthropic-vertex"),
    Provider::new("arcee"),
    Provider::new("byteplus-plan"),
    Provider::new("cloudflare-ai-gateway"),
    Provider::new("codex"),
    Provider::new("comfy"),
    Provider::new("copilot-proxy"),
    Provider::new("fal"),
    Provider::new("github-copilot"),
    Provider::new("gmi").aliases(&["gmi-cloud", "gmicloud"]),
    Provider::new("google-antigravity"),
    Provider::new("google-gemini-cli"),
    Provider::new("google-vertex"),
    Provider::new("kilocode"),
    Provider::new("kimi").aliases(&["kimi-coding"]),
    Provider::new("litellm"),
    Provider::new("meta"),
    Provider::new("microsoft-foundry"),
    Provider::new("minimax-portal").credential_aliases(&["minimax-portal-cn"]),
    Provider::new("opencode-go"),
    Provider::new("qwen").aliases(&["modelstudio", "qwencloud"]),
    Provider::new("qwen-oauth").aliases(&["qwen-cli", "qwen-portal"]),
    Provider::new("sglang"),
    Provider::new("stepfun-plan"),
    Provider::new("synthetic"),
    Provider::new("tencent-tokenhub"),
    Provider::new("tencent-tokenplan"),
    Provider::new("volcengine-plan"),
    Provider::new("vydra"),
    Provider::new("xiaomi"),
    Provider::new("xiaomi-token-plan"),
];

#[cfg(test)]
mod tests;
