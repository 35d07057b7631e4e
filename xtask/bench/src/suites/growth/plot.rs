//! Draws growth as a picture: size to the right and cost upwards, both in powers of ten.

use std::fmt::Write;

use super::{Curve, SIZES, STEP};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 420.0;
/// Where the lines are drawn; the names stand to the right of them.
const LEFT: f64 = 60.0;
const RIGHT: f64 = 420.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 370.0;
/// The lowest and the highest relative cost that is shown, as powers of ten.
const LOWEST: f64 = -0.5;
const HIGHEST: f64 = 2.5;
const COLOURS: [&str; 8] = [
    "#1b6ca8", "#c2410c", "#15803d", "#7e22ce", "#b91c1c", "#0f766e", "#a16207", "#475569",
];

/// The picture as SVG.
pub(super) fn svg(curves: &[Curve]) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    for (power, label) in [(0.0, "1x"), (1.0, "10x"), (2.0, "100x")] {
        let (x, y) = (across(power), up(power));
        let _ = writeln!(
            out,
            "<path d=\"M{x:.1} {TOP}V{BOTTOM}M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#e2e8f0\"/>\n\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            BOTTOM + 18.0,
            LEFT - 8.0,
            y + 4.0,
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">size</text>\n\
         <text x=\"{LEFT}\" y=\"{:.1}\">cost in terms of the smallest size</text>\n\
         <path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"#94a3b8\" stroke-dasharray=\"4 4\"/>",
        f64::midpoint(LEFT, RIGHT),
        BOTTOM + 38.0,
        TOP - 12.0,
        across(0.0),
        up(0.0),
        across(2.0),
        up(2.0),
    );
    for ((number, curve), colour) in (0_u32..).zip(curves).zip(COLOURS.iter().cycle()) {
        let powers = std::iter::successors(Some(0.0), |power| Some(power + 1.0));
        let points = powers.zip(curve.relative());
        let points: Vec<String> = points
            .map(|(power, cost)| format!("{:.1},{:.1}", across(power), up(cost.log10())))
            .collect();
        let y = TOP + 24.0 + f64::from(number) * 34.0;
        let from = curve.points.first().map_or(0, |(size, _)| *size);
        let costs: Vec<String> = curve
            .points
            .iter()
            .map(|(_, cost)| format!("{cost:.1}"))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <text x=\"{:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{}</text>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"#475569\" font-size=\"10\">{from} to {} {}: {} µs</text>",
            points.join(" "),
            RIGHT + 16.0,
            curve.name,
            RIGHT + 16.0,
            y + 13.0,
            from * STEP.pow(u32::try_from(SIZES - 1).unwrap_or_default()),
            curve.of,
            costs.join(", "),
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Where a size stands, given as a power of ten of the smallest.
fn across(power: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * power / 2.0
}

/// Where a relative cost stands, given as a power of ten; what lies outside is drawn at the edge.
fn up(power: f64) -> f64 {
    let shown = power.clamp(LOWEST, HIGHEST);
    BOTTOM - (BOTTOM - TOP) * (shown - LOWEST) / (HIGHEST - LOWEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(costs: [f64; 3]) -> Curve {
        Curve {
            name: "something",
            of: "things",
            points: [10, 100, 1000].into_iter().zip(costs).collect(),
        }
    }

    #[test]
    fn a_cost_that_grows_as_the_size_does_lies_on_the_dashed_line() {
        let drawn = svg(&[curve([2.0, 20.0, 200.0]), curve([3.0, 3.0, 3.0])]);
        let ends = |power| format!("{:.1},{:.1}", across(power), up(power));
        let line = format!("points=\"{} {} {}\"", ends(0.0), ends(1.0), ends(2.0));
        assert!(drawn.contains(&line), "{drawn}");
        assert_eq!(drawn.matches("<polyline").count(), 2);
        assert!(
            drawn.contains("10 to 1000 things: 2.0, 20.0, 200.0 µs"),
            "{drawn}"
        );
    }

    #[test]
    fn what_does_not_fit_is_drawn_at_the_edge() {
        assert!((up(9.0) - TOP).abs() < 0.01);
        assert!((up(f64::NEG_INFINITY) - BOTTOM).abs() < 0.01);
    }
}
