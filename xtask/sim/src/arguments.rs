//! What may be typed after `cargo xtask sim`.

use std::ops::Range;

/// How many of a thousand runs are recorded by default.
const TAPED: u64 = 50;

/// What to play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arguments {
    pub(crate) seeds: Range<u64>,
    pub(crate) hours: i64,
    pub(crate) json: bool,
    /// Of a thousand runs so many are recorded and played again.
    pub(crate) taped: u64,
    /// Whether stores can always be written.
    pub(crate) calm: bool,
}

impl Arguments {
    /// The options that play one of these worlds again.
    pub(crate) fn again(&self, seed: u64) -> String {
        let taped = (self.taped != TAPED).then(|| format!(" --taped {}", self.taped));
        let calm = if self.calm { " --calm" } else { "" };
        format!(
            "--seed {seed} --hours {}{}{calm}",
            self.hours,
            taped.unwrap_or_default()
        )
    }

    pub(crate) fn parse(words: &[String]) -> Result<Self, String> {
        let mut parsed = Self {
            seeds: 1..11,
            hours: 24,
            json: false,
            taped: TAPED,
            calm: false,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let (name, inline) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (word.as_str(), None),
            };
            let mut value = || {
                let value = inline.clone().or_else(|| words.next().cloned());
                value.ok_or_else(|| format!("`{name}` needs a value after it"))
            };
            match name {
                "--hours" => parsed.hours = number(name, &value()?)?,
                "--calm" => parsed.calm = true,
                "--json" => parsed.json = true,
                "--seed" => {
                    let seed: u64 = number(name, &value()?)?;
                    parsed.seeds = seed..seed.saturating_add(1);
                }
                "--seeds" => parsed.seeds = range(&value()?)?,
                "--taped" => parsed.taped = number(name, &value()?)?,
                other => {
                    return Err(format!(
                        "`{other}` is no option; use --seed N, --seeds A..B, --hours H, --taped PER_MILLE, --calm, --json"
                    ));
                }
            }
        }
        if parsed.hours < 1 || parsed.seeds.is_empty() {
            return Err("there is nothing to play; use at least one seed and one hour".to_owned());
        }
        Ok(parsed)
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| format!("`{name}` needs a whole number, not `{text}`"))
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let parsed = text
        .split_once("..")
        .and_then(|(from, to)| Some(from.parse().ok()?..to.parse().ok()?));
    parsed.ok_or_else(|| format!("`--seeds` needs a range such as 1..101, not `{text}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Arguments, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Arguments::parse(&words)
    }

    #[test]
    fn what_may_be_typed() {
        let parsed = parse("--seed 7 --hours=48 --json --calm").unwrap();
        assert_eq!((parsed.seeds.clone(), parsed.hours), (7..8, 48));
        assert!(parsed.json && parsed.calm);
        assert_eq!(parsed.again(7), "--seed 7 --hours 48 --calm");
        assert_eq!(
            parse("--taped 9").unwrap().again(3),
            "--seed 3 --hours 24 --taped 9"
        );
        assert_eq!(parse("--seeds 3..9").unwrap().seeds, 3..9);
        for (text, complaint) in [
            ("--seed", "needs a value"),
            ("--seed x", "whole number"),
            ("--seeds 3", "a range such as"),
            ("--seeds 3..3", "nothing to play"),
            ("--hours 0", "nothing to play"),
            ("--fast", "is no option"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
