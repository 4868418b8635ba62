//! Parameters of commands: `{name}` stands for each of several values in turn.

/// A name with all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    name: String,
    values: Vec<String>,
}

/// Greatest number of values; more are taken for a slip.
const VALUES_MAX: f64 = 1_000.0;

impl Parameter {
    /// Values divided by commas; `\,` is a comma.
    pub fn list(name: &str, values: &str) -> Parameter {
        let mut parts = vec![String::new()];
        let mut letters = values.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => parts
                    .last_mut()
                    .expect("never empty")
                    .extend(letters.next()),
                ',' => parts.push(String::new()),
                letter => parts.last_mut().expect("never empty").push(letter),
            }
        }
        Parameter {
            name: name.to_owned(),
            values: parts,
        }
    }

    /// Returns the numbers from `min` to `max`, both included, `step` apart (1).
    pub fn scan(name: &str, min: &str, max: &str, step: Option<f64>) -> Result<Parameter, String> {
        let number = |text: &str| {
            text.parse::<f64>()
                .map_err(|_| format!("`{text}` of --parameter-scan is not a number"))
        };
        let (low, high, step) = (number(min)?, number(max)?, step.unwrap_or(1.0));
        let count = ((high - low) / step + 1e-9).floor();
        if !(0.0..VALUES_MAX).contains(&count) || step <= 0.0 {
            return Err(format!(
                "--parameter-scan {name} {min} {max} by {step} gives no values, or too many"
            ));
        }
        let decimals = [min, max, &step.to_string()]
            .map(|text| text.split_once('.').map_or(0, |(_, rest)| rest.len()));
        let decimals = decimals.into_iter().max().unwrap_or(0);
        let values =
            (0..=count as u32).map(|index| format!("{:.decimals$}", low + f64::from(index) * step));
        Ok(Parameter {
            name: name.to_owned(),
            values: values.collect(),
        })
    }
}

/// Names with one value each, for every combination; a single empty one without parameters.
pub fn combinations(parameters: &[Parameter]) -> Vec<Vec<(String, String)>> {
    let mut all = vec![Vec::new()];
    for parameter in parameters {
        let longer = all.into_iter().flat_map(|known: Vec<(String, String)>| {
            let with = |value: &String| {
                [known.clone(), vec![(parameter.name.clone(), value.clone())]].concat()
            };
            parameter.values.iter().map(with).collect::<Vec<_>>()
        });
        all = longer.collect();
    }
    all
}

/// Returns the text with each `{name}` replaced by a value.
pub fn fill(text: &str, values: &[(String, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| {
        text.replace(&format!("{{{name}}}"), value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_is_filled_in() {
        let parameters = [
            Parameter::list("a", "x,y\\,z"),
            Parameter::scan("n", "0.5", "1", Some(0.25)).expect("numbers"),
        ];
        let filled: Vec<String> = combinations(&parameters)
            .iter()
            .map(|values| fill("{a} {n} {b}", values))
            .collect();
        assert_eq!(
            filled,
            [
                "x 0.50 {b}",
                "x 0.75 {b}",
                "x 1.00 {b}",
                "y,z 0.50 {b}",
                "y,z 0.75 {b}",
                "y,z 1.00 {b}"
            ]
        );
        assert_eq!(combinations(&[]), [Vec::new()]);
    }

    #[test]
    fn scans_without_end_are_refused() {
        for (min, max, step) in [
            ("1", "2", Some(0.0)),
            ("2", "1", None),
            ("a", "1", None),
            ("0", "1e9", None),
        ] {
            assert!(
                Parameter::scan("n", min, max, step).is_err(),
                "{min} {max} {step:?}"
            );
        }
    }
}
