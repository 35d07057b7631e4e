//! How cost grows with what there is: each thing at a size, at ten and at a hundred times of it.

mod history;
mod plot;
mod runs;
mod sessions;

use std::time::Instant;

use crate::Failure;
use crate::arguments::Arguments;
use crate::table::Results;

/// Each size is this many times the one before it.
const STEP: usize = 10;
const SIZES: usize = 3;

/// Something that is measured at each size.
struct Subject {
    name: &'static str,
    /// What the size counts.
    of: &'static str,
    smallest: usize,
    /// How often the work is done for one figure.
    times: usize,
    /// Prepares the work over so many of it.
    prepare: fn(usize) -> Result<Work, Failure>,
}

/// Work that is repeated.
type Work = Box<dyn FnMut()>;

/// All of them.
#[rustfmt::skip]
static SUBJECTS: &[Subject] = &[
    Subject { name: "a chain is resolved",            of: "candidates",  smallest: 10,    times: 200, prepare: |size| Ok(runs::chain(size)) },
    Subject { name: "a run in which all but one fail", of: "candidates", smallest: 10,    times: 5,   prepare: |size| Ok(runs::failing(size)) },
    Subject { name: "a run that is answered at once", of: "credentials", smallest: 3,     times: 200, prepare: |size| Ok(runs::credentials(size)) },
    Subject { name: "a request fails over",           of: "decisions",   smallest: 1_000, times: 100, prepare: history::asked },
    Subject { name: "the last decisions are told",    of: "decisions",   smallest: 1_000, times: 20,  prepare: history::told },
    Subject { name: "a session is read",              of: "sessions",    smallest: 1_000, times: 200, prepare: sessions::read },
    Subject { name: "a session is changed",           of: "sessions",    smallest: 1_000, times: 200, prepare: sessions::change },
];

/// What one subject cost at each size.
struct Curve {
    name: &'static str,
    of: &'static str,
    /// Size and microseconds.
    points: Vec<(usize, f64)>,
}

impl Curve {
    /// Each cost in terms of the first.
    fn relative(&self) -> impl Iterator<Item = f64> {
        let first = self.points.first().map_or(f64::NAN, |(_, cost)| *cost);
        self.points.iter().map(move |(_, cost)| cost / first)
    }
}

/// Measures all subjects, shows the figures and draws them.
pub(crate) fn measure(arguments: &Arguments, results: &mut Results) -> Result<(), Failure> {
    let curves = SUBJECTS
        .iter()
        .map(|subject| curve(subject, arguments.rounds))
        .collect::<Result<Vec<_>, _>>()?;
    for curve in &curves {
        for ((size, cost), relative) in curve.points.iter().zip(curve.relative()) {
            let name = format!("{}, {size} {} ({relative:.1}x)", curve.name, curve.of);
            results.figure(name, "µs", &[*cost], None);
        }
    }
    if let Some(path) = &arguments.plot {
        let drawn = plot::svg(&curves);
        std::fs::write(path, drawn).map_err(|error| format!("cannot write {path}: {error}"))?;
        println!("drew {path}");
    }
    Ok(())
}

/// The sizes are measured in turns, so that a moment in which the machine is busy meets all of them.
fn curve(subject: &Subject, rounds: usize) -> Result<Curve, Failure> {
    let sizes: Vec<usize> = std::iter::successors(Some(subject.smallest), |size| Some(size * STEP))
        .take(SIZES)
        .collect();
    let mut works = sizes
        .iter()
        .map(|size| (subject.prepare)(*size))
        .collect::<Result<Vec<_>, _>>()?;
    let mut figures = vec![Vec::new(); sizes.len()];
    for round in 0..=rounds {
        for (work, figures) in works.iter_mut().zip(&mut figures) {
            let begun = Instant::now();
            for _ in 0..subject.times {
                work();
            }
            // The first round builds what is built once.
            if round > 0 {
                figures.push(begun.elapsed().as_secs_f64() * 1e6 / f64::from(u32::try_from(subject.times)?));
            }
        }
    }
    // Noise only ever adds, and to long work more than to short: the best round is the one with the least of it.
    let costs = figures
        .iter()
        .map(|figures| figures.iter().copied().fold(f64::INFINITY, f64::min));
    Ok(Curve {
        name: subject.name,
        of: subject.of,
        points: sizes.iter().copied().zip(costs).collect(),
    })
}
