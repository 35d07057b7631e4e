//! Finds out whether the process that holds a lease still runs, where the system tells.

use std::fs;
use std::path::Path;

/// The system's folder of processes.
const PROCESSES: &str = "/proc";

/// The holder name of one attempt of this process, unique by `random`, from which processes on this machine see when
/// it has ended.
pub(super) fn holder(random: u64) -> String {
    let pid = std::process::id();
    match (start_of(pid), machine()) {
        (Some(start), Some(machine)) => format!("{pid}-{start}-{machine}-{random:016x}"),
        _ => format!("{pid}-{random:016x}"),
    }
}

/// Whether the process of a [`holder`] ran on this machine and has ended; false where that is unknown.
pub(super) fn is_gone(holder: &str) -> bool {
    let parts: Vec<&str> = holder.split('-').collect();
    let [pid, start, on, _] = parts[..] else {
        return false;
    };
    let (Ok(pid), Ok(start)) = (pid.parse(), start.parse::<u64>()) else {
        return false;
    };
    if machine().as_deref() != Some(on) {
        return false;
    }
    match is_alive(pid) {
        Some(true) => start_of(pid).is_some_and(|running| running != start),
        Some(false) => true,
        None => false,
    }
}

/// Whether a process runs, where that can be known.
pub(super) fn is_alive(pid: u32) -> Option<bool> {
    let processes = Path::new(PROCESSES);
    processes
        .join("self/stat")
        .exists()
        .then(|| processes.join(pid.to_string()).exists())
}

/// When a process started, in the system's own ticks; a reused process number has another start.
pub(super) fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(Path::new(PROCESSES).join(pid.to_string()).join("stat")).ok()?;
    // The name in parentheses may hold anything; what follows it is the third field, and the start is the 22nd.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Identifies this machine since its start, and this container, so that process numbers are comparable.
fn machine() -> Option<String> {
    let processes = Path::new(PROCESSES);
    let boot = fs::read_to_string(processes.join("sys/kernel/random/boot_id")).ok()?;
    let space = fs::read_link(processes.join("self/ns/pid")).ok()?;
    let text = format!("{boot}{}", space.display());
    Some(text.chars().filter(char::is_ascii_alphanumeric).collect())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn o6_whose_process_is_gone() {
        let me = std::process::id();
        let (start, here) = (start_of(me).unwrap(), machine().unwrap());
        for (holder, gone) in [
            (holder(7), false),
            (format!("{me}-{}-{here}-7", start + 1), true),
            (format!("{}-{start}-{here}-7", u32::MAX), true),
            (format!("{}-{start}-elsewhere-7", u32::MAX), false),
            (format!("{}-7", u32::MAX), false),
            (format!("x-{start}-{here}-7"), false),
            (String::new(), false),
        ] {
            assert_eq!(is_gone(&holder), gone, "{holder}");
        }
    }
}
