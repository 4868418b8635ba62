//! Which known word a misspelt one resembles.

/// Returns the known word most similar to the typed one, in either case. `None` where no similarity
/// exceeds `likeness_min`, by Jaro and Winkler's measure: 0 to 1, equal words have 1.
pub fn nearest<'a>(
    typed: &str,
    known: impl Iterator<Item = &'a str>,
    likeness_min: f64,
) -> Option<&'a str> {
    let typed = typed.to_lowercase();
    let scored = known.map(|known| (strsim::jaro_winkler(&typed, &known.to_lowercase()), known));
    let (likeness, known) = scored.max_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (likeness > likeness_min).then_some(known)
}
