//! Curves over numbers of connections as an SVG file: connections on a logarithmic axis, each curve
//! named at the end.

use std::fmt::Write as _;

/// One line.
pub(crate) struct Curve {
    pub(crate) name: String,
    /// Connections and what was measured there, in ascending order.
    pub(crate) points: Vec<(f64, f64)>,
    /// Not measured here: predicted, or published.
    pub(crate) dashed: bool,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 36.0;
/// For the names at the ends.
const RIGHT: f64 = 220.0;
const BOTTOM: f64 = 44.0;
/// Distance between two names, so none covers another.
const NAME_HEIGHT: f64 = 15.0;
/// Steps of the vertical axis, about.
const STEPS: f64 = 5.0;
/// Distinct to colour-blind readers as well (Okabe and Ito 2008).
const COLOURS: [&str; 6] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00",
];

struct Scale {
    connections: (f64, f64),
    top: f64,
}

impl Scale {
    fn of(curves: &[Curve]) -> Scale {
        let points = || curves.iter().flat_map(|curve| &curve.points);
        let least = points().map(|point| point.0).fold(f64::INFINITY, f64::min);
        let most = points().map(|point| point.0).fold(1.0, f64::max);
        let top = points().map(|point| point.1).fold(0.0, f64::max);
        Scale {
            connections: (least.min(most), most.max(least + 1.0)),
            top: top.max(f64::MIN_POSITIVE) * 1.05,
        }
    }

    fn x(&self, connections: f64) -> f64 {
        let (least, most) = self.connections;
        LEFT + (connections / least).ln() / (most / least).ln() * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM)
    }

    /// Round values of the vertical axis.
    fn ticks(&self) -> Vec<f64> {
        let rough = self.top / STEPS;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| *step >= rough)
            .unwrap_or(rough);
        (0..)
            .map(|count| f64::from(count) * step)
            .take_while(|value| *value <= self.top)
            .collect()
    }
}

/// The whole file.
pub(crate) fn svg(title: &str, unit: &str, curves: &[Curve]) -> String {
    let scale = Scale::of(curves);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\" font-weight=\"bold\">{0}</text>\n",
        escaped(title)
    );
    text += &axes(&scale, unit, curves);
    let mut names: Vec<(f64, usize)> = Vec::new();
    for (index, curve) in curves.iter().enumerate() {
        text += &line(&scale, curve, COLOURS[index % COLOURS.len()]);
        if let Some(end) = curve.points.last() {
            names.push((scale.y(end.1), index));
        }
    }
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = TOP;
    for (y, index) in names {
        let y = y.max(free);
        free = y + NAME_HEIGHT;
        let colour = COLOURS[index % COLOURS.len()];
        let (x, y, name) = (WIDTH - RIGHT + 10.0, y + 4.0, escaped(&curves[index].name));
        let _ = writeln!(
            text,
            "<text x=\"{x}\" y=\"{y:.1}\" fill=\"{colour}\">{name}</text>"
        );
    }
    text + "</svg>\n"
}

fn axes(scale: &Scale, unit: &str, curves: &[Curve]) -> String {
    let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    let mut text = String::new();
    for value in scale.ticks() {
        let y = scale.y(value);
        let shown = if scale.top < 10.0 {
            format!("{value:.1}")
        } else {
            format!("{value:.0}")
        };
        let _ = writeln!(
            text,
            "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{shown}</text>",
            LEFT - 8.0,
            y + 4.0,
        );
    }
    let mut places: Vec<f64> = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.0))
        .collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    for connections in places {
        let x = scale.x(connections);
        let _ = writeln!(
            text,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{connections}</text>",
            bottom + 18.0
        );
    }
    let middle = f64::midpoint(LEFT, right);
    text + &format!(
        "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">connections</text>\n\
         <text x=\"{right}\" y=\"20\" text-anchor=\"end\">{}</text>\n",
        HEIGHT - 8.0,
        escaped(unit),
    )
}

fn line(scale: &Scale, curve: &Curve, colour: &str) -> String {
    let place = |point: &(f64, f64)| format!("{:.1},{:.1}", scale.x(point.0), scale.y(point.1));
    let places: Vec<String> = curve.points.iter().map(place).collect();
    let dashes = if curve.dashed {
        " stroke-dasharray=\"6 4\""
    } else {
        ""
    };
    let mut text = format!(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n",
        places.join(" ")
    );
    for point in curve.points.iter().filter(|_| !curve.dashed) {
        let (x, y) = (scale.x(point.0), scale.y(point.1));
        let _ = writeln!(
            text,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"
        );
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(name: &str, points: &[(f64, f64)], dashed: bool) -> Curve {
        Curve {
            name: name.to_owned(),
            points: points.to_vec(),
            dashed,
        }
    }

    #[test]
    fn points_lie_where_the_axes_say() {
        let text = svg(
            "a < b",
            "requests/s",
            &[curve(
                "Go",
                &[(1.0, 0.0), (10.0, 50.0), (100.0, 100.0)],
                false,
            )],
        );
        // Ten is half of the way from 1 to 100 on a logarithmic axis.
        assert!(
            text.contains("points=\"64.0,276.0 282.0,161.7 500.0,47.4\""),
            "{text}"
        );
        assert!(text.contains("<title>a &lt; b</title>"));
        assert!(text.contains(">100</text>"));
    }

    #[test]
    fn names_do_not_cover_each_other() {
        let same = [(1.0, 10.0), (2.0, 10.0)];
        let text = svg(
            "t",
            "",
            &[curve("A", &same, false), curve("B", &same, true)],
        );
        let place = |name: &str| {
            let end = text.find(&format!(">{name}</text>")).expect("a name");
            let start = text[..end].rfind("y=\"").expect("a place") + 3;
            let digits = text[start..].split('"').next().expect("a number");
            digits.parse::<f64>().expect("a number")
        };
        assert!((place("A") - place("B")).abs() >= NAME_HEIGHT);
        assert_eq!(text.matches("stroke-dasharray").count(), 1);
    }

    #[test]
    fn nothing_measured_is_an_empty_frame() {
        assert!(svg("t", "", &[]).ends_with("</svg>\n"));
    }
}
