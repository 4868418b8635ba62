use super::*;
use crate::model::Runner;

fn figure(value: f64, duration: f64) -> Figure {
    Figure {
        value: Some(value),
        all: vec![value, value * 0.9],
        loop_count: Some(7_527_000.0),
        duration: Some(duration),
        missing: String::new(),
    }
}

fn table() -> Table {
    Table {
        metric: Runner::Ips.metric(),
        contenders: ["2.4.1", "2.5.0"].map(str::to_owned).to_vec(),
        jobs: vec![
            (
                "join".to_owned(),
                vec![figure(2_660_777.4, 2.828771), figure(2_862_755.1, 2.629191)],
            ),
            (
                "str-interp".to_owned(),
                vec![figure(1_889_805.6, 2.81224), Figure::default()],
            ),
        ],
        warmup: Vec::new(),
    }
}

#[test]
fn compare_has_benchmark_drivers_columns() {
    let expected = "\
Calculating -------------------------------------
                          2.4.1       2.5.0 \n\
\x20               join     2.661M      2.863M i/s -      7.527M times in 2.828771s 2.629191s
          str-interp     1.890M       ERROR i/s

Comparison:
                             join
               2.5.0:   2862755.1 i/s \n\
\x20              2.4.1:   2660777.4 i/s - 1.08x  slower

                       str-interp
               2.4.1:   1889805.6 i/s \n\
\x20              2.5.0:       ERROR i/s \n\n";
    assert_eq!(write(&table(), Form::Compare, Options::default()), expected);
}

#[test]
fn jobs_of_one_contender_are_compared_with_each_other() {
    let mut table = table();
    table.contenders.truncate(1);
    for (_, figures) in &mut table.jobs {
        figures.truncate(1);
    }
    table.warmup = vec![("join".to_owned(), figure(2.5e6, 0.9))];
    let text = write(&table, Form::Compare, Options::default());
    assert!(text.starts_with("Warming up --------------------------------------\n                join     2.500M i/s -"), "{text}");
    assert!(text.contains("times in 2.828771s (375.82ns/i)\n"), "{text}");
    assert!(text.contains("\nComparison:\n                join:   2660777.4 i/s \n          str-interp:   1889805.6 i/s - 1.41x  slower\n"), "{text}");
}

#[test]
fn simple_and_markdown_are_tables() {
    let simple = "Iteration per second (i/s):\n                 2.4.1       2.5.0  \njoin             2.661M       2.863M  \nstr-interp       1.890M        ERROR  \n";
    assert_eq!(write(&table(), Form::Simple, Options::default()), simple);
    let plain = write(
        &table(),
        Form::Simple,
        Options {
            humanize: false,
            ..Options::default()
        },
    );
    assert!(plain.contains("2660777.400"), "{plain}");
    let markdown = "# Iteration per second (i/s)\n\n|            |   2.4.1|   2.5.0|\n|:-----------|:-------|:-------|\n|join        |  2.661M|  2.863M|\n|str-interp  |  1.890M|   ERROR|\n";
    assert_eq!(
        write(&table(), Form::Markdown, Options::default()),
        markdown
    );
}

#[test]
fn all_lists_every_repeat() {
    let text = write(&table(), Form::All, Options::default());
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[2], ["join", "2394699.660", "2576479.590", "i/s"]);
    assert_eq!(lines[3], ["2660777.400", "2862755.100"]);
    assert_eq!(lines[4], ["str-interp", "1700825.040", "ERROR", "i/s"]);
}

#[test]
fn a_record_becomes_the_same_table() {
    let recorded = write(&table(), Form::Record, Options::default());
    let suite = crate::yaml::read(std::path::Path::new("r.yml"), &recorded).expect("a record");
    assert_eq!(tables_of_record(&suite.recorded), [table()]);
}

#[test]
fn the_picture_is_well_formed() {
    let mut table = table();
    table.jobs[0].0 = "a < b & \"c\"".to_owned();
    let svg = write(&table, Form::Gruff, Options::default());
    assert!(svg.contains("a &lt; b &amp; &quot;c&quot;"), "{svg}");
    assert_eq!(svg.matches("<rect").count(), 1 + 2 + 4);
}

#[test]
fn numbers_are_humanized() {
    let check = |value: f64, expected: &str| assert_eq!(humanized(Some(value), 10), expected);
    check(0.0, "      0.000");
    check(999.0, "    999.000");
    check(1_000.0, "     1.000k");
    check(5.3e9, "     5.300G");
    check(1e18, " 1000000000000000000.000");
    check(0.5, "      0.500");
    check(0.0001, "   1.00e-4");
}
