//! Rules for codes and texts of single providers (classify.md C-6, BL-02); they come before the generic rules.

use openclaw_providers::Family;

use super::rule::{Attribution, Rule, code, text};
use crate::Reason;

/// Grouped by provider.
#[rustfmt::skip]
pub(super) static PROVIDERS: &[Rule] = &[
    // OpenRouter: 402 and 403 have several meanings (BL-21).
    Rule::codes("openrouter.in-flight-budget", Reason::RateLimit, &[
        "openrouterinflightbudget",
    ], code("openrouter_in_flight_budget").by("openrouter").at(402)),
    Rule::phrases("openrouter.key-limit", Reason::Billing, &[
        "key limit*", "budget limit (exceeded|reached)", "key budget limit",
    ], text("Key limit exceeded").by("openrouter").at(403)).by(&[Family::OpenRouter]),

    // Z.ai.
    Rule::codes("zai.rate", Reason::RateLimit, &[
        "1302", "1303",
    ], code("1302").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.window", Reason::RateLimit, &[
        "1304", "1308", "1310",
    ], code("1308").by("zai")).by(&[Family::Zai]).attributed_to(Attribution::Account),
    Rule::codes("zai.overloaded", Reason::Overloaded, &[
        "1305", "1312",
    ], code("1305").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.billing", Reason::Billing, &[
        "1113", "1309", "1311",
    ], code("1113").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.policy", Reason::ContentPolicy, &["1301"], code("1301").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.overflow", Reason::ContextOverflow, &[
        "1261",
    ], code("1261").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.model", Reason::ModelNotFound, &[
        "1211", "1220", "1221", "1222",
    ], code("1211").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.auth", Reason::Auth, &[
        "1000", "1001", "1002", "1003", "1004",
    ], code("1000").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.network", Reason::Timeout, &["1234"], code("1234").by("zai")).by(&[Family::Zai]),
    Rule::codes("zai.account", Reason::AuthPermanent, &[
        "1110", "1112", "1121",
    ], code("1112").by("zai")).by(&[Family::Zai]),

    // MiniMax.
    Rule::codes("minimax.billing", Reason::Billing, &[
        "1008",
    ], code("1008").by("minimax").at(500)).by(&[Family::Minimax]),
    Rule::codes("minimax.rate", Reason::RateLimit, &[
        "1002", "1039",
    ], code("1002").by("minimax")).by(&[Family::Minimax]),
    Rule::codes("minimax.window", Reason::RateLimit, &[
        "2056",
    ], code("2056").by("minimax")).by(&[Family::Minimax]).attributed_to(Attribution::Account),
    Rule::codes("minimax.overloaded", Reason::Overloaded, &[
        "2064",
    ], code("2064").by("minimax")).by(&[Family::Minimax]),
    Rule::codes("minimax.auth", Reason::Auth, &[
        "1004", "2049",
    ], code("1004").by("minimax")).by(&[Family::Minimax]),
    Rule::codes("minimax.policy", Reason::ContentPolicy, &[
        "1026", "1027",
    ], code("1026").by("minimax")).by(&[Family::Minimax]),
    Rule::codes("minimax.model", Reason::ModelNotFound, &[
        "2061",
    ], code("2061").by("minimax")).by(&[Family::Minimax]),
    Rule::codes("minimax.timeout", Reason::Timeout, &[
        "1001",
    ], code("1001").by("minimax")).by(&[Family::Minimax]),

    // Alibaba: `insufficient_quota` is a rate limit there (BL-02).
    Rule::codes("alibaba.free-tier", Reason::Billing, &[
        "allocationquotafreetieronly", "freetieronly",
    ], code("AllocationQuota.FreeTierOnly").by("dashscope").at(403)).by(&[Family::Alibaba])
        .attributed_to(Attribution::Model),
    Rule::codes("alibaba.throttle", Reason::RateLimit, &[
        "insufficientquota", "throttlingallocationquota", "throttlingratequota",
    ], code("insufficient_quota").by("dashscope").at(429)).by(&[Family::Alibaba]),
    Rule::phrases("alibaba.throttle-text", Reason::RateLimit, &[
        "allocated quota exceeded",
    ], text("Allocated quota exceeded, please increase your quota limit.").by("qwen"))
        .by(&[Family::Alibaba]),
    Rule::codes("alibaba.billing", Reason::Billing, &[
        "arrearage",
    ], code("Arrearage").by("dashscope").at(400)).by(&[Family::Alibaba]),

    // Moonshot and Kimi.
    Rule::codes("kimi.billing", Reason::Billing, &[
        "exceededcurrentquotaerror",
    ], code("exceeded_current_quota_error").by("moonshot").at(403)).by(&[Family::Kimi]),
    Rule::phrases("kimi.cycle", Reason::RateLimit, &[
        "usage limit for this billing cycle",
    ], text("You've reached your usage limit for this billing cycle.").by("kimi-coding").at(403))
        .by(&[Family::Kimi]).attributed_to(Attribution::Account),

    // Google names the cause in `details[].reason` (BL-13).
    Rule::phrases("google.quota", Reason::RateLimit, &[
        "exceeded your current quota",
    ], text("You exceeded your current quota, please check your plan and billing details.").by("google").at(429))
        .by(&[Family::Google]),
    Rule::codes("google.permanent", Reason::AuthPermanent, &[
        "consumersuspended", "consumerinvalid",
    ], code("CONSUMER_SUSPENDED").by("google").at(403)).by(&[Family::Google]),

    // Bedrock.
    Rule::codes("bedrock.overloaded", Reason::Overloaded, &[
        "modelnotreadyexception", "serviceunavailable", "serviceunavailableexception",
    ], code("ServiceUnavailableException").by("amazon-bedrock").at(503)).by(&[Family::Bedrock]),
    Rule::phrases("bedrock.throttle", Reason::RateLimit, &[
        "too many tokens, please wait",
    ], text("Too many tokens, please wait before trying again.").by("amazon-bedrock"))
        .by(&[Family::Bedrock]),

    // Together answers 403 for a prompt that does not fit.
    Rule::phrases("together.overflow", Reason::ContextOverflow, &[
        "input token count .. less than the context length",
    ], text("Input token count + max_tokens parameter must be less than the context length of the model being queried.").by("together").at(403))
        .by(&[Family::Together]),

    // xAI.
    Rule::phrases("xai.billing", Reason::Billing, &[
        "used all available credits", "monthly spending limit",
    ], text("Your team has either used all available credits or reached its monthly spending limit.").by("xai").at(429))
        .by(&[Family::Xai]),

    // Volcengine.
    Rule::codes("volcengine.billing", Reason::Billing, &[
        "invalidsubscription",
    ], code("InvalidSubscription").by("volcengine").at(400)).by(&[Family::Volcengine]),

    // Cloudflare Workers AI.
    Rule::codes("cloudflare.rate", Reason::RateLimit, &[
        "4006", "3036",
    ], code("4006").by("cloudflare-workers-ai").at(429)).by(&[Family::Cloudflare]),
    Rule::codes("cloudflare.overloaded", Reason::Overloaded, &[
        "3040",
    ], code("3040").by("cloudflare-workers-ai").at(429)).by(&[Family::Cloudflare]),
    Rule::phrases("cloudflare.quota", Reason::RateLimit, &[
        "workers ai .. quota limit exceeded",
    ], text("workers_ai: account quota limit exceeded").by("cloudflare-workers-ai")),
];

/// The generic phrase of an aggregator, which any quoted upstream error outranks.
#[rustfmt::skip]
pub(super) static GENERIC_PHRASES: &[Rule] = &[
    Rule::phrases("openrouter.provider-returned-error", Reason::Timeout, &[
        "^(error: |)provider returned error",
    ], text("Provider returned error").by("openrouter"))
        .by(&[Family::OpenRouter]).at(&[(0, 428), (430, 599)]),
];
