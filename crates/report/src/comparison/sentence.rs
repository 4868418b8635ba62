//! The verdict in a sentence.

use comparison::{Comparison, Decision, Ending, Row};
use figures::counted;
use stats::comparison::{BLOCKS_MIN, SAME_MARGIN};
use words::{Text, text};

use figures::numbers;

/// The verdict.
pub fn sentence(comparison: &Comparison) -> Text {
    if let Ending::Failed(why) = &comparison.ending {
        return match comparison.blocks {
            0 => text!("no comparison: {why}", why),
            _ => text!(
                "no comparison: {why}; above is what was measured until then",
                why
            ),
        };
    }
    let claim = match comparison.decision() {
        Decision::Faster => claims(comparison, &["faster"]),
        Decision::Slower => claims(comparison, &["slower"]),
        Decision::Mixed => claims(comparison, &["faster", "slower"]),
        Decision::Cheaper => costs(comparison, "less"),
        Decision::Costlier => costs(comparison, "more"),
        Decision::Same if comparison.is_noise => text!("A does not differ from itself"),
        Decision::Same => text!(
            "no difference: whatever there is, is below {share}",
            share = numbers::share(SAME_MARGIN)
        ),
        Decision::Unclear | Decision::Failed => undecided(comparison),
    };
    let mut parts = vec![text!(
        "{claim} ({blocks}, {time})",
        claim,
        blocks = counted!(comparison.blocks as u64, "block"),
        time = numbers::duration_ms(comparison.measuring_s * 1000.0)
    )];
    parts.extend(throughput(comparison));
    parts.extend(cpu(comparison));
    parts.extend((comparison.noise_floor).map(|floor| {
        text!(
            "noise floor of this host ±{share}",
            share = numbers::share(floor)
        )
    }));
    if comparison.noise_claims {
        parts.push(text!(
            "a side differs from itself by more than chance allows: do not trust this"
        ));
    }
    Text::list(parts, text!("; "))
}

/// `B is faster at p50–p95`; throughput is named separately where a percentile has a claim too.
fn claims(comparison: &Comparison, words: &[&'static str]) -> Text {
    let told = words.iter().map(|word| {
        let places = ranges(&comparison.rows, word).into_iter().map(Text::from);
        let of_rate = |row: &&Row| row.is_rate() && row.word() == *word;
        let rate = comparison.rows.iter().find(of_rate);
        let rate = rate.map(|row| {
            text!(
                "throughput ({ratio}x)",
                ratio = format!("{:.2}", row.seen.ratio)
            )
        });
        text!(
            "{word} at {places}",
            word = Text::named(word),
            places = Text::list(places.chain(rate), text!(", "))
        )
    });
    let told: Vec<Text> = told.collect();
    let told = match told.as_slice() {
        [faster, slower] => text!("{faster} and {slower}", faster, slower),
        _ => Text::list(told, text!(", ")),
    };
    text!("B is {told}", told)
}

/// Neighbouring percentiles with the same claim as one range.
fn ranges(rows: &[Row], word: &str) -> Vec<String> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if row.is_rate() || row.is_cpu() || row.word() != word {
            continue;
        }
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => ranges.push((index, index)),
        }
    }
    let name = |(first, last): (usize, usize)| match first == last {
        true => rows[first].metric.clone(),
        false => format!("{}–{}", rows[first].metric, rows[last].metric),
    };
    ranges.into_iter().map(name).collect()
}

/// `B takes less CPU (0.95x per request); no time or rate is told apart`, for claims on costs only.
fn costs(comparison: &Comparison, word: &str) -> Text {
    let row = comparison.rows.iter().find(|row| row.is_cpu());
    let ratio = row.map_or(f64::NAN, |row| row.seen.ratio);
    text!(
        "B takes {word} CPU ({ratio}x per request), which no time and no rate shows",
        word = Text::named(word),
        ratio = format!("{ratio:.2}")
    )
}

/// Said of CPU time beside claims on times.
fn cpu(comparison: &Comparison) -> Option<Text> {
    if !is_about_time(comparison) {
        return None;
    }
    let row = comparison.rows.iter().find(|row| row.is_cpu())?;
    let word = Some(row.word()).filter(|word| ["less", "more"].contains(word))?;
    Some(text!(
        "{word} CPU ({ratio}x per request)",
        word = Text::named(word),
        ratio = format!("{:.2}", row.seen.ratio)
    ))
}

fn is_about_time(comparison: &Comparison) -> bool {
    matches!(
        comparison.decision(),
        Decision::Faster | Decision::Slower | Decision::Mixed
    )
}

/// Sentence on throughput, where throughput has no separate claim.
fn throughput(comparison: &Comparison) -> Option<Text> {
    let claimed = is_about_time(comparison);
    let row = comparison.rows.iter().find(|row| row.is_rate())?;
    match row.word() {
        "same" if claimed => Some(text!("throughput unchanged")),
        "unclear" if claimed => Some(text!("throughput undecided")),
        _ => None,
    }
}

fn undecided(comparison: &Comparison) -> Text {
    if comparison.blocks < BLOCKS_MIN {
        return text!(
            "undecided: at least {least} blocks are needed for any claim",
            least = BLOCKS_MIN
        );
    }
    match comparison.ending {
        Ending::Hopeless => {
            text!("undecided: this host is too noisy to decide it with the blocks that were left")
        }
        Ending::Interrupted => text!("undecided when it was interrupted"),
        _ => text!(
            "undecided: the noise hides whatever difference there is; a larger --budget narrows the intervals"
        ),
    }
}
