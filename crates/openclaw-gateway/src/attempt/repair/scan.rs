//! Rewrites ids in JSON text where they stand, so that nothing else changes.

use std::collections::HashMap;

/// The members whose values are ids.
const IDS: &[&str] = &["call_id", "id", "tool_call_id", "tool_use_id"];
/// The members that hold the input or output of a tool, which contain no tool-call ids.
const FOREIGN: &[&str] = &["arguments", "input_schema", "parameters", "text"];
/// The input of a tool, in formats where it is an object in a block; the list of a request's items has the same name.
const TOOL_INPUT: &str = "input";

/// `json`, which must be valid, with every id in `new` replaced.
pub(super) fn with_ids(json: &[u8], new: &HashMap<String, String>) -> Vec<u8> {
    let mut written = Vec::with_capacity(json.len());
    let mut scan = Scan::default();
    let mut at = 0;
    while at < json.len() {
        let end = match json[at] {
            b'"' => string_end(json, at),
            _ => at + 1,
        };
        let piece = &json[at..end];
        match scan.step(piece) {
            StringRole::Id => {
                let text: Option<String> = serde_json::from_slice(piece).ok();
                match text.and_then(|id| new.get(&id)) {
                    Some(id) => {
                        let id = serde_json::Value::from(id.as_str()).to_string();
                        written.extend_from_slice(id.as_bytes());
                    }
                    None => written.extend_from_slice(piece),
                }
            }
            StringRole::Other => written.extend_from_slice(piece),
        }
        at = end;
    }
    written
}

#[derive(PartialEq, Eq)]
enum StringRole {
    Id,
    Other,
}

/// The position of the scan in the structure of the text.
#[derive(Default)]
struct Scan {
    levels: Vec<Level>,
    /// The member whose value comes next.
    key: Option<String>,
}

struct Level {
    is_object: bool,
    /// Whether a value and not a key comes next.
    expects_value: bool,
    /// Whether it is inside the input or output of a tool.
    foreign: bool,
}

impl Scan {
    fn step(&mut self, piece: &[u8]) -> StringRole {
        match piece[0] {
            open @ (b'{' | b'[') => {
                let is_object = open == b'{';
                let outer = self.levels.last().is_some_and(|level| level.foreign);
                let key = self.key.take();
                let named = key
                    .as_deref()
                    .is_some_and(|key| FOREIGN.contains(&key) || (key == TOOL_INPUT && is_object));
                self.levels.push(Level {
                    is_object,
                    expects_value: !is_object,
                    foreign: outer || named,
                });
            }
            b'}' | b']' => {
                self.levels.pop();
                self.key = None;
            }
            b':' => {
                if let Some(level) = self.levels.last_mut() {
                    level.expects_value = true;
                }
            }
            b',' => {
                self.key = None;
                if let Some(level) = self.levels.last_mut() {
                    level.expects_value = !level.is_object;
                }
            }
            b'"' => return self.string(piece),
            _ => {}
        }
        StringRole::Other
    }

    fn string(&mut self, piece: &[u8]) -> StringRole {
        let Some(level) = self.levels.last() else {
            return StringRole::Other;
        };
        if level.is_object && !level.expects_value {
            self.key = serde_json::from_slice(piece).ok();
            return StringRole::Other;
        }
        let is_id =
            level.is_object && !level.foreign && self.key.as_deref().is_some_and(|key| IDS.contains(&key));
        if is_id { StringRole::Id } else { StringRole::Other }
    }
}

/// The offset after the closing quote of the string that begins at `start`.
fn string_end(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < json.len() {
        match json[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}
