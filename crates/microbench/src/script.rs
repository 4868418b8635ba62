//! The Ruby program run by a contender for a script: preludes, the script in a loop, and the loop
//! alone.
//!
//! The loop stands in a `proc`, so that the script sees the prelude's variables and constants can
//! be assigned, and so that JIT compilers, which count entries, get to see it. `next` goes on with
//! the next turn, as in a `while` at the top of a file; `break` ends the loop and is refused by the
//! harness.

use crate::model::{Contender, Runner, Script};

/// Harness loaded before the script's own prelude.
pub const HARNESS: &str = include_str!("harness.rb");

/// Returns the program; an error says why a script cannot be put into a loop.
pub fn generate(contender: &Contender, script: &Script, runner: Runner) -> Result<String, String> {
    let parts = [&script.prelude, &script.body, &script.teardown];
    if parts
        .iter()
        .any(|part| part.lines().any(|line| line == "__END__"))
    {
        return Err(
            "a script with `__END__` cannot be put into a loop; give it as a file of its own"
                .to_owned(),
        );
    }
    let preludes = [&contender.prelude, &script.prelude];
    let (magic, preludes) = hoisted(preludes);
    let body = script.body.trim_end();
    let [measured, empty] = match runner {
        Runner::Block => {
            let called = "__hakaru_block.call";
            let blocks =
                format!("__hakaru_block = proc {{\n{body}\n}}\n__hakaru_none = proc {{}}\n");
            let [measured, empty] = [looped(called), looped("__hakaru_none.call")];
            [format!("{blocks}__hakaru_body = {measured}"), empty]
        }
        _ => [format!("__hakaru_body = {}", looped(body)), looped("")],
    };
    let teardown = &script.teardown;
    Ok(format!(
        "{magic}{preludes}{measured}__hakaru_empty = {empty}__hakaru_value = proc {{\n{body}\n}}\n\
         HakaruBench.measure(__hakaru_body, __hakaru_empty, __hakaru_value)\n{teardown}"
    ))
}

fn looped(body: &str) -> String {
    format!(
        "proc {{ |__hakaru_turns| while (__hakaru_turns -= 1) >= 0\n{body}\nend; __hakaru_turns }}\n"
    )
}

/// Moves magic comments of both preludes to the top: Ruby ignores magic comments after code.
fn hoisted(preludes: [&String; 2]) -> (String, String) {
    let (mut magic, mut rest) = (String::new(), String::new());
    for prelude in preludes {
        let is_head = |line: &&str| line.starts_with('#') || line.trim().is_empty();
        let head = prelude.lines().take_while(is_head).count();
        for (index, line) in prelude.lines().enumerate() {
            let target = if index < head && is_magic(line) {
                &mut magic
            } else {
                &mut rest
            };
            target.push_str(line);
            target.push('\n');
        }
    }
    (magic, rest)
}

fn is_magic(line: &str) -> bool {
    let names = [
        "frozen_string_literal:",
        "frozen-string-literal:",
        "encoding:",
        "coding:",
        "warn_indent:",
        "shareable_constant_value:",
    ];
    let line = line.to_ascii_lowercase();
    names.iter().any(|name| line.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generated(
        contender_prelude: &str,
        prelude: &str,
        body: &str,
        runner: Runner,
    ) -> Result<String, String> {
        let contender = Contender {
            prelude: contender_prelude.to_owned(),
            ..Contender::ruby("r", &["ruby"])
        };
        let script = Script {
            prelude: prelude.to_owned(),
            body: body.to_owned(),
            ..Script::default()
        };
        generate(&contender, &script, runner)
    }

    #[test]
    fn magic_comments_come_first() {
        let program = generated(
            "gem 'x'\n",
            "# frozen_string_literal: true\n# why\na = 1\n",
            "a",
            Runner::Ips,
        )
        .expect("a program");
        assert!(
            program
                .starts_with("# frozen_string_literal: true\ngem 'x'\n# why\na = 1\n__hakaru_body"),
            "{program}"
        );
    }

    #[test]
    fn comments_and_heredocs_end_with_their_line() {
        let program = generated("", "", "x # why", Runner::Ips).expect("a program");
        assert!(program.contains("x # why\nend;"), "{program}");
        let program = generated("", "", "x = <<A\nA\n", Runner::Block).expect("a program");
        assert!(program.contains("A\n}\n"), "{program}");
    }

    #[test]
    fn what_ends_the_file_is_refused() {
        let error = generated("", "", "x\n__END__\ny", Runner::Ips).expect_err("cut off");
        assert!(error.contains("__END__"));
    }
}
