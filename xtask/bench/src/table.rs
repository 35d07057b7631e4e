//! What was measured, as a table with ratios and as JSON.

use std::fmt;

use serde::Serialize;

use crate::Failure;

/// One measured thing beside its limit.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    unit: &'static str,
    /// Medians over the rounds.
    ours: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<f64>,
    /// The median of the ratios of each round, which noise between rounds does not move.
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<Target>,
    met: Option<bool>,
}

/// What is aimed at.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Target {
    /// The ratio at most.
    RatioAtMost(f64),
    /// The ratio at least.
    RatioAtLeast(f64),
    /// The figure itself at most.
    AtMost(f64),
}

/// Everything measured.
#[derive(Debug, Default)]
pub(crate) struct Results {
    rows: Vec<Row>,
}

impl Results {
    /// Adds a row from the pairs (ours, floor) of each round.
    pub(crate) fn compare(&mut self, name: String, unit: &'static str, pairs: &[(f64, f64)], target: Target) {
        let ours = median(pairs.iter().map(|pair| pair.0));
        let floor = median(pairs.iter().map(|pair| pair.1));
        let ratio = median(pairs.iter().map(|pair| pair.0 / pair.1));
        self.rows.push(Row {
            name,
            unit,
            ours,
            floor: Some(floor),
            ratio: Some(ratio),
            met: Some(is_met(target, ours, ratio)),
            target: Some(target),
        });
    }

    /// Adds a row without a limit to compare with.
    pub(crate) fn figure(
        &mut self,
        name: String,
        unit: &'static str,
        figures: &[f64],
        target: Option<Target>,
    ) {
        let ours = median(figures.iter().copied());
        self.rows.push(Row {
            name,
            unit,
            ours,
            floor: None,
            ratio: None,
            met: target.map(|target| is_met(target, ours, ours)),
            target,
        });
    }

    /// The rows as one JSON document.
    pub(crate) fn json(&self) -> Result<String, Failure> {
        Ok(format!("{}\n", serde_json::to_string_pretty(&self.rows)?))
    }
}

fn is_met(target: Target, ours: f64, ratio: f64) -> bool {
    match target {
        Target::RatioAtMost(most) => ratio <= most,
        Target::RatioAtLeast(least) => ratio >= least,
        Target::AtMost(most) => ours <= most,
    }
}

/// The middle one; of nothing it is not a number.
fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<60} {:>10} {:>10} {:<5} {:>6}  target",
            "what", "ours", "floor", "unit", "ratio"
        )?;
        for row in &self.rows {
            let floor = row.floor.map_or_else(String::new, |floor| format!("{floor:.1}"));
            let ratio = row.ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
            let target = match row.target {
                None => String::new(),
                Some(Target::RatioAtMost(most)) => format!("at most {most}x"),
                Some(Target::RatioAtLeast(least)) => format!("at least {least}x"),
                Some(Target::AtMost(most)) => format!("at most {most}"),
            };
            let met = match row.met {
                Some(true) => "  met",
                Some(false) => "  missed",
                None => "",
            };
            writeln!(
                f,
                "{:<60} {:>10.1} {floor:>10} {:<5} {ratio:>6}  {target}{met}",
                row.name, row.ours, row.unit
            )?;
        }
        Ok(())
    }
}
