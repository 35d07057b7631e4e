//! Families: providers with the same error codes and texts, by the names and the hosts they go by.

use crate::address::is_host_or_below;

/// Providers with the same codes and texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Alibaba Cloud: Model Studio, `DashScope` and Qwen.
    Alibaba,
    /// Anthropic.
    Anthropic,
    /// Amazon Bedrock.
    Bedrock,
    /// Cloudflare's gateway and Workers AI.
    Cloudflare,
    /// GitHub Copilot.
    Copilot,
    /// Google: Gemini and Vertex AI.
    Google,
    /// Moonshot AI.
    Kimi,
    /// `MiniMax`.
    Minimax,
    /// Ollama, on a machine and in the cloud.
    Ollama,
    /// OpenAI, also at Azure and with the logins of `ChatGPT`.
    OpenAi,
    /// OpenRouter.
    OpenRouter,
    /// Together AI.
    Together,
    /// Volcengine and `BytePlus`.
    Volcengine,
    /// xAI.
    Xai,
    /// Z.ai, formerly Zhipu.
    Zai,
}

/// What belongs to a family (classify.md C-6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyNames {
    /// The family.
    pub family: Family,
    /// Names that a provider id equals or starts with before a `-`; not all of them are ids of the catalogue.
    pub ids: &'static [&'static str],
    /// Hosts, with their subdomains, for ids that an operator chose.
    pub hosts: &'static [&'static str],
    /// The time zone of times that are written without one.
    pub time_zone: &'static str,
}

const CHINA: &str = "Asia/Shanghai";

/// Every family; the first one that a name fits counts.
#[rustfmt::skip]
pub static FAMILIES: &[FamilyNames] = &[
    row(Family::Alibaba, &["alibaba", "aliyun", "bailian", "dashscope", "modelstudio", "qwen"], &["aliyuncs.com"], CHINA),
    row(Family::Anthropic, &["anthropic", "claude"], &["anthropic.com"], "UTC"),
    row(Family::Bedrock, &["amazon-bedrock", "aws-bedrock", "bedrock"], &["amazonaws.com"], "UTC"),
    row(Family::Cloudflare, &["cloudflare", "workers-ai"], &["cloudflare.com"], "UTC"),
    row(Family::Copilot, &["copilot", "github-copilot"], &["githubcopilot.com"], "UTC"),
    row(Family::Google, &["gemini", "google", "vertex"], &["googleapis.com"], "UTC"),
    row(Family::Kimi, &["kimi", "moonshot", "moonshotai"], &["kimi.com", "moonshot.ai", "moonshot.cn"], CHINA),
    row(Family::Minimax, &["minimax"], &["minimax.chat", "minimax.io", "minimaxi.com"], CHINA),
    row(Family::Ollama, &["ollama"], &["ollama.com"], "UTC"),
    row(Family::OpenAi, &["azure-openai", "chatgpt", "codex", "openai"], &["chatgpt.com", "openai.com", "openai.azure.com"], "UTC"),
    row(Family::OpenRouter, &["openrouter"], &["openrouter.ai"], "UTC"),
    row(Family::Together, &["together", "togetherai"], &["together.ai", "together.xyz"], "UTC"),
    row(Family::Volcengine, &["ark", "byteplus", "doubao", "volcengine"], &["bytepluses.com", "volces.com"], CHINA),
    row(Family::Xai, &["grok", "xai", "x-ai"], &["x.ai"], "UTC"),
    row(Family::Zai, &["bigmodel", "glm", "z-ai", "z.ai", "zai", "zhipu", "zhipuai"], &["bigmodel.cn", "z.ai"], CHINA),
];

const fn row(
    family: Family,
    ids: &'static [&'static str],
    hosts: &'static [&'static str],
    time_zone: &'static str,
) -> FamilyNames {
    FamilyNames {
        family,
        ids,
        hosts,
        time_zone,
    }
}

impl Family {
    /// The family of a provider id, else that of a host, which may carry a scheme, a port and a path (C-6).
    ///
    /// ```
    /// use openclaw_providers::Family;
    /// assert_eq!(Family::of(Some("zai-coding"), None), Some(Family::Zai));
    /// assert_eq!(Family::of(Some("mine"), Some("api.anthropic.com:443")), Some(Family::Anthropic));
    /// ```
    pub fn of(provider: Option<&str>, host: Option<&str>) -> Option<Self> {
        let by_id = provider.and_then(|id| {
            let id = id.trim().to_lowercase();
            let is = |name: &&str| {
                id.strip_prefix(name)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            };
            FAMILIES.iter().find(|row| row.ids.iter().any(is))
        });
        let by_host = || {
            let host = host?.trim().to_lowercase();
            let host = host
                .split([':', '/'])
                .find(|part| part.contains('.'))
                .unwrap_or_default();
            let is = |name: &&str| is_host_or_below(host, name);
            FAMILIES.iter().find(|row| row.hosts.iter().any(is))
        };
        by_id.or_else(by_host).map(|row| row.family)
    }

    /// The time zone of times that the family's providers write without one.
    pub fn time_zone(self) -> &'static str {
        let row = FAMILIES.iter().find(|row| row.family == self);
        row.map_or("UTC", |row| row.time_zone)
    }
}

#[cfg(test)]
mod tests;
