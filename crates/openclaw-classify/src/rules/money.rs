//! Texts about the account: money, used-up windows, credentials (classify.md C-5, C-8).

use crate::Reason;
use crate::rule::{Concern, Rule, text};

/// Money. At 402 a window outranks everything but explicit words about credit or balance (C-8).
#[rustfmt::skip]
pub(super) static BILLING: &[Rule] = &[
    Rule::phrases("rate.extra-usage", Reason::RateLimit, &["out of extra usage .. (resets|reset|try again)"], text("You're out of extra usage · resets 1pm (America/Los_Angeles)")).concerning(Concern::Account),
    Rule::phrases("rate.free-tier", Reason::RateLimit, &[
        "free models per (day|min|minute|hour)", "quota exceeded for (metric|quota metric)", "free tier requests", "free tier input token count", "free quota tier",
    ], text("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day")),
    Rule::phrases("billing.credit", Reason::Billing, &[
        "(insufficient|inadequate) .. (credit|credits|balance|funds)", "insufficient points", "not enough (credit|credits|balance|funds|points|money)", "(credit|credits|balance|funds) .. (too low|is low|insufficient|exhausted|depleted|is empty|is negative|not enough|used up|is zero|run out|ran out)",
        "(out of|run out of|ran out of) (credit|credits|funds|balance|extra usage|money)", "used (all|up) .. (credit|credits|balance|points|funds)", "(doesn't have|does not have|have|has|no) (any credits|no credits|zero credits|any remaining credits|no balance)",
        "no (credits|credit|remaining credits|available credits|balance|funds) (left|remaining|available|on)", "never purchased credits", "(requires|require|required|need|needs) more credits", "more credits are required", "can only afford", "(purchase|buy) (more credits|credits|additional credits)",
        "(add|adding) (credits|funds|more credits|more funds) (to|at|using|and)", "please (add|purchase|buy) (credits|funds|more)", "create a key with a higher .. limit", "exceeded .. credits", "(exceed|exceeds|exceeding) .. credit limit", "credit limit (exceeded|reached)", "(lack|lacks|lacking) .. (balance|credits|credit|funds)", "(monthly|daily|included|free|promotional|prepaid|prepayment|trial) credits (exhausted|are exhausted|have|are depleted|depleted|expired)",
        "(recharge|top up|topup) (your|the|account|balance|and|or|now|to|it|first|wallet)", "please (recharge|top up|topup)", "please .. recharge", "or no resource package", "no resource package", "credit balance nil", "weight exceeds budget",
        "余额不足", "余额为", "余额已", "欠费", "请充值", "充值后", "账户余额", "帐户余额", "资源包 .. 耗尽", "无可用资源包", "账户已停机",
    ], text("Your credit balance is too low to access the Anthropic API.")).unless(&["must be numeric", "invalid field"]),
    Rule::phrases("billing.account", Reason::Billing, &[
        "payment required", "payment (method|failed|declined|overdue|is required|issue)", "valid (payment method|credit card)", "credit card on file", "past due", "overdue (balance|payment|invoice|bill|amount)", "(account|payment|invoice|bill) .. overdue", "arrear*", "arrearage", "unpaid (invoice|invoices|bill|bills|balance)", "failure to pay", "pay past invoices",
        "suspended .. (balance|payment|unpaid|invoice|invoices|spending limit|overdue|non payment)", "account is in good standing", "(billing|hard) hard limit", "billing hard limit", "billing (is not active|is not enabled|not active|not enabled|disabled|is disabled|account is not)", "enable billing", "billing account",
        "quota .. check your plan and billing", "quota .. plan and billing details", "plans & billing", "plans and billing", "^billing:", "billing error:", "quota (is )not enough", "quota is not enough", "insufficient (user )quota", "insufficient user quota", "insufficient quota",
        "(subscription|plan|membership|package) .. (has expired|is expired|expired|lapsed|inactive|not active|has lapsed|is not active)", "(no|without|not have) .. (active|valid) .. (subscription|plan)", "(requires|require|need|needs) (a|an|an active|a valid|a paid) (subscription|plan|paid plan)", "need a .. subscription", "subscription (is )required",
        "subscription required", "subscription is required", "invalidsubscription", "(plan|subscription) .. (not yet include|not include|doesn't include|does not include) .. (access|model)", "upgrade to a paid (account|plan)", "paid (plan|account) (is )required", "free tier of the model has been exhausted", "use free tier only",
        "(usage|use) .. requires .. paid", "extra usage is required", "draw from your extra usage", "purchase .. extra usage", "additional paid premium requests", "prepaid (credit|balance|credits)", "monthly included credits", "verify your membership", "free trial .. (expired|ended|over)", "trial .. has (expired|ended)",
        "套餐已到期", "套餐已过期", "未订阅", "付费", "(billing|payment) .. (issue|problem|past due)", "billing quota",
    ], text("Your account is past due. Please update your payment method.")).unless(&[
        "quota exceeded for", "usage limit", "billing cycle", "rate limits", "free tier requests", "console.developers*",
    ]),
    Rule::phrases("rate.402-window", Reason::RateLimit, &[
        "(hourly|daily|weekly|monthly|5 hour|session|organization|organisation|workspace|team|usage|rate|subscription) .. (limit|quota|cap)", "(limit|quota) .. (resets|reset|will reset|refresh*)", "resets (at|in|on|tomorrow|today)", "(try|retry) (again|later|after)",
        "automatic quota refresh", "rolling (time )window", "too many requests", "limit .. (billing period|this month|this week|today)",
    ], text("organization spending limit exceeded").at(402)).at(&[(402, 402)]).concerning(Concern::Account),
    Rule::phrases("billing.402-quota", Reason::Billing, &["no quota", "out of quota", "quota (is )exceeded", "(exceeded|exhausted) .. quota", "quota .. (exceeded|exhausted)"], text("You have no quota").at(402)).at(&[(402, 402)]),
    Rule::phrases("billing.spend-limit", Reason::Billing, &[
        "(spend|spending|budget|cost) (limit|cap|limits)", "budget (exceeded|exhausted|has been exceeded)", "exceeded .. (budget|spending)", "maximum (spend|budget)", "key budget",
    ], text("weekly spend limit reached")),
];

/// Used-up windows and rates.
#[rustfmt::skip]
pub(super) static RATE: &[Rule] = &[
    Rule::phrases("rate.per-time", Reason::RateLimit, &[
        "(tokens|requests|request|token|queries|calls|input tokens|output tokens|images) per (minute|min|day|hour|second|month|week)", "tpm", "rpm", "tpd", "rpd", "per minute per project", "requests/min*", "tokens/min*", "per project per base model",
    ], text("Tokens per minute limit exceeded - too many tokens processed.")),
    Rule::phrases("rate.usage-window", Reason::RateLimit, &[
        "usage (limit|limits|cap|quota)", "(hit|reached|exceeded|exhausted) (your|the|my) (limit|limits|weekly limit|monthly limit|daily limit|hourly limit|session limit|plan limit|usage)", "(hour|hourly|daily|weekly|monthly|session|plan|subscription|weekly/monthly|billing period) (limit|quota|limits) .. (reached|exhausted|exceeded|hit|resets|used up|used)",
        "(hourly|daily|weekly|monthly|session|plan|weekly/monthly) (limit|quota|limits)", "limit for this billing (cycle|period)", "exceeded your .. (token|plan) usage", "out of premium requests", "premium request limit", "subscription quota", "limit (reached|hit|exceeded) .. resets", "(reached|hit|exceeded) your .. limit .. (resets|reset)", "will regain access", "quota will be refreshed",
        "(organization|organisation|workspace|team|account) .. (limit reached|limit exceeded|quota exceeded|has reached .. limit)", "used up your .. (quota|allowance)", "(hourly|daily|weekly|monthly) .. (limit|quota) .. (reached|exceeded|exhausted|hit|used)", "使用上限", "用量上限", "allowance .. (exhausted|used up|renew)",
    ], text("Weekly limit reached ∙ resets Oct 9 at 5pm")).concerning(Concern::Account),
    Rule::phrases("rate.text", Reason::RateLimit, &[
        "rate limit*", "ratelimit*", "rate limiting", "rate exceeded", "too many (concurrent |simultaneous |pending |)requests", "too many (requests|concurrent requests|simultaneous requests|concurrent connections|parallel requests|calls|attempts)", "too many tokens", "concurrency (limit|usage|quota)", "concurrent (requests|connections|sessions) .. (limit|exceed|exceeds|exceeded|allowed)",
        "reduce (concurrency|your request frequency|request frequency|the frequency)", "throttl*", "resource (exhausted|has been exhausted)", "resourceexhausted", "some resource has been exhausted", "quota exceeded", "quota .. (exceeded|exhausted|will reset|reached|used up)", "(exceeded|exceed|exceeds|exhausted) .. quota", "quota limit", "out of quota", "no quota",
        "exhausted your capacity", "quota will reset", "model cooldown", "in cooldown", "cooling down", "requests too (quickly|fast|often|frequently)", "request reached .. max", "(request|requests|call) limit", "requests quota", "(reached|exceeded|hit) .. (rate|request|requests|call) .. limit", "limit .. requests", "daily free allocation", "free allocated quota",
        "allocated quota", "slow down .. (requests|rate)", "exceeds the service quota", "error (1015|code: 1015)", "concurrency limit has been reached", "request frequency", "too frequent", "please slow down",
        "请求过于频繁", "调用频率", "频率限制", "速率限制", "配额不足", "额度不足", "配额已用", "配额超", "额度已用", "请求频率", "并发数", "并发请求", "限流", "请求过多", "请求次数超", "请求数过多", "达到上限", "超出限额", "调用次数", "太频繁", "访问频率",
    ], text("Too many requests, slow down")),
];

/// Credentials.
#[rustfmt::skip]
pub(super) static AUTH: &[Rule] = &[
    Rule::phrases("auth.setting", Reason::Auth, &[
        "has not been used in project", "subscription .. (is disabled|read only)", "(country|region|location|territory) .. (not supported|not available|unsupported|not allowed)", "(not supported|not available|unsupported) in your (country|region|location)", "api .. is disabled .. enabl*",
    ], text("User location is not supported for the API use.")),
    Rule::phrases("auth-permanent.text", Reason::AuthPermanent, &[
        "key .. (revoked|deleted|deactivated|disabled|suspended|been blocked|banned)", "key revoked", "(token|credential|credentials|access) .. (been revoked|was revoked|is revoked|revoked)", "expired or revoked", "(account|accounts|workspace|organization|organisation|project|consumer|user) .. (deactivated|suspended|banned|been disabled|is disabled|been restricted|been terminated|been blocked|been closed|been deleted|has been archived)",
        "deactivated workspace", "not allowed for (this|your) organization", "refresh token .. (revoked|reused|already been used|already used|was already used|has expired|expired|is invalid|invalidated)", "failed to refresh token", "invalid grant", "(log|sign) in again", "log out and sign in", "signing in again", "(reported|marked|flagged|identified) as leaked", "key .. (leaked|compromised)",
        "access (was |has been |is |)terminated", "access terminated", "no longer a member", "has been denied access", "organization has disabled", "disabled .. subscription access", "organization has been disabled", "account .. (permanently|violat*)",
        "账号已被封", "账户已被禁用", "密钥已被禁用", "已被吊销",
    ], text("This organization has been disabled.")).unless(&["plan and billing", "(timed out|timeout)$"]),
    Rule::phrases("auth.text", Reason::Auth, &[
        "(invalid|incorrect|missing|bad|wrong|unknown|expired|malformed|unrecognized) (api key|apikey|api keys|x api key|key provided|bearer token|access token|token|api token|auth token|authentication token|authentication|authorization|authorization header|credentials|credential|subscription key|secret key|signature provided|authentication credentials)",
        "(api key|apikey|access token|auth token|bearer token|authentication token|security token|oauth token|token|your key|access key) .. (is invalid|invalid|is not valid|not valid|is missing|is incorrect|is expired|has expired|expired|not found|is required|not provided|not active|could not be|cannot be|does not have permission|is wrong)",
        "no (api key|auth credentials|credentials|cookie auth credentials|authorization|authentication|auth token|access token|token|authorization header) (found|provided|was provided|supplied|header|was found|configured|available)", "(provide|supply|carry) .. (api key|api secret key|valid key|token|credentials)", "unauthorized", "unauthenticated", "unauthorised", "not authorized", "not authorised", "not authenticated",
        "(jwt|token|signature|session token|credential|credentials|key|api token) .. (expired|has expired|is expired)", "must be logged in", "logged in first", "invalid signature$", "(unable to|could not|cannot|failed to) .. (locate|load|find) .. credentials", "api key .. (must be set|must be provided|must be specified|is not set|not set|not configured|is not configured|is empty)", "authentication (failed|fails|error|failure|required|is required|unsuccessful|token)", "authenticat* .. (failed|fails|could not|unable)", "(failed|could not|unable|cannot|can't) .. authenticate", "failed to authenticate", "could not authenticate", "authorization (failed|required|is required|error)", "re authenticate", "reauthenticate", "please (run /login|log in|login|sign in|authenticate)",
        "(login|log in|sign in) (required|fail|failed|is required|first|again)", "login fail*", "not logged in", "login expired", "missing (scope|scopes|permission|permissions)", "insufficient (permission|permissions|scope|scopes|privileges|authentication scopes)", "(not have|no|lack|lacks|without|missing) (permission|permissions|sufficient permissions|the required permissions)", "permission denied", "permission to (use|access|call)", "access (is )denied", "access denied", "access forbidden", "is forbidden", "forbidden",
        "oauth .. (could not be refreshed|refresh failed|expired|failed|invalid|not supported|unsupported)", "(could not|failed to|unable to) .. refresh* .. token", "could not be refreshed", "token refresh failed", "failed to (extract|parse|decode|verify) .. token", "failed to parse access token", "(could not|unable to|failed to) load credentials", "no credentials", "request signature", "security token", "signature .. does not match",
        "not a member of", "must be a member", "no such organization", "user not found", "request not allowed", "not allowed to (access|use|call|perform)", "only available for coding agents", "currently only available for", "virtual network/firewall", "ip address .. not", "enable javascript and cookies", "not enabled for this (account|key|organization|project)", "apikeyinvalid", "session expired",
        "ce 011", "认证失败", "鉴权失败", "密钥无效", "密钥错误", "无权访问", "无权限", "禁止访问", "未授权", "身份验证", "令牌无效", "令牌已过期", "apikey 无效", "apikey无效", "api key 无效", "token无效", "token已过期", "没有权限", "鉴权错误", "api key错误", "无效的令牌", "无效的api",
    ], text("Incorrect API key provided")).unless(&["certificate .. expired", "unexpected token", "is not valid json"]),
];
