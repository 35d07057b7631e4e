//! Rules for texts about the credential and its account (classify.md C-5).

use super::rule::{Attribution, Rule, text};
use crate::Reason;

/// Authentication and permission errors.
#[rustfmt::skip]
pub(super) static AUTH: &[Rule] = &[
    Rule::phrases("auth.setting", Reason::Auth, &[
        "has not been used in project", "subscription .. (is disabled|read only)",
        "(country|region|location|territory) .. (not supported|not available|unsupported|not allowed)",
        "(not supported|not available|unsupported) in your (country|region|location)",
        "api .. is disabled .. enabl*", "unsupported (country|countries|region|regions)",
        "public access is disabled",
    ], text("User location is not supported for the API use.")),
    // The refusal names the model, so the credential may use others (F-23).
    Rule::phrases("auth.model", Reason::Auth, &[
        concat!(
            "(not authorized|not authorised|unauthorized|not allowed|not permitted|forbidden|no permission|permission|",
            "access denied|denied access|no access|not entitled|not eligible|denied) .. ",
            "(this model|the model|that model|requested model|specified model|selected model)",
        ),
        concat!(
            "(this|the|that|requested|specified|selected) model .. ",
            "(forbidden|access denied|permission denied|not authorized|requires permission|not permitted|not entitled)",
        ),
    ], text("You are not authorized to access this model").at(403)).attributed_to(Attribution::Model),
    Rule::phrases("auth-permanent.text", Reason::AuthPermanent, &[
        "key .. (revoked|deleted|deactivated|disabled|suspended|been blocked|banned)", "key revoked",
        "(token|credential|credentials|access) .. (been revoked|was revoked|is revoked|revoked)",
        "expired or revoked",
        concat!(
            "(account|accounts|workspace|organization|organisation|project|consumer|",
            "user) .. (deactivated|suspended|banned|been disabled|is disabled|been restricted|",
            "been terminated|been blocked|been closed|been deleted|has been archived)",
        ),
        "deactivated workspace", "not allowed for (this|your) organization",
        concat!(
            "refresh token .. (revoked|reused|already been used|already used|was already used|",
            "has expired|expired|is invalid|invalidated)",
        ),
        "failed to refresh token", "invalid grant", "(log|sign) in again", "log out and sign in",
        "signing in again", "(reported|marked|flagged|identified) as leaked", "key .. (leaked|compromised)",
        "access (was |has been |is |)terminated", "no longer a member",
        "has been denied access", "organization has disabled", "disabled .. subscription access",
        "organization has been disabled",
        concat!(
            "(disabled|suspended|banned|terminated|blocked|deactivated|restricted|closed|locked) .. ",
            "(terms of service|terms of use|terms and conditions|tos|violation|violations|violating|abuse|fraud)",
        ),
        concat!(
            "(violation|violating|violated|breach) .. (terms of service|terms of use|tos) .. ",
            "(account|access|disabled|suspended|banned|terminated)",
        ),
        "违反服务条款", "account .. (permanently|violat*)", "account (closed|locked)",
        "team has been blocked", "账号已被封", "账户已被禁用", "密钥已被禁用",
        "已被吊销", "已被锁定", "密钥已停用", "封号", "已被封禁", "已被禁用", "已被冻结", "密钥已被删除", "非活动状态",
    ], text("This organization has been disabled.")).unless(&["plan and billing"]),
    Rule::phrases("auth.text", Reason::Auth, &[
        concat!(
            "(invalid|incorrect|missing|bad|wrong|unknown|expired|malformed|unrecognized) (api key|",
            "apikey|api keys|x api key|key provided|bearer token|access token|token|api token|",
            "auth token|authentication token|authentication|authorization|authorization header|",
            "credentials|credential|subscription key|secret key|signature provided|",
            "authentication credentials)",
        ),
        concat!(
            "(api key|apikey|access token|auth token|bearer token|authentication token|",
            "security token|oauth token|token|your key|access key) .. (is invalid|invalid|",
            "is not valid|not valid|is missing|is incorrect|is expired|has expired|expired|not found|",
            "is required|not provided|not active|could not be|cannot be|does not have permission|",
            "is wrong)",
        ),
        concat!(
            "no (api key|auth credentials|credentials|cookie auth credentials|authorization|",
            "authentication|auth token|access token|token|authorization header) (found|provided|",
            "was provided|supplied|header|was found|configured|available)",
        ),
        "(provide|supply|carry) .. (api key|api secret key|valid key|token|credentials)", "unauthorized",
        "lacks the required", "scope requirement", "requests from .. are blocked", "permission .. denied",
        "unregistered callers", "sso session", "key is blocked", "invalid username or password",
        "(token|key|credential|credentials|header) (missing|rejected|is missing|were rejected)",
        "(authorization|authentication) header .. (badly|malformed|invalid)",
        "(authorization|authentication) header is (missing|badly formatted|malformed|invalid)",
        "key .. (not recognized|not recognised|is not recognized|is not valid)", "key not recognized",
        "unauthenticated", "unauthorised", "not authorized", "not authorised", "not authenticated",
        concat!(
            "(jwt|token|signature|session token|credential|credentials|key|api token) .. (expired|",
            "has expired|is expired)",
        ),
        "must be logged in", "logged in first", "invalid signature$",
        "(unable to|could not|cannot|failed to) .. (locate|load|find) .. credentials",
        concat!(
            "api key .. (must be set|must be provided|must be specified|is not set|not set|",
            "not configured|is not configured|is empty)",
        ),
        "(could not|unable to|failed to|cannot|can't) (validate|verify|authenticate|authorize|check) .. (credentials|credential|api key|token|key|login)",
        "authentication (failed|fails|error|failure|required|is required|unsuccessful|token)",
        "authenticat* .. (failed|fails|could not|unable)",
        "(failed|could not|unable|cannot|can't) .. authenticate", "failed to authenticate",
        "could not authenticate", "authorization (failed|required|is required|error)", "re authenticate",
        "reauthenticate", "please (run /login|log in|login|sign in|authenticate)",
        "(login|log in|sign in) (required|fail|failed|is required|first|again)", "login fail*",
        "not logged in", "login expired", "missing (scope|scopes|permission|permissions)",
        "insufficient (permission|permissions|scope|scopes|privileges|authentication scopes)",
        concat!(
            "(not have|no|lack|lacks|without|missing) (permission|permissions|sufficient permissions|",
            "the required permissions)",
        ),
        "permission denied", "permission to (use|access|call)", "access (is |)denied",
        "access forbidden", "is forbidden", "forbidden",
        "oauth .. (could not be refreshed|refresh failed|expired|failed|invalid|not supported|unsupported)",
        "(could not|failed to|unable to) .. refresh* .. token", "could not be refreshed",
        "token refresh failed", "failed to (extract|parse|decode|verify) .. token",
        "failed to parse access token", "(could not|unable to|failed to) load credentials",
        "no (valid |usable |)credentials", "credentials (were|are) not provided", "(token|signature|jwt|key) verification failed",
        "missing a valid", "check your api key", "missing .. (api key|access token|credentials)", "request signature", "security token", "signature .. does not match",
        "not a member of", "must be a member", "no such organization", "user not found",
        "request not allowed", "not allowed to (access|use|call|perform)",
        "only available for coding agents", "currently only available for", "virtual network/firewall",
        "ip address .. not", "enable javascript and cookies",
        "not enabled for this (account|key|organization|project)", "apikeyinvalid", "session expired",
        "ce 011", "认证失败", "鉴权失败", "密钥无效", "密钥错误", "无权访问", "无权限", "禁止访问", "未授权", "身份验证", "令牌无效", "令牌已过期",
        "apikey 无效", "认证信息", "密钥已过期", "无效的 api", "访问被拒绝", "api key 错误", "token非法", "令牌状态不可用", "未提供令牌", "密钥不正确", "key 已失效", "token 已失效", "令牌已失效",
        "没有访问权限", "鉴权不通过", "请先登录", "重新登录", "apikey无效", "api key 无效", "token无效", "token已过期", "没有权限", "鉴权错误", "api key错误", "无效的令牌",
        "无效的api",
    ], text("Incorrect API key provided")).unless(&[
        "certificate .. expired", "unexpected token", "is not valid json",
    ]),
];
