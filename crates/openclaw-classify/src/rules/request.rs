//! Rules for texts about the request: its session, model, size and format (classify.md C-5).

use super::rule::{Rule, text};
use crate::Reason;
use crate::facts::TOKENS_OVER_LIMIT;

/// Image limits, the request's tool servers, lost sessions and missing models: the first of the texts (C-3).
#[rustfmt::skip]
pub(super) static SESSION_AND_MODEL: &[Rule] = &[
    Rule::phrases("format.image-size", Reason::Format, &[
        "image .. (exceed|exceeds|exceeded) .. (mb|maximum|max|limit|size|pixels|bytes)",
        "image (dimensions|dimension|size) .. (exceed|exceeds|exceeded)",
        "(image|images) (is|are|too) .. (large|big)", "image too large", "image size exceeds",
    ], text("image exceeds 5 MB maximum")).unless(&["message tokens"]),
    // Errors of a server that the request names, and of the key that the request has for it.
    Rule::phrases("format.tool-server", Reason::Format, &[
        "mcp (server|servers)",
    ], text("Authentication error while communicating with MCP server")),
    Rule::phrases("session.text", Reason::SessionExpired, &[
        concat!(
            "session (not found|expired|has expired|is expired|does not exist|doesn't exist|",
            "not exist|is invalid|was not found|is no longer valid|has been closed|no longer exists)",
        ),
        "(session|conversation|thread) id .. (not found|not exist|invalid|expired|does not exist)",
        "(session|conversation|thread) id .. (is not valid|not valid|is invalid|is unknown)",
        "(session|conversation): .. not found",
        "session .. (not found|does not exist|was not found|has expired)",
        concat!(
            "conversation (not found|expired|has expired|does not exist|doesn't exist|is invalid|",
            "was not found|no longer exists)",
        ),
        "conversation .. (not found|does not exist)",
        "no (conversation|session|such session|such conversation|active session) found",
        "no such (session|conversation)", "no rollout found", "no previous sessions", "(could not|cannot|unable to) find (session|conversation)",
        "(session|conversation) (is |)(missing|gone)", "session .. no longer exists", "no thread found",
        "thread not found", "(invalid|unknown|expired) (session|conversation)", "会话不存在",
        "会话已过期", "会话已失效",
    ], text("No conversation found with session ID: 1f2e")).unless(&[
        "oauth", "log in", "login", "sign in", "signing in", "authenticate*", "authentication", "re auth*",
        "refresh*", "access token", "session token", "api key", "security token", "credential*",
    ]),
    Rule::phrases("model.text", Reason::ModelNotFound, &[
        "(unknown|unrecognized|unsupported|nonexistent) model", "no such model", "invalid model:",
        "model is invalid", "no (provider|providers|endpoint|endpoints|channel) available for",
        "(provider|providers|endpoint|endpoints|channel|channels) .. for model", "modelnotfound",
        "model not (found|exist|exists|available|supported|support|enabled|allowed|deployed|open)",
        concat!(
            "model .. (does not exist|doesn't exist|not found|is not found|was not found|",
            "cannot be found|could not be found|do not exist|no longer exists|not exist)",
        ),
        concat!(
            "model .. (is not supported|is not available|is not enabled|is not allowed|",
            "isn't available|isn't supported|is unsupported|is not deployed|is not accessible|",
            "not available)",
        ),
        "model .. (is no longer|no longer) (available|supported|served|offered|exists)",
        concat!(
            "model .. (decommissioned|deprecated|retired|discontinued|deactivated|been removed|",
            "been shut down|sunset)",
        ),
        "*models* .. (is not found|not found|is no longer available)", "no endpoints found",
        "no allowed providers",
        "no (available|eligible|valid) (provider|providers|endpoints|channel|channels|distributor) .. model",
        "(not a valid|invalid) model (id|name|identifier|specified)", "invalid model$",
        "model (identifier|id|name) .. invalid",
        "(not have|don't have|doesn't have|no) access to (the model|model|this model|the specified model)",
        "do not have access to (it|the model)", "does not have access to (it|the model|model)",
        "have access to the model", "unable to access model", "on demand throughput .. (supported|support)",
        "inference profile", "(reached|at) the end of its life", "must be verified to use the model",
        "stealth model has been revealed", "router not found", "deployment .. (does not exist|not found)",
        "try pulling it", "no models loaded", "(unknown|unrecognized) engine", "engine not found", "no model (with|named|called|matching)",
        "model .. (not part of|not in our|taken offline|is offline)", "not a supported model",
        "(cannot|can't|could not|unable to) find (model|the model)", "no longer (support|supports) (this|the|that) model",
        "no provider serves", "reached (its |the |)end of (its |)life",
        "model .. (not loaded|is not loaded)", "model (is |)not loaded", "not a chat model",
        "activated the model", "model is only supported in", "unable to access .. model",
        "model .. (was removed|has been removed|not offered|could not be resolved)", "model (is |)disabled",
        "model (is |)unavailable in", "not allowed to access model", "model (is |)currently not offered", "failed to load model",
        "plan .. not support .. model", "model is deactivated", "not a valid model", "use a newer model",
        "not found the model", "could not resolve .. model",
        "support on demand throughput", "supports on demand throughput", "模型不存在", "未知模型", "模型未找到", "模型已下线",
        "不支持该模型", "找不到模型", "未找到模型", "模型 .. 未部署", "模型不可用", "模型已被移除", "模型名称错误", "模型名称无效", "无可用渠道", "指定的模型",
        "模型未开通", "无效的模型", "模型已停用", "模型不支持", "模型未授权", "模型 .. 不存在",
    ], text("The model `gpt-9` does not exist")).unless(&[
        "data model", "(model|model's) (output|response|reply|answer|called|returned)", "tool model",
    ]),
];

/// Phrases that mean a rate in tokens, or another limit than the context window.
const NOT_SIZE: &[&str] = &[
    "number of output tokens",
    "tokens per (minute|min|day|hour|second)",
    "tpm",
    "tpd",
    "rate limit*",
    "too many tokens processed",
    "please wait",
    "reasoning is mandatory",
    "context window too small",
    "context window is too small",
    "minimum is",
    "(image|file) .. (too large|exceeds)",
    "data model",
];

/// Refused content, and prompts that do not fit the context window.
#[rustfmt::skip]
pub(super) static OVERFLOW: &[Rule] = &[
    Rule::phrases("policy.text", Reason::ContentPolicy, &[
        "content (management |)policy", "(input|prompt|content|request|message|image) .. flagged for",
        "(input|prompt|content|request|message|image) flagged for", "responsible ai", "content moderation",
        "blocked due to (safety|prohibited|recitation|sensitive)", "guardrail .. (blocked|intervened)",
        "guardrail (blocked|intervened)", "content exists risk", "not permitted under our", "rejected by moderation", "prompt blocked", "acceptable use policy",
        "(unsafe|harmful|disallowed) (prompt|request|input)", "sensitive (information|words)", "nsfw",
        "blocked output", "(violates|violate) .. terms of (use|service)", "prohibited (words|content)", "content filter*",
        "(flagged|blocked) .. (violat*|moderation|safety|policy)", "flagged as potentially violating",
        "input was flagged", "prompt was flagged", "requires moderation",
        "(violates|violate|violating|violated) .. (usage|content|safety) (policy|policies|guidelines)",
        "inappropriate content", "considered high risk", "violates usage guidelines",
        "failed check: safety*", "safety (system|filters|policies)",
        "(sensitive|unsafe|prohibited|harmful) content", "refused .. safety", "input new sensitive",
        "output new sensitive", "new sensitive", "data inspection", "敏感内容", "不安全或敏感", "内容审核", "内容安全", "内容违规", "违禁词", "敏感词", "存在风险", "涉嫌违规", "敏感信息", "不合规",
        "违规内容",
    ], text("Your input was flagged for violence")).unless(&[
        "access was terminated", "access terminated", "account .. (suspended|terminated|banned)",
    ]),
    Rule::codes("overflow.numbers", Reason::ContextOverflow, &[
        TOKENS_OVER_LIMIT,
    ], text("prompt of 213462 tokens > 200000")).unless(NOT_SIZE),
    Rule::phrases("overflow.text", Reason::ContextOverflow, &[
        concat!(
            "context (length|window|size|limit) .. (exceeded|exceed|exceeds|overflow|too large|",
            "too long|ran out*|reached|full)",
        ),
        concat!(
            "(exceed|exceeds|exceeded|exceeding|longer than|greater than|larger than|beyond|",
            "over) .. context (length|window|size|limit)",
        ),
        "(exceed|exceeds|exceeded|exceeding) .. (the|this|that) context", "maximum context length",
        "maximum context", "max context length", "context overflow", "context length exceeded",
        concat!(
            "(exceed|exceeds|exceeded) .. (model's maximum|model maximum|model token limit|",
            "maximum number of tokens|maximum number of input tokens|maximum prompt length|",
            "max prompt length|token limit of)",
        ),
        "prompt (exceeds|exceeded|longer than) .. (length|limit|maximum|tokens)",
        "input (token |)length too long",
        "input length .. (exceed|exceeds)", "range of input length",
        "(request|payload|body|entity) too large", "(request|payload|body) is too large",
        "request entity too large", "request exceeds the maximum size", "exceeds the maximum size",
        "request size exceeds", "(input|prompt) token count .. (exceeds|exceed|must be less than|is)",
        "model token limit", "maximum prompt length is",
        "too many (input |)tokens .. (prompt|context|maximum)", "too many tokens: .. prompt",
        "(input|inputs|prompt) tokens .. must be",
        "tokens .. (exceeds|exceed|exceeding) .. (model's|the model|maximum|limit of)",
        "reduce the length of the (messages|prompt|input)",
        "reduce (your|the) (prompt|input|context) (length|size)",
        "input validation error .. tokens", "tokens to keep from the initial prompt",
        "prompt has .. tokens, but", "ran out of (context|room)", "cannot compress further", "too many input tokens", "token window", "exceeds model context", "maximum length of .. tokens", "over the limit of (this|the) model", "n ctx",
        "tokens .. more than .. allowed", "(maximum|max) token length", "(max|maximum) context exceeded", "max model len", "context the overflows",
        "(input|prompt) tokens .. (exceed|exceeds) max", "token context limit", "context (token |)limit",
        "contextwindowexceedederror", "model allows at most", "accepts up to .. tokens",
        "tokens .. (exceed|exceeds) model limit", "token limit exceeded .. prompt",
        "max tokens .. exceed .. context", "less than the context length", "context size .. tokens",
        "input .. is longer than the model", "does not fit .. context", "上下文长度", "上下文过长", "上下文超长", "模型上下文", "token 数超过", "对话过长", "最大 token", "上下文限制", "上下文窗口", "超长", "tokens 数超过", "超出模型限制",
        "超过最大长度", "输入过长", "输入太长", "超出最大上下文", "上下文超出", "prompt exceeds max length",
        "(prompt|input|message|conversation|request|messages|history) (is |are |was |)(too long|too large)",
        concat!(
            "(exceed|exceeds|exceeded|over) max (input tokens|model len|context|seq len|",
            "sequence length|position embeddings|total tokens|prompt length)",
        ),
        concat!(
            "(longer|larger|greater|more) than .. (maximum model length|max tokens allowed|",
            "maximum length|context|maximum sequence length|token limit)",
        ),
        "inputs must have less than", "tokens .. more than max*",
        "(prompt|input) .. (longer|larger) than .. (model|limit|maximum)", "输入长度", "长度超过模型", "超过模型最大",
        "提示词过长", "input tokens exceed*", "context length is only", "string too long .. tokens",
        "413 .. too large", "exceeds the limit of .. tokens", "token count of .. exceeds",
        "tokens > .. maximum", "(exceed|exceeds) context limit", "max tokens' .. is too large .. context",
    ], text("prompt is too long for this model")).unless(NOT_SIZE),
    // Phrases about the size of the prompt that do not mention the context window.
    Rule::phrases("overflow.loose", Reason::ContextOverflow, &[
        "(input|prompt|request) (window|length|size) .. (over|above|beyond|exceeds|exceeded) the (limit|maximum)",
    ], text("The input window is over the limit")).unless(NOT_SIZE).default_certainty(),
];

/// Malformed and unsupported requests. Another model may support what this one does not, so that rule has default
/// certainty (decision A1).
#[rustfmt::skip]
pub(super) static FORMAT: &[Rule] = &[
    Rule::phrases("format.capability", Reason::Format, &[
        concat!(
            "does not support (tools|tool|images|image|function|system|streaming|this|parameter|",
            "vision|developer|prefill)",
        ),
        "not support .. prefill", "assistant message prefill", "not supported by this model",
        "unsupported (parameter|value|role)", "does not work with the specified model",
        "does not support .. with this model", "is not supported (in|for|with) this",
    ], text("This model does not support tools")).default_certainty(),
    Rule::phrases("format.weak", Reason::Format, &[
        "is not allowed", "are not allowed", "is reserved", "not permitted", "is required", "are required",
        "must not be",
    ], text("Key 'x-forbidden' is reserved").at(400)).at(&[(400, 400), (422, 422)]),
    Rule::phrases("format.text", Reason::Format, &[
        "invalid request format", "invalid request:",
        "(malformed|invalid) (request|input request|json|body|payload)", "malformed input", "tool use id",
        "tool use.id", "tool·use·id", "tool·use ids", "tool call id", "tool·use", "tool·result",
        "tool·calls", "tool result's tool id", "ids were found without", "unexpected .. found in .. blocks",
        "must have a corresponding", "string should match pattern", "should match pattern",
        "roles must alternate", "must alternate", "does not match pattern", "duplicate item",
        "cannot both be", "should be a valid", "function call turn", "is not specified", "must be defined",
        "must start with a user", "validation (error|errors) detected", "failed to satisfy constraint",
        "same number of function calls", "must have at least one", "successive (user|assistant)",
        "must contain the word", "must be set to (true|false)", "is mandatory", "cannot unmarshal",
        "assistant messages at the end", "response prefill", "image input is not supported", "bad input",
        "template error", "not support parameters", "unexpected role", "not recognised", "not valid json",
        "instructions are not valid", "invalid message", "valid role", "is unsupported", "expected last role", "conversation must end with",
        "encrypted content .. (could not|invalid)", "invalid encrypted content", "invalid schema",
        "schema (mismatch|validation)", "schemas", "json schema", "extra inputs are not permitted",
        "field required", "field is required", "required key .. not found", "missing required",
        "missing field", "missing a thought signature", "missing .. in functioncall", "thought signature",
        "thinking blocks", "thinking block", "·thinking", "first block must be", "blocks must match",
        "invalid ·signature", "invalid signature in", "unsupported (content|format|image|media|tool|file)",
        "not supported with this model", "unknown parameter",
        "unrecognized (request argument|parameter|key|field)",
        concat!(
            "invalid (parameter|value|type|argument|field|content|role|base64|image|tool|function|",
            "url|messages|property|input)",
        ),
        "invalid ·*", "invalid params", "invalid param", "parameter is (illegal|invalid)",
        "is not a valid (value|type)", "failed to deserialize", "could not parse (the |)json",
        "parse the json body", "string too long", "expected a string",
        "text content blocks must be non empty",
        concat!(
            "must be (non empty|a string|an array|an object|at most|at least|less than|greater than|",
            "one of|between|numeric|followed by|a response to)",
        ),
        "no tool output found", "no tool call found", "previous response .. not found",
        "provided without its required", "without its required following item", "failed to call a function",
        "tool choice", "tool call .. (must be|not found|invalid)", "tool .. must be", "requires enable",
        "streaming is required", "maximum tokens .. exceed*", "maximum allowed number of output tokens",
        "max tokens .. (too large|must be)", "max·tokens", "harness .. does not support",
        "reasoning content", "·reasoning·content", "unable to process input image",
        "could not process image", "role .. must", "content .. must", "unprocessable", "参数错误", "参数无效", "参数有误", "参数校验", "格式不正确", "缺少必填", "缺少必要",
        "参数非法", "parameter error", "does not belong to this (account|organization)",
        "cannot continue from message role", "input tag .. does not match", "json parse error",
        "expected .. (items|elements|fields|properties)",
    ], text("messages: roles must alternate between user and assistant")),
];
