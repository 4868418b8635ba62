//! What the harness in a contender's process wrote, as figures.

/// A batch of turns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Batch {
    /// Turns.
    pub turns: u64,
    /// Wall time of all turns, nanoseconds.
    pub wall_ns: u64,
    /// CPU time of all threads of the process, nanoseconds.
    pub cpu_ns: u64,
    /// Collections.
    pub gc_count: u64,
    /// Time in the collector, nanoseconds; 0 in a Ruby without the counter.
    pub gc_ns: u64,
}

/// What a JIT compiler had done at some instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Jit {
    /// `yjit`, `zjit`, `rjit`, or `none`.
    pub name: String,
    /// Methods and blocks compiled.
    pub compiled: u64,
    /// Bytes of machine code.
    pub code_bytes: u64,
    /// Compile time, nanoseconds; 0 where not counted.
    pub compile_ns: u64,
}

/// All measurements of one process.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Child {
    /// Instant at which the preludes were through, on CLOCK_MONOTONIC, nanoseconds.
    pub ready_ns: u64,
    /// RUBY_DESCRIPTION.
    pub ruby: String,
    /// Whether the Ruby was built without optimisation, or with debugging code.
    pub is_debug: bool,
    /// Batches of the calibration, each of another size.
    pub first: Vec<Batch>,
    /// Batches before the counted ones.
    pub warm: Vec<Batch>,
    /// Counted batches.
    pub batches: Vec<Batch>,
    /// The loop alone, as often.
    pub empty: Vec<Batch>,
    /// Wall time, CPU time and time in the queue for a core while the counted batches ran,
    /// nanoseconds; and the number of voluntary context switches of the main thread.
    pub waited: Option<[u64; 4]>,
    /// Objects allocated by the counted batches and the loops beside each.
    pub allocated: u64,
    /// Turns during which `allocated` was counted.
    pub allocated_turns: u64,
    /// Objects alive at the end, after a collection.
    pub live: u64,
    /// Objects alive after the counted turns and not before, and the number of turns; `None` but
    /// for the first process.
    pub retained: Option<(i64, u64)>,
    /// The compiler before the first batch, and at the end.
    pub jit: [Jit; 2],
    /// Instructions of the loop with the script, and of the loop alone; negative where unavailable.
    pub instructions: Option<[i64; 2]>,
    /// Instructions of the script fetching a value unknown to a compiler.
    pub inputs: Option<i64>,
    /// Value of the script, or a digest.
    pub value: Option<String>,
    /// Greatest resident memory, bytes.
    pub memory: u64,
}

/// Reads the harness' file; `None` for a process ended before the file was complete.
pub fn read(text: &str) -> Option<Child> {
    let mut child = Child::default();
    let mut is_complete = false;
    for line in text.lines() {
        let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
        let numbers = || rest.split(' ').filter_map(|word| word.parse::<i64>().ok());
        let first = || numbers().next().map_or(0, |number| number.max(0) as u64);
        match key {
            "ready" => child.ready_ns = first(),
            "ruby" => rest.clone_into(&mut child.ruby),
            "debug" => child.is_debug = first() == 1,
            "first" => child.first.extend(batch(rest)),
            "warm" => child.warm.extend(batch(rest)),
            "batch" => child.batches.extend(batch(rest)),
            "empty" => child.empty.extend(batch(rest)),
            "allocated" => {
                child.allocated = first();
                child.allocated_turns =
                    numbers().next_back().map_or(0, |turns| turns.max(0) as u64);
            }
            "waited" => {
                let numbers: Vec<u64> = numbers().map(|number| number.max(0) as u64).collect();
                child.waited = numbers.try_into().ok();
            }
            "live" => child.live = first(),
            "retained" => {
                let numbers: Vec<i64> = numbers().collect();
                if let [objects, turns] = numbers[..] {
                    child.retained = u64::try_from(turns).ok().map(|turns| (objects, turns));
                }
            }
            "jit_start" => child.jit[0] = jit(rest),
            "jit" => child.jit[1] = jit(rest),
            "instructions" => {
                let numbers: Vec<i64> = numbers().collect();
                if let [with, alone, inputs] = numbers[..] {
                    child.instructions = (with >= 0).then_some([with, alone]);
                    child.inputs = Some(inputs);
                }
            }
            "value" => child.value = (rest != "-").then(|| rest.to_owned()),
            "memory" => child.memory = first(),
            "end" => is_complete = true,
            _ => {}
        }
    }
    is_complete.then_some(child)
}

fn batch(rest: &str) -> Option<Batch> {
    let numbers: Vec<u64> = rest
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    let [turns, wall_ns, cpu_ns, gc_count, gc_ns] = numbers[..] else {
        return None;
    };
    (turns > 0).then_some(Batch {
        turns,
        wall_ns,
        cpu_ns,
        gc_count,
        gc_ns,
    })
}

fn jit(rest: &str) -> Jit {
    let words: Vec<&str> = rest.split(' ').collect();
    let number = |index: usize| {
        words
            .get(index)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0)
    };
    Jit {
        name: words[0].to_owned(),
        compiled: number(1),
        code_bytes: number(2),
        compile_ns: number(3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_not_read() {
        let text = "ready 5\nbatch 8 100 90 1 7\nempty 8 10 9 0 0\njit yjit 3 400 5\nend\n";
        let child = read(text).expect("complete");
        assert_eq!(child.batches[0].turns, 8);
        assert_eq!(child.jit[1].code_bytes, 400);
        assert_eq!(read(text.trim_end().trim_end_matches("end")), None);
        assert_eq!(read(""), None);
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([a-z]{0,9} ?[-0-9 ]{0,20}\n?){0,9}") {
            let _ = read(&text);
        }
    }
}
