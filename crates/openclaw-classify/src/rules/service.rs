//! Rules for texts about the provider's service: overloaded, failing, not responding (classify.md C-5).

use super::rule::{Attribution, Rule, text};
use crate::Reason;

/// Overload, which concerns every credential.
#[rustfmt::skip]
pub(super) static OVERLOAD: &[Rule] = &[
    Rule::phrases("overloaded.text", Reason::Overloaded, &[
        "no healthy upstream", "no healthy (upstreams|backend|backends|host|hosts|endpoint|endpoints|instance|instances)",
        "degraded function", "function .. degraded", "degraded and cannot", "(is|are) degraded",
        "overloaded", "(system|server|service|model|engine|temporary) overload",
        "(at|over|beyond|out of|exceeds|exceeding|no|insufficient|limited|reached|lack of) capacity",
        "at (full|maximum|max) capacity", "impacting service reliability", "processing too many requests",
        "(slots|workers|replicas|instances) (are|is) .. busy", "(slots|workers) are busy", "too many connections", "very popular right now", "(service|server|servers|backend|upstream|model|cluster) .. (congested|saturated)",
        "(service|server|servers|backend|upstream|model|cluster) (is |are |)(congested|saturated)", "too much (traffic|load)",
        "no available (workers|slots|gpus|instances|replicas)",
        "capacity .. (exceeded|constraints|limit|issue|reached|unavailable|exhausted|full)",
        "unavailable: capacity", "not enough capacity", "high (demand|traffic|load|volume)",
        "heavy (load|traffic|demand)", "(temporarily|currently) limiting requests",
        "(server|servers|service|engine|model|system|backend) (is|are) (too |currently |very |)busy",
        "server busy", "too busy", "engine busy", "pending requests exceeded", "pending requests",
        "not ready yet", "model is not ready", "bedrock is unable to process", "queue is full",
        "queue full", "queue (length|size) .. exceeded", "too many users", "too many people",
        "too many .. (users|people) .. using", "peak (hours|load)", "server load", "服务过载", "负载过高", "负载较高",
        "访问量过大", "过载", "高负载", "算力不足", "当前访问人数过多", "资源紧张", "负载已满", "负载已达",
        "已饱和", "请求量过大", "压力过大", "服务器繁忙", "模型繁忙", "使用人数", "算力资源", "系统资源不足", "排队",
    ], text("The engine is currently overloaded, please try again later")),
];

/// Connection failures, timeouts and server errors.
#[rustfmt::skip]
pub(super) static TRANSIENT: &[Rule] = &[
    Rule::phrases("own.generic-text", Reason::Unclassified, &[
        "^llm request failed with an unknown error$",
    ], text("LLM request failed with an unknown error.")),
    Rule::phrases("label.no-details", Reason::NoErrorDetails, &[
        "^unknown error .. no error details in response$",
    ], text("Unknown error (no error details in response)")),
    Rule::phrases("network.text", Reason::Timeout, &[
        "econnrefused", "connection refused", "enetunreach", "ehostunreach", "ehostdown", "enotfound",
        "eai again", "getaddrinfo", "could not resolve host",
        "dns (error|lookup|failure)", "no route to host", "network is unreachable", "connect etimedout",
        "connect timeout", "connecttimeout*",
        "certificate (has expired|verify failed|verification failed|is not trusted|chain)", "self signed certificate",
        "ssl (error|routines|handshake)", "sslerror", "wrong version number", "x509", "no such host", "(dns|name) resolution",
        "(could not|couldn't|cannot|failed to|unable to) connect to",
        "unable to verify the first certificate", "tls (handshake|error|connection)",
        "before secure tls connection", "tunneling socket", "eproto",
        "proxy (authentication|connection|error)",
    ], text("connect ECONNREFUSED 127.0.0.1:11434")).attributed_to(Attribution::Network),
    Rule::phrases("timeout.text", Reason::Timeout, &[
        "timeout", "timeouts", "timed out", "time out", "timedout", "etimedout", "esockettimedout",
        "deadline (exceeded|expired|has expired|passed)", "given deadline", "took too long", "econnreset",
        "econnaborted", "epipe", "enetreset",
        concat!(
            "connection (reset|error|closed|lost|aborted|failure|failed|terminated|interrupted|",
            "dropped|broken|was closed|was reset|was lost)",
        ),
        "socket hang up", "socket (closed|error|connection was closed|disconnected)", "fetch failed",
        "failed to fetch", "network (error|failure|connection|issue|request failed)", "broken pipe",
        "other side closed", "premature close", "premature end", "peer closed connection",
        "upstream connect error", "disconnect/reset before headers",
        concat!(
            "stream (ended|closed|terminated|disconnected|interrupted|aborted|was aborted|was closed|",
            "error|read error|reset|stalled|was not closed|failed)",
        ),
        concat!(
            "(ended|closed|terminated|disconnected|finished) .. (before completion|before a finish|",
            "without a finish|without finish|unexpectedly|without sending|prematurely)",
        ),
        "without sending .. (chunk|chunks)", "^stream read error$", "http/2 stream",
        "incomplete chunked read", "incomplete response", "response ended prematurely", "unexpected eof",
        "unexpected end of (stream|file)",
        "stop reason: (error|malformed response|malformed function call|network error)", "^reason: error$",
        "^stop reason: error", "finish reason: (network error|error)", "^terminated$", "^typeerror: terminated$", "ended without", "(could not|couldn't|cannot|failed to|unable to) reach (the|upstream|server|host|api|provider)", "broken connection",
        "eof while", "empty reply", "remote host closed",
        "repeated internal retries", "请求超时", "超时", "网络异常", "网络错误", "连接超时", "连接失败", "连接被重置", "响应超时", "服务繁忙",
        "internal network failure", "not responding", "did not respond",
        "client network socket disconnected", "before message stop", "first token", "apiconnectionerror",
        "incompleteread", "incomplete read", "closed connection",
        "without (a |)response", "sent goaway", "goaway", "unexpectedly closed",
        "connection .. (closed|reset|refused|aborted|lost|terminated|dropped)", "error sending request",
        "error reading (response|body|stream|from)", "read error",
        // Watchdogs of clients (F-32).
        concat!(
            "no (first byte|first token|first chunk|first event|byte|bytes|data|output|event|events|chunk|chunks|activity|",
            "progress|content|token|tokens|response|reply|answer|headers) (from|in|within|for|after|since|received|arrived|was received)",
        ),
        "(idle|stalled|stuck|hung|inactive|silent|unresponsive) (for|after|since)",
        "watchdog", "(stream|provider|upstream|request|response|connection|model|server) (stalled|hung|is unresponsive|went silent|is stalled|has stalled|is hanging)",
        "(did not|didn't|failed to|never) (start|begin|send|produce|return|respond|answer|reply|stream) .. (within|in time|for|after)",
        "gave up waiting", "(waited|waiting) .. (for|too long) .. (response|first byte|first token|answer|headers|reply)",
        "(time limit|time budget|time to first token) (was |)(exceeded|reached|expired)", "(exceeded|exceeds|over) .. (time limit|time budget)",
    ], text("Request timed out")),
    Rule::phrases("timeout.generic", Reason::Timeout, &[
        "^an unknown error occurred$", "^request failed$", "^llm request failed.$",
    ], text("An unknown error occurred")).default_certainty(),
    Rule::phrases("server.text", Reason::ServerError, &[
        "internal (server |)error", "internal exception",
        "server (had an|encountered an|encountered a) error", "server error",
        "error occurred while processing", "bad gateway", "gateway error",
        "service (is |)(currently |temporarily |)unavailable",
        "service (unavailable|temporarily unavailable|is unavailable|is currently unavailable|not available)",
        "temporarily unavailable", "currently unavailable",
        "upstream (error|request failed|failed|service|server|returned)",
        "backend (error|returned|failure)", "unknown error, .. (1000)", "^unknown error,",
        "^unknown error, ", "unexpected error (during|occurred)",
        "encountered an (issue|unexpected error|internal error)", "something went wrong",
        "runner process has terminated", "invalid response from (it|upstream|the)",
        "returning an invalid response", "model is down", "requires more system memory",
        "error while streaming", "occurred while streaming", "loading model", "model is loading",
        "(is |)currently loading", "unexpected response", "error from model server",
        "enginecore", "engine (error|dead|failure|core)", "generation failed", "error in .. inference",
        "(runner|process|worker|backend|engine) .. (terminated|crashed|stopped|died|exited)",
        "unexpectedly stopped", "unable to (generate|complete) .. response", "failed to generate",
        "inference (error|failed)", "do request failed", "something (broke|failed) on our (side|end)", "unexpected (server|internal) (failure|error)", "bad response status code", "enginedeaderror", "cuda (error|out of memory)", "out of memory", "系统繁忙", "服务器错误", "内部错误",
        "系统错误", "服务异常", "请求上游失败", "服务内部", "网关错误", "服务端错误", "服务不可用", "系统异常", "服务暂不可用", "稍后重试", "稍后再试",
    ], text("Internal server error")),
];
