//! Rules for texts about the request: its session, model, size and format (classify.md C-5).

use super::rule::{Attribution, Rule, text};
use crate::Reason;
use crate::facts::TOKENS_OVER_LIMIT;

/// Words that make a missing thing the model, the address or the account instead of something that the request names.
const NOT_OF_THE_REQUEST: &[&str] = &[
    "model with id",
    "deployment with id",
    "project with id",
    "organization with id",
    "workspace with id",
    "conversation with id",
    "session with id",
    "thread with id",
    "user with id",
    "account with id",
    "key with id",
    "endpoint with id",
    "engine with id",
];

/// What the request refers to and the provider does not have, state that only the provider that made it can read, and
/// abilities that a router found at none of its endpoints. None of it says anything about the model (F-22, F-60, F-61).
#[rustfmt::skip]
pub(super) static REFERENCES: &[Rule] = &[
    Rule::phrases("format.reasoning-state", Reason::Format, &[
        "thought signature", "thought·signature", "thoughtsignature", "·thoughtsignature",
        "(signature|·signature) .. (thinking|·thinking|redacted thinking|·redacted·thinking)",
        "(thinking|·thinking|·redacted·thinking) .. (signature|·signature|cannot be modified|blocks must|block must|blocks are|blocks cannot)",
        "expected (thinking|`·thinking)", "must start with a (thinking|`·thinking)", "thinking·signature",
        "encrypted content", "encrypted·content", "encryptedcontent",
        concat!(
            "(reasoning content|·reasoning·content|reasoning·content|reasoning details|·reasoning·details) .. ",
            "(missing|must|required|not allowed|not permitted|unsupported|not supported|should not|cannot|unexpected)",
        ),
        concat!(
            "(missing|must|unexpected|include|includes|included|pass|passed|without|remove) .. ",
            "(reasoning content|·reasoning·content|reasoning·content)",
        ),
        "(item|items) .. ·rs·* .. (not found|does not exist|could not be found|without|missing|expired)",
        "reasoning (item|items) .. (not found|without|missing|expired|invalid)",
        "without its required following item", "without its required ('·reasoning|·reasoning|reasoning)",
    ], text("Invalid signature in thinking block").at(400)).attributed_to(Attribution::Capability),
    Rule::phrases("format.absent-thing", Reason::Format, &[
        concat!(
            "(item|items|previous response|response|vector store|vector stores|container|containers|file|files|batch|",
            "batches|assistant|run|upload|attachment|cached content|cachedcontent|cache|prompt|skill|connector|",
            "fine tuning job|job|checkpoint|eval|document|dataset|corpus|message batch|code interpreter|",
            "environment|memory|artifact|object|blob|knowledge base|collection|message) (with |)(id|ids) .. ",
            "(not found|does not exist|doesn't exist|could not be found|was not found|were not found|is not found|",
            "cannot be found|no longer exists|has expired|expired|not exist|has been deleted|was deleted)",
        ),
        concat!(
            "(item|items|previous response|vector store|vector stores|container|file|files|batch|upload|attachment|",
            "cached content|cachedcontent|prompt|skill|connector|fine tuning job|job|document|dataset|corpus|message batch|",
            "artifact|blob|knowledge base|assistant|run|checkpoint) ",
            "(not found|does not exist|doesn't exist|could not be found|was not found|were not found|is not found|",
            "cannot be found|no longer exists|has expired|is expired|has been deleted|was deleted)",
        ),
        concat!(
            "(item|items|previous response|vector store|vector stores|container|file|files|batch|upload|attachment|",
            "cached content|cachedcontent|prompt template|skill|connector|fine tuning job|document|dataset|corpus|message batch|",
            "artifact|blob|knowledge base) .. ",
            "(not found|does not exist|doesn't exist|could not be found|was not found|were not found|is not found|",
            "cannot be found|no longer exists|has expired|is expired|has been deleted|was deleted)",
        ),
        "with (id|ids) .. (not found|does not exist|doesn't exist|could not be found|was not found|were not found)",
        concat!(
            "no (such |)(item|items|response|vector store|container|file|files|batch|upload|attachment|cached content|",
            "skill|connector|document|dataset|assistant|run|file object|batch object|object|message batch|",
            "prompt|job|fine tuning job) (found|exists|exist|with|object|named|by|for)",
        ),
        concat!(
            "no such (item|response|vector store|container|file|batch|upload|attachment|cached content|skill|connector|",
            "document|dataset|assistant|run|file object|batch object|object|message batch|prompt|job|fine tuning job)",
        ),
        concat!(
            "(could not|couldn't|cannot|can't|failed to|unable to) (find|locate|retrieve|resolve) .. ",
            "(item|items|response|vector store|container|file|files|batch|upload|attachment|cached content|skill|",
            "connector|document|dataset|assistant|run|prompt)",
        ),
        concat!(
            "(invalid|unknown|unrecognized|nonexistent|expired) (file|item|response|previous response|container|",
            "vector store|batch|cached content|attachment|upload|assistant|prompt) id",
        ),
        "·previous·response·id", "previous response id",
        "文件不存在", "找不到文件", "响应不存在", "缓存不存在", "知识库不存在",
    ], text("Item with id 'msg_zzz' not found.").at(404)).unless(NOT_OF_THE_REQUEST)
        .at(&[(0, 0), (400, 400), (403, 404), (409, 410), (422, 422)]),
    // The settings of the account leave no endpoint of this model.
    Rule::phrases("model.data-policy", Reason::ModelNotFound, &[
        "(endpoints|endpoint|providers|provider) .. matching your (data|privacy|guardrail)",
        "matching your (data|privacy) (policy|policies|settings)",
        "no (endpoints|endpoint|providers|provider) .. (guardrail|data policy|zero data retention)",
    ], text("No endpoints found matching your data policy").at(404)).attributed_to(Attribution::Capability),
    Rule::phrases("format.no-endpoint", Reason::Format, &[
        concat!(
            "no (endpoints|endpoint|providers|provider|models) (found |available |)(that |which |to |)",
            "(support|supports|supporting|handle|handles|can handle|accept|accepts)",
        ),
        concat!(
            "no (allowed |eligible |available |)(endpoints|endpoint|providers|provider) .. ",
            "(support|supports|supporting|handle|handles|match|matching) .. ",
            "(input|image|images|audio|video|file|files|pdf|tool|tools|tool use|tool choice|function calling|parameter|",
            "parameters|schema|json|modality|modalities|reasoning|caching|streaming)",
        ),
    ], text("No endpoints found that support image input").at(404)).attributed_to(Attribution::Capability),
];

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
    // A route of a relay, not the key that asks for it (F-33).
    Rule::phrases("server.relay-channel", Reason::ServerError, &[
        "(channel|route|upstream channel|provider channel) (is |was |has been |)(disabled|unavailable|banned|offline|suspended|closed|down)",
        "(all|no) (channels|routes) .. (disabled|failed|unavailable|banned|enabled|usable)",
        "no (enabled|usable|healthy|active) (channel|channels|route|routes)", "(disabled|banned) (channel|channels)",
        "渠道已被禁用", "渠道已禁用", "渠道不可用", "渠道被禁用", "渠道已停用",
    ], text("channel disabled").at(403)),
    // Only what the account may not use of the model list, so the credential stays (F-23).
    Rule::phrases("model.for-account", Reason::ModelNotFound, &[
        concat!(
            "is not available (for|to|in|on|with|under) (this|your) ",
            "(account|organization|organisation|project|subscription|plan|team|workspace|tier)",
        ),
        "other available models",
    ], text("acme.opus is not available for this account.").at(403)).unless(&[
        "(feature|features|api|service|region|country|beta|tool|tools|endpoint|caching)",
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
        "(exceed|exceeds|exceeded|exceeding) .. (the|this|that) context", "maximum number of (input |)tokens is", "maximum context length",
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

/// Unsupported and malformed requests. What the refusal ties to the model or provider, such as a parameter, an ability or
/// a keyword of its own, another one may take, so the chain goes on; a request that every provider would refuse stops it
/// (A1, F-24, F-62).
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
    ], text("This model does not support tools")).attributed_to(Attribution::Capability),
    Rule::phrases("format.input-kind", Reason::Format, &[
        "(image|images|audio|video|file|files|pdf|document|vision|multimodal|multi modal|modality|media) (input|inputs|content|url|urls|part|parts|understanding|modality|) .. (not supported|unsupported|isn't supported|aren't supported|not allowed|not enabled|not available|only supported|not accepted|cannot be processed|not capable)",
        "(not|doesn't|don't|cannot|can't) (support|accept|handle|process|take) .. (image|images|vision|audio|video|file|files|pdf|document|documents|multimodal|multi modal|modality|media|modalities)",
        "(not support|not accept|doesn't support|cannot read|can't read) (image|images|vision|audio|video|file|files|pdf|document|documents|multimodal|multi modal|modality|media)",
        "(image|images|audio|video|file|input audio|input image|input file|·image·url|image·url|·input·image|·input·audio|·input·file) .. (only supported|is only|are only|not supported|unsupported)",
        "(unsupported|unknown|invalid|unexpected) (content|media|message content|part|content part|content block|input) type",
        "content .. must be a string", "(content|·content) .. (should be|expected) a (valid |)string", "expected a string .. (got|but got|found|received) (an |a |)(array|list|object|sequence|map)",
        "invalid type: (sequence|map), expected a string", "(text only|only text|only supports text|supports text only)", "not (a |)(vision|multimodal|multi modal) model",
        "at most 0 (image|images|audio|video)", "unsupported (content|image|media|file) (type|format|input)", "mmproj",
    ], text("image input is not supported").at(400)).attributed_to(Attribution::Capability),
    Rule::phrases("format.tools", Reason::Format, &[
        "enable auto tool choice", "tool call parser", "(tool|tools|function|functions|tool use|tool choice|tool calling|function calling|parallel tool calls|·tools|·tool·choice) .. (not supported|unsupported|isn't supported|aren't supported|not enabled|not available|not allowed|only supported|not capable)",
        "(not|doesn't|don't|cannot|can't) (support|accept|handle) .. (tool|tools|function|functions|tool use|tool choice|tool calling|function calling|tool calls|function calls|·tools|·tool·choice)",
        "(function|tool) calling is not", "(instruction|instructions) is not enabled", "requires .. tool call parser", "(unsupported|unknown|invalid) (tool type|tool choice)",
        "(tool|tools|function|functions) .. (schema|schemas) .. (not supported|unsupported|invalid|not valid)", "too many (tools|functions)", "failed to call a function",
    ], text("auto tool choice requires --enable-auto-tool-choice").at(400)).attributed_to(Attribution::Capability),
    Rule::phrases("format.output-schema", Reason::Format, &[
        "invalid (schema|json schema)", "(schema|json schema|response format|·response·format|structured output|structured outputs|json mode|json object|·json·schema|·json·object|output format) .. (not supported|unsupported|isn't supported|aren't supported|invalid|not valid|not available|not allowed|only supported|mismatch|not enabled|must be|must match|keyword)",
        "(not|doesn't|don't) support .. (schema|json schema|response format|structured output|structured outputs|json mode|json object|·response·format|·json·schema)",
        "schema (mismatch|validation|error)", "input schema", "must contain the word", "(unsupported|unknown) (schema|keyword)", "(schemas|json schema)", "grammar .. (error|invalid|failed|not supported)",
        "additionalproperties", "·additionalproperties",
    ], text("Invalid schema for response_format 'x'").at(400)).attributed_to(Attribution::Capability),
    Rule::phrases("format.prefill", Reason::Format, &[
        "response prefill", "prefill .. (not supported|not allowed|incompatible|unsupported)", "conversation must end with a user", "expected last role", "last message must (be|have) .. user",
        "assistant messages at the end", "cannot continue from message role",
    ], text("The conversation must end with a user message.").at(400)).attributed_to(Attribution::Capability),
    Rule::phrases("format.parameter", Reason::Format, &[
        "unsupported (parameter|parameters|value|values|param|params|argument|option|field|feature|header|role|request)",
        "(unknown|unrecognized|unrecognised|unexpected|unsupported|extraneous|unallowed|disallowed|extra) (parameter|parameters|param|params|argument|arguments|request argument|field|fields|name|key|keys|property|properties|variant|option|keyword|keyword argument|header|value|values|input|inputs|attribute|role|beta)",
        "extra inputs are not permitted", "extra (fields|inputs|keys|properties|attributes) .. (not permitted|not allowed|forbidden)", "extra (fields|inputs|keys|properties|attributes) not (permitted|allowed)", "additional properties (are |)not allowed", 
        "cannot find field", "not support parameters", "unsupportedparamserror",
        "(is|are|was|were) (not supported|unsupported|not recognized|not recognised|deprecated)", "isn't supported", "aren't supported", "(only|currently only) (supports|support|supported)", "not supported (by|with|for|in|on|when|at|yet)",
        "not (yet |currently |)(supported|implemented|available) (by|with|for|in|on) (this|the) (model|provider|endpoint|deployment|api|route|backend|engine|server)",
        "(supported|available|allowed|enabled|permitted) only (by|with|for|in|on|when)", "only (allowed|available|enabled|permitted|supported) (by|with|for|in|on|when)",
        "only the default .. (value|is supported)", "only .. is supported", "only .. are supported", "only .. (value|values) .. (supported|allowed)",
        "supported values are", "supported (parameters|roles|types|options) are", "supports .. only", "(valid|allowed|accepted|permitted|possible) (values|options|roles|types) (are|is|include)", "use ·max·completion·tokens", "use 'max completion tokens'",
        "(doesn't|does not|don't|do not|cannot|can't) support", "does not work with", "is not supported (in|for|with|by) this",
        "(reasoning|reasoning effort|·reasoning·effort|thinking|temperature|top p|·top·p|·temperature|stop|seed|logprobs|verbosity|service tier|streaming|stream|system|developer|parallel tool calls|max tokens|·max·tokens|max completion tokens|·max·completion·tokens|prompt cache*) .. (not supported|unsupported|not allowed|not permitted|must be set|must be (true|false|1|enabled|disabled|default|at most|at least|less than|greater than|between)|mandatory|cannot be (set|disabled|enabled|used|specified)|incompatible|only)",
        "cannot both be", "(thinking|reasoning|temperature|top p|stream|streaming|parameter|option) .. is mandatory", "reasoning is mandatory", "must be set to (true|false)", "stream(ing|) is (required|mandatory)", "requires (enable|streaming|stream|thinking|reasoning)", 
        "maximum allowed number of output tokens", "maximum tokens .. exceed*", "max tokens .. (too large|must be|exceed|exceeds|greater|larger|at most|less)", "max·tokens", "(max tokens|max output tokens|max completion tokens|·max·tokens|·max·output·tokens|·max·completion·tokens) .. (range|supported range|limit|maximum|up to|too high)", "instructions are not valid",
        "is incompatible with", "not compatible with", "harness .. does not support",
        "anthropic beta", "·anthropic·beta", "anthropic version", "·anthropic·version", "(header|headers) .. (not supported|unsupported|not allowed|unexpected)",
        "template error", "(chat template|jinja) .. (error|failed|exception|missing)", "不支持",
    ], text("Unrecognized request argument supplied: seed").at(400))
        .at(&[(0, 400), (404, 428), (430, 599)]).attributed_to(Attribution::Capability),
    Rule::phrases("format.weak", Reason::Format, &[
        "is not allowed", "are not allowed", "is reserved", "not permitted", "is required", "are required",
        "must not be",
    ], text("Key 'x-forbidden' is reserved").at(400)).at(&[(400, 400), (422, 422)]),
    Rule::phrases("format.text", Reason::Format, &[
        "invalid request format", "invalid request:",
        "(malformed|invalid) (request|input request|json|body|payload)", "malformed input", "tool use id",
        "tool use.id", "tool·use·id", "tool·use ids", "tool call id", "tool·use", "tool·result",
        "tool·calls", "tool result's tool id", "ids were found without", "unexpected .. found in .. blocks",
        "must have a corresponding", "should match pattern", "does not match pattern", "must match pattern", "roles must alternate", "must alternate", "duplicate item",
        "should be a valid", "function call turn", "is not specified", "must be defined",
        "must start with a user", "validation (error|errors) detected", "failed to satisfy constraint",
        "same number of function calls", "must have at least one", "successive (user|assistant)",
        "cannot unmarshal",
        "bad input",
        "unexpected role", "not recognised", "not valid json",
        "invalid message", "valid role", "field required", "field is required", "required key .. not found", "missing required",
        "missing field", "missing .. in functioncall", "blocks must match",
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
        "no tool output found", "no tool call found", "provided without its required", "without its required following item", "tool choice", "tool call .. (must be|not found|invalid)", "tool .. must be", "unable to process input image",
        "could not process image", "role .. must", "content .. must", "unprocessable", "参数错误", "参数无效", "参数有误", "参数校验", "格式不正确", "缺少必填", "缺少必要",
        "参数非法", "parameter error", "does not belong to this (account|organization)",
        "input tag .. does not match", "json parse error",
        "expected .. (items|elements|fields|properties)",
    ], text("messages: roles must alternate between user and assistant")),
];
