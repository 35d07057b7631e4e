//! Every known key against every kind of wrong value.

use super::read;

/// A wrong value of each kind; the texts and the big number stand for a pasted secret.
const WRONG: &[(&str, &str)] = &[
    ("null", "null"),
    ("flag", "true"),
    ("whole", "86753090"),
    ("fraction", "1.5"),
    ("negative", "-86753090"),
    ("text", "'sk-secret'"),
    ("list", "['sk-secret']"),
    ("object", "{ key: 'sk-secret' }"),
];

/// Every known key: its path, how it is written around a value, and the kinds of value it takes.
#[rustfmt::skip]
const KEYS: &[(&str, &str, &str)] = &[
    ("agents", "{ agents: @ }", "object"),
    ("agents.defaults", "{ agents: { defaults: @ } }", "object"),
    ("agents.defaults.heartbeat", "{ agents: { defaults: { heartbeat: @ } } }", "object"),
    ("agents.defaults.heartbeat.model", "{ agents: { defaults: { heartbeat: { model: @ } } } }", "text"),
    ("agents.defaults.imageModel", "{ agents: { defaults: { imageModel: @ } } }", "text object"),
    ("agents.defaults.imageModel.fallbacks", "{ agents: { defaults: { imageModel: { fallbacks: @ } } } }", "list"),
    ("agents.defaults.imageModel.primary", "{ agents: { defaults: { imageModel: { primary: @ } } } }", "text"),
    ("agents.defaults.imageModel.timeoutMs", "{ agents: { defaults: { imageModel: { timeoutMs: @ } } } }", "whole"),
    ("agents.defaults.model", "{ agents: { defaults: { model: @ } } }", "text object"),
    ("agents.defaults.model.fallbacks", "{ agents: { defaults: { model: { fallbacks: @ } } } }", "list"),
    ("agents.defaults.model.fallbacks[1]", "{ agents: { defaults: { model: { fallbacks: ['a/b', @] } } } }", "text"),
    ("agents.defaults.model.primary", "{ agents: { defaults: { model: { primary: @ } } } }", "text"),
    ("agents.defaults.models", "{ agents: { defaults: { models: @ } } }", ""),
    ("agents.defaults.models.a/b", "{ agents: { defaults: { models: { 'a/b': @ } } } }", "object"),
    ("agents.defaults.models.a/b.alias", "{ agents: { defaults: { models: { 'a/b': { alias: @ } } } } }", "text"),
    ("agents.defaults.subagents", "{ agents: { defaults: { subagents: @ } } }", "object"),
    ("agents.defaults.subagents.model", "{ agents: { defaults: { subagents: { model: @ } } } }", "text object"),
    ("agents.defaults.utilityModel", "{ agents: { defaults: { utilityModel: @ } } }", "text"),
    ("agents.list", "{ agents: { list: @ } }", ""),
    ("agents.list[0]", "{ agents: { list: [@] } }", "object"),
    ("agents.list[0].agentDir", "{ agents: { list: [{ agentDir: @ }] } }", "text"),
    ("agents.list[0].default", "{ agents: { list: [{ default: @ }] } }", "flag"),
    ("agents.list[0].id", "{ agents: { list: [{ id: @ }] } }", "text"),
    ("agents.list[0].model", "{ agents: { list: [{ model: @ }] } }", "text object"),
    ("agents.list[0].subagents", "{ agents: { list: [{ subagents: @ }] } }", "object"),
    ("agents.list[0].subagents.model", "{ agents: { list: [{ subagents: { model: @ } }] } }", "text object"),
    ("agents.list[0].utilityModel", "{ agents: { list: [{ utilityModel: @ }] } }", "text"),
    ("models", "{ models: @ }", "object"),
    ("models.providers", "{ models: { providers: @ } }", ""),
    ("models.providers.x", "{ models: { providers: { x: @ } } }", "object"),
    ("models.providers.x.api", "{ models: { providers: { x: { api: @ } } } }", "text"),
    ("models.providers.x.apiKey", "{ models: { providers: { x: { apiKey: @ } } } }", "text object"),
    ("models.providers.x.auth", "{ models: { providers: { x: { auth: @ } } } }", ""),
    ("models.providers.x.baseUrl", "{ models: { providers: { x: { baseUrl: @ } } } }", "text"),
    ("models.providers.x.contextTokens", "{ models: { providers: { x: { contextTokens: @ } } } }", "whole"),
    ("models.providers.x.contextWindow", "{ models: { providers: { x: { contextWindow: @ } } } }", "whole"),
    ("models.providers.x.headers", "{ models: { providers: { x: { headers: @ } } } }", "object"),
    ("models.providers.x.headers.a", "{ models: { providers: { x: { headers: { a: @ } } } } }", "text object"),
    ("models.providers.x.models", "{ models: { providers: { x: { models: @ } } } }", ""),
    ("models.providers.x.models[0]", "{ models: { providers: { x: { models: [@] } } } }", "object"),
    ("models.providers.x.models[0].compat", "{ models: { providers: { x: { models: [{ compat: @ }] } } } }", "object"),
    ("models.providers.x.models[0].compat.supportsTools", "{ models: { providers: { x: { models: [{ compat: { supportsTools: @ } }] } } } }", "flag"),
    ("models.providers.x.models[0].contextTokens", "{ models: { providers: { x: { models: [{ contextTokens: @ }] } } } }", "whole"),
    ("models.providers.x.models[0].contextWindow", "{ models: { providers: { x: { models: [{ contextWindow: @ }] } } } }", "whole"),
    ("models.providers.x.models[0].id", "{ models: { providers: { x: { models: [{ id: @ }] } } } }", "text"),
    ("models.providers.x.models[0].input", "{ models: { providers: { x: { models: [{ input: @ }] } } } }", "list"),
    ("models.providers.x.models[0].name", "{ models: { providers: { x: { models: [{ name: @ }] } } } }", "text"),
    ("models.providers.x.timeoutSeconds", "{ models: { providers: { x: { timeoutSeconds: @ } } } }", "whole fraction"),
];

/// An element of a list or a value of a map may be what is wrong, so its path may go on.
#[test]
fn every_known_key_refuses_every_wrong_kind_with_its_path_and_a_way_to_write_it() {
    for (path, around, takes) in KEYS {
        for (kind, value) in WRONG {
            let text = around.replace('@', value);
            let read = read(&text);
            if takes.split(' ').any(|taken| taken == *kind) {
                assert!(read.is_ok(), "{text}: {read:?}");
                continue;
            }
            let error = read.unwrap_err();
            assert!(error.starts_with(path), "{text}: {error}");
            let (_, remedy) = error.split_once(", expected ").expect(&error);
            let shows_how = ["such as", "one of", "true or false"];
            assert!(
                shows_how.iter().any(|how| remedy.contains(how)),
                "{text}: {error}"
            );
            assert!(!error.contains("sk-secret"), "{text}: {error}");
            let number_may_be_a_key = path.contains("apiKey") || path.contains("headers.");
            assert!(
                !number_may_be_a_key || !error.contains("8675309"),
                "{text}: {error}"
            );
        }
    }
}
