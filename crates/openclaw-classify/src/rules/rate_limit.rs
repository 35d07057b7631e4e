//! Rules for texts about rate limits and used-up quota windows (classify.md C-5).

use super::rule::{Attribution, Rule, text};
use crate::Reason;
use crate::facts::REQUEST_OVER_LIMIT;

/// Rate limits and quota windows.
#[rustfmt::skip]
pub(super) static RATE_LIMIT: &[Rule] = &[
    Rule::codes("rate.request-over-limit", Reason::RateLimit, &[
        REQUEST_OVER_LIMIT,
    ], text("Request too large for model `x` on tokens per minute (TPM): Limit 12000, Requested 14137")),
    Rule::phrases("rate.per-time", Reason::RateLimit, &[
        concat!(
            "(tokens|requests|request|token|queries|calls|input tokens|output tokens|",
            "images) per (minute|min|day|hour|second|month|week)",
        ),
        "tpm", "rpm", "tpd", "rpd", "aspd", "qps", "qpm", "rps", "per minute per project", "requests/min*", "tokens/min*",
        "per project per base model",
    ], text("Tokens per minute limit exceeded - too many tokens processed.")),
    Rule::phrases("rate.usage-window", Reason::RateLimit, &[
        "usage (limit|limits|cap|quota)",
        concat!(
            "(hit|reached|exceeded|exhausted) (your|the|my) (limit|limits|weekly limit|monthly limit|",
            "daily limit|hourly limit|session limit|plan limit|usage)",
        ),
        concat!(
            "(hour|hourly|daily|weekly|monthly|session|plan|subscription|weekly/monthly|",
            "billing period) (limit|quota|limits) .. (reached|exhausted|exceeded|hit|resets|used up|",
            "used)",
        ),
        "(hourly|daily|weekly|monthly|session|plan|weekly/monthly) (limit|quota|limits)",
        "limit for this billing (cycle|period)", "exceeded your .. (token|plan) usage",
        "out of premium requests", "premium request (limit|allowance|quota)", "message limit", "subscription quota",
        "limit (reached|hit|exceeded) .. resets", "(reached|hit|exceeded) your .. limit .. (resets|reset)",
        "will regain access", "(daily|hourly|weekly|monthly|session) (cap|allowance|message quota)", "out of requests",
        "hour limit", "quota .. (consumed|has been consumed|used)", "too many messages",
        "maximum rate .. exceeded", "quota will be refreshed",
        concat!(
            "(organization|organisation|workspace|team|account) .. (limit reached|limit exceeded|",
            "quota exceeded)",
        ),
        "(organization|organisation|workspace|team|account) .. has reached .. limit",
        "used up your .. (quota|allowance)",
        "(hourly|daily|weekly|monthly) .. (limit|quota) .. (reached|exceeded|exhausted|hit|used)", "使用上限",
        "用量上限", "用量已达", "allowance .. (exhausted|used up|renew)",
    ], text("Weekly limit reached ∙ resets Oct 9 at 5pm")).attributed_to(Attribution::Account),
    Rule::phrases("rate.text", Reason::RateLimit, &[
        "rate limit*", "ratelimit*", "rate limiting", "rate exceeded", "limited to .. per (minute|hour|day|second)", "token bucket", "cooldown active",
        "number of (requests|calls|tokens) .. (allowed|per|minute)",
        "(maximum|max|exceeded|too many) .. (parallel|simultaneous|concurrent) (requests|calls|sessions|connections)",
        "(parallel|simultaneous|concurrent) request (limit|cap)",
        "too many (concurrent |simultaneous |pending |)requests",
        concat!(
            "too many (requests|concurrent requests|simultaneous requests|concurrent connections|",
            "parallel requests|calls|attempts)",
        ),
        "too many tokens", "concurrency (limit|usage|quota)",
        "concurrent (requests|connections|sessions) .. (limit|exceed|exceeds|exceeded|allowed)",
        "reduce (concurrency|your request frequency|request frequency|the frequency)", "throttl*",
        "resource (exhausted|has been exhausted)", "resourceexhausted", "some resource has been exhausted",
        "quota exceeded", "quota .. (exceeded|exhausted|will reset|reached|used up)",
        "(exceeded|exceed|exceeds|exhausted) .. quota", "quota limit", "out of quota", "no quota",
        "exhausted your capacity", "quota will reset", "model cooldown", "in cooldown", "cooling down",
        "requests too (quickly|fast|often|frequently)", "request reached .. max",
        "(request|requests|call) (limit|cap)", "requests quota", "burst (limit|rate)", "acceleration limit",
        "throughput limit", "inference limit", "request rate (increased|is too|too)", "current requests list",
        "(going|requests) too fast", "no deployments available .. try again",
        "(reached|exceeded|hit) .. (rate|request|requests|call) .. limit", "limit .. requests",
        "daily free allocation", "free allocated quota", "allocated quota", "slow down .. (requests|rate)",
        "exceeds the service quota", "error (1015|code: 1015)", "concurrency limit has been reached",
        "request frequency", "too frequent", "please slow down", "请求过于频繁", "调用频率", "频率限制", "速率限制", "配额不足",
        "额度不足", "配额已用", "配额超", "额度已用", "请求频率", "并发数", "并发请求", "限流", "请求过多", "请求次数超", "请求数过多", "达到上限",
        "超出限额", "调用次数", "太频繁", "访问频率", "请求数限制", "免费次数", "限额", "限速", "请求被限制", "使用额度", "次数已用", "请求过快",
        "限频", "频次", "每分钟请求",
    ], text("Too many requests, slow down"))
        .unless(&["impacting service reliability", "processing too many requests"]),
];
