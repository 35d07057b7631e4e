//! The lock file that keeps OpenClaw from refreshing the same login at the same time (O5, O6).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use jiff::Timestamp;
use openclaw_ids::{ProfileId, ProviderId};
use serde_json::{Value, json};

use super::process::{is_alive, start_of};
use openclaw_sqlite::{create_private_folder, read_if_exists, write_new_private};

/// The age from which a lock counts as free when it is unknown whether its process lives.
const STALE: Duration = Duration::from_mins(3);

/// The name of the lock of one login, without `.lock` (O5), as OpenClaw makes it. Programs that refresh the same logins
/// take the same lock.
///
/// ```
/// # use openclaw_auth_store::refresh_lock_name;
/// let (provider, profile) = ("openai".parse()?, "openai:default".parse()?);
/// assert_eq!(refresh_lock_name(&provider, &profile), "lock-5440fa0b86d2697ef1152f7cb32a8157");
/// # Ok::<(), openclaw_ids::IdError>(())
/// ```
pub fn refresh_lock_name(provider: &ProviderId, profile: &ProfileId) -> String {
    const PRIME: u64 = 1_099_511_628_211;
    const STEP: u64 = 11_400_714_819_323_198_485;
    let mut a: u64 = 14_695_981_039_346_656_037;
    let mut b: u64 = 11_160_318_154_034_397_263;
    for byte in json!([provider.as_str(), profile.as_str()]).to_string().bytes() {
        let byte = u64::from(byte);
        a = (a ^ byte).wrapping_mul(PRIME);
        b = (b ^ byte.wrapping_add(STEP)).wrapping_mul(PRIME);
    }
    format!("lock-{a:016x}{b:016x}")
}

/// A lock that this process holds; dropping it removes the file.
#[derive(Debug)]
pub(super) struct LockFile {
    path: PathBuf,
    text: String,
}

impl LockFile {
    /// Takes the lock; `None` when a process that may live has it. A stale lock is removed before.
    pub(super) fn try_take(path: &Path, now: Timestamp) -> io::Result<Option<Self>> {
        if let Some(folder) = path.parent() {
            create_private_folder(folder)?;
        }
        let mut content = json!({"pid": std::process::id(), "createdAt": now.to_string()});
        if let Some(start) = start_of(std::process::id()) {
            content["starttime"] = start.into();
        }
        let text = content.to_string();
        for _ in 0..2 {
            match write_new_private(path, text.as_bytes()) {
                Ok(()) => {
                    let path = path.to_owned();
                    return Ok(Some(Self { path, text }));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            if !remove_if_left_over(path, now)? {
                break;
            }
        }
        Ok(None)
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        if read(&self.path).is_ok_and(|text| text.as_deref() == Some(&self.text))
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::warn!(%error, "a refresh lock could not be removed");
        }
    }
}

/// Removes a stale lock, unless it changed since it was read; true when the lock is free.
fn remove_if_left_over(path: &Path, now: Timestamp) -> io::Result<bool> {
    let Some(text) = read(path)? else {
        return Ok(true);
    };
    if !is_left_over(&text, written_at(path, &text), now) {
        return Ok(false);
    }
    match read(path)? {
        Some(again) if again != text => return Ok(false),
        Some(_) => {}
        None => return Ok(true),
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(true),
    }
}

fn is_left_over(text: &str, written_at: Option<Timestamp>, now: Timestamp) -> bool {
    let content: Value = serde_json::from_str(text).unwrap_or_default();
    let pid = content["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    match pid.map(|pid| (is_alive(pid), start_of(pid))) {
        Some((Some(false), _)) => true,
        Some((Some(true), start)) => match (start, content["starttime"].as_u64()) {
            (Some(running), Some(locked)) => running != locked,
            _ => false,
        },
        Some((None, _)) | None => written_at.is_some_and(|at| now.duration_since(at).unsigned_abs() > STALE),
    }
}

fn written_at(path: &Path, text: &str) -> Option<Timestamp> {
    let content: Value = serde_json::from_str(text).unwrap_or_default();
    if let Some(at) = content["createdAt"].as_str().and_then(|at| at.parse().ok()) {
        return Some(at);
    }
    let changed = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = changed.duration_since(UNIX_EPOCH).ok()?;
    Timestamp::from_millisecond(i64::try_from(since.as_millis()).ok()?).ok()
}

fn read(path: &Path) -> io::Result<Option<String>> {
    let bytes = read_if_exists(path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::conformance::at;

    #[test]
    fn o5_vectors() {
        for (provider, profile, name) in [
            (
                "openai",
                "openai:default",
                "lock-5440fa0b86d2697ef1152f7cb32a8157",
            ),
            (
                "anthropic",
                "anthropic:me@example.com",
                "lock-6e2d316773af5b3040dd3dff1645207c",
            ),
        ] {
            let (provider, profile) = (provider.parse().unwrap(), profile.parse().unwrap());
            assert_eq!(refresh_lock_name(&provider, &profile), name);
        }
    }

    #[test]
    fn o6_one_holder_and_a_clean_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("locks/oauth-refresh/l.lock");
        let held = LockFile::try_take(&path, at(0)).unwrap().unwrap();
        let content: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(content["pid"], std::process::id());
        assert_eq!(content["createdAt"], at(0).to_string());
        assert_eq!(
            content.get("starttime").and_then(Value::as_u64),
            start_of(std::process::id())
        );
        assert!(LockFile::try_take(&path, at(0)).unwrap().is_none());
        assert!(path.exists(), "a failed attempt leaves the lock alone");
        drop(held);
        assert!(!path.exists());
    }

    #[test]
    fn o6_a_lock_of_another_holder_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.lock");
        let held = LockFile::try_take(&path, at(0)).unwrap().unwrap();
        fs::write(&path, "{}").unwrap();
        drop(held);
        assert!(path.exists());
    }

    #[test]
    fn o6_when_a_lock_is_left_over() {
        let me = std::process::id();
        let start = start_of(me).unwrap_or_default();
        for (content, seconds, left_over) in [
            (json!({"pid": me, "starttime": start}), 1_000_000, false),
            (json!({"pid": me}), 1_000_000, false),
            (json!({"pid": me, "starttime": start + 1}), 0, true),
            (json!({"pid": u32::MAX}), 0, true),
            (json!({}), 180, false),
            (json!({}), 181, true),
            (json!("no lock"), 181, true),
            (json!({"pid": "text"}), 180, false),
        ] {
            let found = is_left_over(&content.to_string(), Some(at(0)), at(seconds));
            assert_eq!(found, left_over, "{content} after {seconds} s");
        }
        assert!(!is_left_over("", None, at(0)), "nothing says how old it is");
    }

    #[test]
    fn o6_a_left_over_lock_is_taken_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("l.lock");
        fs::write(&path, json!({"pid": u32::MAX}).to_string()).unwrap();
        assert!(LockFile::try_take(&path, at(0)).unwrap().is_some());
    }
}
