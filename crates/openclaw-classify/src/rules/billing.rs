//! Rules for texts about credit and bills (classify.md C-5, C-8).

use super::rule::{Attribution, Rule, text};
use crate::Reason;

/// Billing errors. Under 402 a quota window outranks everything but explicit words about credit or balance (C-8).
#[rustfmt::skip]
pub(super) static BILLING: &[Rule] = &[
    Rule::phrases("rate.extra-usage", Reason::RateLimit, &[
        "out of extra usage .. (resets|reset|try again)",
    ], text("You're out of extra usage · resets 1pm (America/Los_Angeles)")).attributed_to(Attribution::Account),
    // The plan or free quota is that of one model; the others of the credential answer (F-23).
    Rule::phrases("billing.model", Reason::Billing, &[
        "(this|the|that|requested|selected|specified) model (requires|needs) .. (subscription|plan|upgrade|payment|membership|paid account|paid tier)",
        "model .. (only available|available only|exclusive|restricted|exclusively) .. (plan|plans|subscription|subscriptions|subscribers|tier|tiers|paid users|members)",
        "(subscription|plan|upgrade|membership) .. (required|needed) (for|to use|to access) (this|the|that) model",
        "(subscribe|upgrade|upgrading) .. (to use|to access|to unlock|for) (this|the|that) model",
        "(this|the) model is (not included|not part) .. (subscription|plan)",
        "free tier of the model has been exhausted", "use free tier only",
        "free (quota|tier|allocation|trial|usage) .. (of|for) (this|the|that) model",
        concat!(
            "(plan|subscription) .. (not yet include|not include|doesn't include|",
            "does not include) .. model",
        ),
    ], text("This model requires a subscription")).attributed_to(Attribution::Model),
    Rule::phrases("rate.free-tier", Reason::RateLimit, &[
        "free models per (day|min|minute|hour)", "quota exceeded for (metric|quota metric)",
        "free tier requests", "free tier input token count", "free quota tier",
    ], text("Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day")),
    Rule::phrases("billing.credit", Reason::Billing, &[
        "(insufficient|inadequate) .. (credit|credits|balance|funds)", "insufficient points", "no remaining (credit|credits|balance|funds)", "quota left on",
        "(update|check|add) your billing", "billing is not (set|configured)",
        "(not have|don't have|doesn't have|lacks) enough .. (balance|credits|credit|funds|money)",
        "wallet is empty", "(zero|negative) balance", "balance (is |)(below|negative|not sufficient)",
        "(credits|credit) .. (expired|have expired)", "over budget", "exceededbudget", "crossed spend",
        "not enough (credit|credits|balance|funds|points|money)",
        concat!(
            "(credit|credits|balance|funds) .. (too low|is low|insufficient|exhausted|depleted|",
            "is empty|is negative|not enough|used up|is zero|run out|ran out)",
        ),
        "(out of|run out of|ran out of) (credit|credits|funds|balance|extra usage|money)",
        "used (all|up) .. (credit|credits|balance|points|funds)",
        concat!(
            "(doesn't have|does not have|have|has|no) (any credits|no credits|zero credits|",
            "any remaining credits|no balance)",
        ),
        "no (credits|credit|remaining credits|available credits|balance|funds) (left|remaining|available|on)",
        "never purchased credits", "(requires|require|required|need|needs) more credits",
        "more credits are required", "can only afford",
        "(purchase|buy) (more credits|credits|additional credits)",
        "(add|adding) (credits|funds|more credits|more funds) (to|at|using|and)",
        "please (add|purchase|buy) (credits|funds|more)", "create a key with a higher .. limit",
        "exceeded .. credits", "(exceed|exceeds|exceeding) .. credit limit",
        "credit limit (exceeded|reached)", "(lack|lacks|lacking) .. (balance|credits|credit|funds)",
        concat!(
            "(monthly|daily|included|free|promotional|prepaid|prepayment|trial) credits (exhausted|",
            "are exhausted|have|are depleted|depleted|expired)",
        ),
        "(recharge|top up|topup) (your|the|account|balance|and|or|now|to|it|first|wallet)",
        "please (recharge|top up|topup)", "please .. recharge", "or no resource package",
        "no resource package", "credit balance nil", "weight exceeds budget", "余额不足", "余额为", "余额已", "欠费",
        "请充值", "充值后", "余额耗尽", "先购买", "用户额度", "令牌额度", "剩余额度", "预扣费", "积分不足", "点数不足", "续费", "账户余额", "帐户余额", "资源包 .. 耗尽", "无可用资源包", "账户已停机",
    ], text("Your credit balance is too low to access the Anthropic API."))
        .unless(&["must be numeric", "invalid field"]),
    Rule::phrases("billing.account", Reason::Billing, &[
        "payment required", "payment (method|failed|declined|overdue|is required|issue)",
        "valid (payment method|credit card)", "credit card on file", "past due",
        "overdue (balance|payment|invoice|bill|amount)",
        "outstanding (balance|invoice|invoices|payment|payments)", "unpaid (charge|charges)",
        "(invoice|invoices|bill) .. unpaid", "card (was |has been |)declined", "payment instrument",
        "billing limit", "commodity has not purchased", "(account|payment|invoice|bill) .. overdue",
        "arrear*", "arrearage", "unpaid (invoice|invoices|bill|bills|balance)", "failure to pay",
        "pay past invoices",
        "suspended .. (balance|payment|unpaid|invoice|invoices|spending limit|overdue|non payment)",
        "account is in good standing", "(billing|hard) hard limit",
        "billing (is not active|is not enabled|not active|not enabled|disabled|is disabled|account is not)",
        "enable billing", "billing account", "quota .. check your plan and billing",
        "quota .. plan and billing details", "plans & billing", "plans and billing", "^billing:",
        "billing error:", "quota (is |)not enough", "insufficient (user |)quota",
        concat!(
            "(subscription|plan|membership|package) .. (has expired|is expired|expired|lapsed|",
            "inactive|not active|has lapsed|is not active)",
        ),
        "(no|without|not have|don't have|doesn't have) .. (active|valid) .. (subscription|plan)",
        "(no|without|not have|don't have|doesn't have) .. (active|valid) (subscription|plan)",
        "subscription is inactive",
        "(requires|require|need|needs) (a|an|an active|a valid|a paid) (subscription|plan|paid plan)",
        "need a .. subscription", "subscription (is |)required",
        "invalidsubscription",
        concat!(
            "(plan|subscription) .. (not yet include|not include|doesn't include|",
            "does not include) .. (access|model)",
        ),
        "upgrade to a paid (account|plan)", "paid (plan|account) (is |)required",
        "(usage|use) .. requires .. paid", "extra usage is required", "draw from your extra usage",
        "purchase .. extra usage", "additional paid premium requests", "prepaid (credit|balance|credits)",
        "monthly included credits", "verify your membership", "free trial .. (expired|ended|over)",
        "trial .. has (expired|ended)", "套餐已到期", "套餐已过期", "套餐余量", "套餐已用", "订阅已过期", "未订阅", "付费",
        "(billing|payment) .. (issue|problem|past due)", "billing quota",
    ], text("Your account is past due. Please update your payment method.")).unless(&[
        "quota exceeded for", "usage limit", "billing cycle", "rate limits", "increase your limits", "free tier requests",
        "console.developers*",
    ]),
    Rule::phrases("billing.402-upgrade", Reason::Billing, &[
        "(subscription|plan|membership) .. (limit|quota|cap|allowance) .. (upgrade|upgrading)",
        "upgrade .. (subscription|plan|membership|tier)", "upgrade to (continue|proceed|keep|increase|get)",
    ], text("Subscription limit exceeded, upgrade your plan").at(402)).at(&[(402, 402)])
        .unless(&["(resets|reset|retry|again|refresh*|renew*)"]),
    Rule::phrases("rate.402-window", Reason::RateLimit, &[
        concat!(
            "(hourly|daily|weekly|monthly|5 hour|session|organization|organisation|workspace|team|",
            "usage|rate|subscription) .. (limit|quota|cap)",
        ),
        "(limit|quota) .. (resets|reset|will reset|refresh*)", "resets (at|in|on|tomorrow|today)",
        "(try|retry) (again|later|after)", "automatic quota refresh", "rolling (time |)window",
        "too many requests", "limit .. (billing period|this month|this week|today)",
    ], text("organization spending limit exceeded").at(402)).at(&[(402, 402)]).attributed_to(Attribution::Account),
    Rule::phrases("billing.402-quota", Reason::Billing, &[
        "no quota", "out of quota", "quota (is |)exceeded", "(exceeded|exhausted) .. quota",
        "quota .. (exceeded|exhausted)",
    ], text("You have no quota").at(402)).at(&[(402, 402)]),
    Rule::phrases("billing.spend-limit", Reason::Billing, &[
        "(spend|spending|budget|cost) (limit|cap|limits)", "budget (exceeded|exhausted|has been exceeded)",
        "exceeded .. (budget|spending)", "maximum (spend|budget)", "key budget",
    ], text("weekly spend limit reached")).unless(&["per (minute|second|hour)"]),
];
