//! Raises the limit of open files, and so of connections, of this process.

/// More than this many are not asked for: some programs go through all of them when they start.
#[cfg(unix)]
const ENOUGH: u64 = 65_536;

/// Asks the system for as many as this process may have; shells give a thousand by default, of which a streamed answer
/// takes two. Says how many there are then, where the system says.
#[cfg(unix)]
pub(crate) fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let current = current?;
    let wanted = maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
    if wanted <= current {
        return Some(current);
    }
    let asked = Rlimit {
        current: Some(wanted),
        maximum,
    };
    match setrlimit(Resource::Nofile, asked) {
        Ok(()) => Some(wanted),
        Err(error) => {
            tracing::debug!(%error, "no more files may be open");
            Some(current)
        }
    }
}

#[cfg(not(unix))]
pub(crate) fn raise() -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    #[test]
    fn what_may_be_had_is_had() {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let most = maximum.map_or(ENOUGH, |most| most.min(ENOUGH));
        if current.is_some_and(|current| current >= most) {
            let less = Rlimit {
                current: Some(most - 1),
                maximum,
            };
            setrlimit(Resource::Nofile, less).unwrap();
        }
        assert_eq!(raise(), Some(most));
        assert_eq!(getrlimit(Resource::Nofile).current, Some(most));
        assert_eq!(raise(), Some(most));
    }
}
