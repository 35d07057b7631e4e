//! Refusals of a request: which ones every provider would give, and which ones are bound to a model or provider.

use super::{under, verdict};
use crate::{Failure, Owner, Reason, Scope, rules};

/// Owner and scope of a refusal that is the request's own fault.
const OF_THE_REQUEST: (Reason, Owner, Scope) = (Reason::Format, Owner::Content, Scope::None);
/// Owner and scope of a refusal that is bound to the model or provider.
const OF_THE_MODEL: (Reason, Owner, Scope) = (Reason::Format, Owner::Model, Scope::None);

/// Checks one message under a status, bare and as the usual error objects have it.
fn check(status: u16, message: &str, expected: (Reason, Owner, Scope)) -> Vec<String> {
    let object = |error: serde_json::Value| Failure {
        status: Some(status),
        body: Some(error.to_string().into_bytes()),
        ..Failure::default()
    };
    let openai = serde_json::json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}});
    let anthropic =
        serde_json::json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
    let plain = serde_json::json!({"detail": message});
    let failures = [
        under(status, message),
        object(openai),
        object(anthropic),
        object(plain),
    ];
    let wrong = failures.iter().filter_map(|failure| {
        let verdict = verdict(failure);
        let came = (verdict.reason, verdict.owner, verdict.scope);
        (came != expected).then(|| {
            format!(
                "{status} {message}: {came:?} by {} {:?}",
                verdict.rule, verdict.evidence
            )
        })
    });
    wrong.take(1).collect()
}

fn check_all(rows: &[(u16, &str)], expected: (Reason, Owner, Scope)) {
    let wrong: Vec<String> = rows
        .iter()
        .flat_map(|(status, message)| check(*status, message, expected))
        .collect();
    assert!(
        wrong.is_empty(),
        "{} of {}, not {expected:?}:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
fn f_60_an_absent_thing_that_is_no_model_is_the_fault_of_the_request() {
    check_all(
        &[
            (404, "Item with id 'msg_zzz' not found."),
            (
                404,
                "Item with id 'fc_68a1' not found. Items are not persisted when `store` is set to false.",
            ),
            (400, "Previous response with id 'resp_abc123' not found."),
            (404, "Previous response with id 'resp_abc123' not found."),
            (404, "Response with id 'resp_1' not found."),
            (404, "Vector store with id 'vs_1' not found."),
            (404, "Container with id 'cntr_1' not found."),
            (400, "Container is expired."),
            (404, "Batch with id 'batch_1' not found."),
            (404, "No batch found with id 'batch_abc'."),
            (404, "No such File object: file-abc123"),
            (404, "No such file: file-abc123"),
            (404, "File not found: file_011CNha8iCJcU1wXNR6q4V8w"),
            (404, "Files ['file-1'] were not found"),
            (404, "The vector store vs_1 does not exist"),
            (404, "CachedContent not found (or permission denied)"),
            (403, "CachedContent not found (or permission denied)"),
            (404, "Cached content cachedContents/abc does not exist."),
            (404, "Prompt with id 'pmpt_1' not found."),
            (404, "Could not find file file-1 in your project"),
            (404, "Document doc_1 not found"),
            (404, "Skill 'pdf-2' not found"),
            (404, "No response found with id 'resp_1'."),
            (400, "Invalid file id: file-9"),
            (404, "Message batch msgbatch_1 not found"),
            (404, "Attachment att_1 could not be found"),
            (404, "文件不存在"),
        ],
        OF_THE_REQUEST,
    );
    for code in [
        "previous_response_not_found",
        "file_not_found",
        "container_expired",
        "vector_store_not_found",
    ] {
        let failure = Failure {
            code: Some(code.to_owned()),
            ..under(404, "It is not there.")
        };
        let verdict = verdict(&failure);
        assert_eq!(
            (verdict.reason, verdict.owner, verdict.scope),
            OF_THE_REQUEST,
            "{code}"
        );
    }
}

#[test]
fn f_60_a_missing_model_stays_one() {
    check_all(
        &[
            (
                404,
                "The model `gpt-9` does not exist or you do not have access to it.",
            ),
            (404, "Model with id 'gpt-9' not found"),
            (
                404,
                "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
            ),
            (
                404,
                "Publisher Model `projects/p/locations/l/publishers/google/models/x` was not found",
            ),
            (404, "The API deployment for this resource does not exist."),
            (404, "model 'llama9' not found, try pulling it first"),
            (404, "model: claude-9"),
            (404, "Not Found"),
            (404, "Requested entity was not found."),
        ],
        (Reason::ModelNotFound, Owner::Model, Scope::Model),
    );
}

#[test]
fn f_60_the_faults_of_a_request_rest_nothing() {
    for rule in rules() {
        if matches!(rule.owner(), Owner::Caller | Owner::Content | Owner::Us) {
            assert_eq!(rule.scope(), Scope::None, "{}", rule.id);
        }
    }
}

#[test]
fn f_61_reasoning_of_another_provider_is_recognised_by_its_own_rule() {
    let rows = [
        (
            400,
            "The encrypted content gAAA could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
        ),
        (
            400,
            "Encrypted content organization_id did not match the target organization.",
        ),
        (
            404,
            "Item with id 'rs_68a1' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
        ),
        (
            400,
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
        ),
        (
            400,
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        ),
        (
            400,
            "messages.3.content.0: Invalid `signature` in `thinking` block",
        ),
        (
            400,
            "messages.3.content.0.thinking.signature: Invalid signature in thinking block",
        ),
        (
            400,
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`.",
        ),
        (
            400,
            "messages.5.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
        ),
        (
            400,
            "Function call is missing a thought_signature in functionCall parts.",
        ),
        (400, "Thought signature is not valid"),
        (
            400,
            "Missing `reasoning_content` field in the assistant message at message index 3.",
        ),
        (
            400,
            "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
        ),
        (
            400,
            "The reasoning_content in the thinking mode must be passed back to the API.",
        ),
        (400, "reasoning_content is not allowed in the input messages"),
        (400, "property `reasoning_content` is unsupported"),
    ];
    check_all(&rows, OF_THE_MODEL);
    for (status, message) in rows {
        assert_eq!(
            verdict(&under(status, message)).rule.as_str(),
            "format.reasoning-state",
            "{message}"
        );
    }
    let coded = Failure {
        code: Some("invalid_encrypted_content".to_owned()),
        ..under(400, "")
    };
    let verdict = verdict(&coded);
    assert_eq!((verdict.reason, verdict.owner, verdict.scope), OF_THE_MODEL);
}

#[test]
fn f_22_a_router_without_a_fitting_endpoint_says_nothing_about_the_model() {
    check_all(
        &[
            (404, "No endpoints found that support image input"),
            (
                404,
                "No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing",
            ),
            (
                404,
                "No endpoints found that support the provided 'tool_choice' value.",
            ),
            (
                404,
                "No endpoints found that can handle the requested parameters.",
            ),
            (404, "No endpoints found that support cache control"),
            (404, "No endpoints found that support file input"),
            (404, "No providers support structured output for this request"),
        ],
        OF_THE_MODEL,
    );
    check_all(
        &[(404, "No endpoints found for acme/m-1.")],
        (Reason::ModelNotFound, Owner::Model, Scope::Model),
    );
    check_all(
        &[
            (
                404,
                "No endpoints found matching your data policy (Free model training). Configure: https://openrouter.ai/settings/privacy",
            ),
            (
                404,
                "No endpoints available matching your guardrail restrictions and data policy.",
            ),
        ],
        (Reason::ModelNotFound, Owner::Model, Scope::None),
    );
}

#[test]
fn f_24_what_the_refusal_binds_to_a_model_or_provider_advances() {
    check_all(
        &[
            (
                400,
                "Function call is missing a thought_signature in functionCall parts.",
            ),
            (
                400,
                "Unsupported parameter: 'temperature' is not supported with this model.",
            ),
            (400, "tool schema not supported by this provider"),
            (
                400,
                "Unknown name \"additionalProperties\" at 'tools[0].function_declarations[0].parameters': Cannot find field.",
            ),
            (
                400,
                "Invalid schema for function 'x': None is not of type 'array'.",
            ),
            (
                400,
                "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12",
            ),
            (
                400,
                "Unexpected value(s) `context-1m-2025-08-07` for the `anthropic-beta` header. Please consult our documentation",
            ),
            (400, "Unrecognized request argument supplied: reasoning"),
            (400, "Unknown parameter: 'store'."),
            (
                400,
                "parameter.enable_thinking must be set to false for non-streaming calls",
            ),
            (
                400,
                "Reasoning is mandatory for this endpoint and cannot be disabled.",
            ),
            (
                400,
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            ),
            (
                400,
                "This model does not support assistant message prefill. The conversation must end with a user message.",
            ),
            (
                400,
                "max_tokens: 200000 > 64000, which is the maximum allowed number of output tokens for claude-haiku",
            ),
            (400, "Store must be set to false"),
            (
                400,
                "litellm.UnsupportedParamsError: groq does not support parameters: ['x'], for model=y.",
            ),
            (
                400,
                "Invalid value: 'developer'. Supported values are: 'system', 'assistant', 'user', 'function', and 'tool'.",
            ),
            (
                400,
                "'response_format' of type 'json_schema' is not supported with this model",
            ),
            (
                400,
                "This response_format type is unavailable now, json_schema is not supported",
            ),
            (400, "top_k is not supported for this deployment"),
            (400, "Streaming is not supported for this model"),
        ],
        OF_THE_MODEL,
    );
}

#[test]
fn f_24_what_every_provider_would_refuse_stops_the_chain() {
    check_all(
        &[
            (
                400,
                "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row",
            ),
            (
                400,
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
            ),
            (400, "We could not parse the JSON body of your request."),
            (400, "Missing required parameter: 'messages'."),
            (
                400,
                "messages.1.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
            ),
            (400, "No tool output found for function call call_1."),
            (400, "messages: text content blocks must be non-empty"),
            (400, "request body is not valid JSON"),
            (
                422,
                "Failed to deserialize the JSON body into the target type: messages[0]: missing field `role`",
            ),
            (400, "Invalid image data"),
        ],
        OF_THE_REQUEST,
    );
}

#[test]
fn f_62_what_one_model_cannot_take_advances_as_real_servers_word_it() {
    check_all(
        &[
            (400, "messages[0].content must be a string"),
            (
                422,
                "Failed to deserialize the JSON body into the target type: messages[0].content: invalid type: sequence, expected a string at line 1 column 40",
            ),
            (
                400,
                "Invalid type for 'messages[0].content': expected a string, but got an array instead.",
            ),
            (
                422,
                "Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 121",
            ),
            (
                400,
                "Invalid content type. image_url is only supported by certain models.",
            ),
            (
                400,
                "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            ),
            (400, "image input is not supported"),
            (
                500,
                "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
            ),
            (404, "No endpoints found that support image input"),
            (400, "This model does not support image input"),
            (400, "Model only supports text input; images are not supported"),
            (400, "m is not a multimodal model"),
            (400, "At most 0 image(s) may be provided in one request."),
            (
                400,
                "Unsupported value: 'temperature' does not support 0.5 with this model. Only the default (1) value is supported.",
            ),
            (
                400,
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            ),
            (
                400,
                "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
            ),
            (400, "`reasoning_effort` is not supported with this model"),
            (400, "Unrecognized request argument supplied: reasoning_effort"),
            (422, "Extra inputs are not permitted"),
            (
                422,
                "[{'type': 'extra_forbidden', 'loc': ('body', 'x'), 'msg': 'Extra inputs are not permitted'}]",
            ),
            (422, "body -> store: extra fields not permitted"),
            (
                400,
                "registry.ollama.ai/library/gemma:latest does not support tools",
            ),
            (400, "Function calling is not enabled for models/x"),
            (400, "audio input is not supported by this model"),
            (400, "Developer instruction is not enabled for models/gemma-3"),
            (400, "The model does not support tool use in streaming mode."),
        ],
        OF_THE_MODEL,
    );
}
