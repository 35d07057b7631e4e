//! Throttles clients that try different wrong tokens: after too many of them, the peer has to wait.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How many different wrong tokens a peer may send within [`WINDOW`].
const MAX_GUESSES: usize = 10;
/// How long a guess counts, and how long a peer that made too many has to wait.
const WINDOW: Duration = Duration::from_mins(1);
/// How many peers are remembered; with more, the one that guessed longest ago is forgotten.
const MAX_PEERS: usize = 4_096;

/// The beginning of a wrong token's hash: enough to tell guesses apart, not enough to keep what was sent.
pub(crate) type Guess = [u8; 8];

/// The wrong tokens of each peer.
///
/// Only different ones count: a tool with an old token in its settings sends the same again and again, and must not
/// lock out the others on its machine.
#[derive(Debug, Default)]
pub(crate) struct AuthThrottle {
    by_peer: Mutex<HashMap<IpAddr, Vec<(Guess, Instant)>>>,
}

impl AuthThrottle {
    /// How long the peer has to wait, if it guessed too much; a right token does not help it then.
    pub(crate) fn wait(&self, peer: IpAddr, now: Instant) -> Option<Duration> {
        let peers = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        let guesses = peers.get(&network(peer))?;
        let recent = || guesses.iter().filter(|(_, at)| is_recent(*at, now));
        if recent().count() < MAX_GUESSES {
            return None;
        }
        let first = recent().map(|(_, at)| *at).min()?;
        Some((first + WINDOW).saturating_duration_since(now))
    }

    /// Counts a wrong token.
    pub(crate) fn add(&self, peer: IpAddr, guess: Guess, now: Instant) {
        let peer = network(peer);
        let mut peers = self.by_peer.lock().unwrap_or_else(PoisonError::into_inner);
        if peers.len() >= MAX_PEERS && !peers.contains_key(&peer) {
            let latest = |guesses: &Vec<(Guess, Instant)>| guesses.iter().map(|(_, at)| *at).max();
            let oldest = peers.iter().min_by_key(|(_, guesses)| latest(guesses));
            if let Some(oldest) = oldest.map(|(peer, _)| *peer) {
                peers.remove(&oldest);
            }
        }
        let guesses = peers.entry(peer).or_default();
        guesses.retain(|(_, at)| is_recent(*at, now));
        if guesses.len() < MAX_GUESSES && !guesses.iter().any(|(known, _)| *known == guess) {
            guesses.push((guess, now));
        }
    }
}

/// A guess is over at the end of its window.
fn is_recent(at: Instant, now: Instant) -> bool {
    now.saturating_duration_since(at) < WINDOW
}

/// What one guesser controls: an IPv4 address, or the network of an IPv6 address.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let network = address.to_bits() & !u128::from(u64::MAX);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guess(number: usize) -> Guess {
        u64::try_from(number).unwrap().to_be_bytes()
    }

    fn peer(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn different_guesses_count_until_their_window_is_over() {
        let (guesses, start, guesser) = (AuthThrottle::default(), Instant::now(), peer("192.0.2.1"));
        for _ in 0..100 {
            guesses.add(guesser, guess(0), start);
        }
        assert_eq!(
            guesses.wait(guesser, start),
            None,
            "one wrong setting is no guessing"
        );
        for number in 1..MAX_GUESSES {
            assert_eq!(guesses.wait(guesser, start), None);
            guesses.add(guesser, guess(number), start);
        }
        assert_eq!(guesses.wait(guesser, start), Some(WINDOW));
        let end = start + WINDOW;
        let before = end.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(guesses.wait(guesser, before), Some(Duration::from_millis(1)));
        assert_eq!(guesses.wait(guesser, end), None);
        assert_eq!(guesses.wait(peer("192.0.2.2"), start), None, "another peer");
    }

    #[test]
    fn one_network_is_one_guesser_and_memory_is_bounded() {
        let (guesses, start) = (AuthThrottle::default(), Instant::now());
        for number in 0..MAX_GUESSES {
            guesses.add(peer(&format!("2001:db8::{number}")), guess(number), start);
        }
        assert!(guesses.wait(peer("2001:db8::ffff"), start).is_some());
        assert!(guesses.wait(peer("2001:db8:0:1::1"), start).is_none());
        for number in 0..2 * MAX_PEERS {
            let address = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap());
            let later = start + Duration::from_millis(1 + u64::try_from(number).unwrap());
            guesses.add(IpAddr::V4(address), guess(number), later);
        }
        assert_eq!(guesses.by_peer.lock().unwrap().len(), MAX_PEERS);
        assert!(
            guesses.wait(peer("2001:db8::1"), start).is_none(),
            "the oldest is forgotten"
        );
    }

    #[test]
    fn a_peer_that_goes_on_is_held_and_not_remembered_at_length() {
        let (guesses, start, guesser) = (AuthThrottle::default(), Instant::now(), peer("192.0.2.1"));
        for number in 0..10_000 {
            guesses.add(guesser, guess(number), start);
        }
        assert_eq!(guesses.by_peer.lock().unwrap()[&guesser].len(), MAX_GUESSES);
    }
}
