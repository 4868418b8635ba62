use super::*;

fn script(job: &Job) -> &Script {
    match &job.work {
        Work::Script(script) => script,
        other => panic!("{other:?}"),
    }
}

fn suite(text: &str) -> Suite {
    read(Path::new("app.yml"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn names(text: &str) -> Vec<String> {
    suite(text).jobs.into_iter().map(|job| job.name).collect()
}

#[test]
fn benchmark_is_a_script_a_map_or_a_list() {
    assert_eq!(names("benchmark: erb.result"), ["erb.result"]);
    assert_eq!(names("benchmark:\n  b: x\n  a: y\n"), ["b", "a"]);
    assert_eq!(
        names("benchmark:\n  - x + 1\n  - {script: y, name: n}\n  - {script: z}\n"),
        ["x + 1", "n", "z"]
    );
    assert_eq!(
        names("benchmark:\n  yes: x\n  1: y\n  null: 3\n"),
        ["yes", "1", "null"]
    );
    assert_eq!(names("benchmark: |\n  a\n  b\n"), ["a\nb\n"]);
}

#[test]
fn preludes_are_joined_and_the_items_count_wins() {
    let suite = suite(
        "prelude: a = 1\nteardown: z\nloop_count: 7\nrequired_ruby_version: 2.7\nbenchmark:\n  - script: x\n    prelude: |\n      b = 2\n    teardown: y\n    loop_count: 9\n  - script: w\n    required_ruby_version: '3.0'\n",
    );
    let first = script(&suite.jobs[0]);
    assert_eq!(first.prelude, "a = 1\nb = 2\n");
    assert_eq!(first.teardown, "y\nz\n");
    assert_eq!(first.loop_count, Some(9));
    assert_eq!(suite.jobs[0].ruby_min.as_deref(), Some("2.7"));
    assert_eq!(script(&suite.jobs[1]).loop_count, Some(7));
    assert_eq!(suite.jobs[1].ruby_min.as_deref(), Some("3.0"));
}

#[test]
fn contexts_load_their_gems() {
    let text = "contexts:\n  - gems: {haml: 5.0.4}\n  - name: mine\n    gems: {haml: 6.0.0, tilt: 2.0}\n    require: false\n    prelude: x = 1\nbenchmark: x\n";
    let contexts = suite(text).contexts;
    assert_eq!(contexts[0].name, "haml 5.0.4");
    assert_eq!(contexts[0].prelude, "gem 'haml', '5.0.4'\nrequire 'haml'\n");
    assert_eq!(contexts[1].name, "mine");
    assert_eq!(
        contexts[1].prelude,
        "gem 'haml', '6.0.0'\ngem 'tilt', '2.0'\nx = 1\n"
    );
}

#[test]
fn a_program_prints_its_own_figure() {
    let text = "type: ruby_stdout\nname: nes\ncommand: -Ilib bin/nes 'a b'\nworking_directory: emu\nmetrics:\n  fps:\n    unit: fps\n    from_stdout: stdout[/[0-9.]+/].to_f\nenvironment:\n  sum:\n    from_stdout: stdout[/x/]\n";
    let suite = read(Path::new("dir/app.yml"), text).expect("a suite");
    let Work::Printed(printed) = &suite.jobs[0].work else {
        panic!("{suite:?}");
    };
    assert_eq!(printed.command, ["-Ilib", "bin/nes", "a b"]);
    assert_eq!(printed.folder, Path::new("dir/emu"));
    assert!(printed.metric.is_larger_better);
    assert_eq!(printed.metric.unit, "fps");
    assert_eq!(printed.environment[0].0, "sum");
    let older = "type: command_stdout\nname: a\ncommand: x\nmetrics_type: {unit: s}\nstdout_to_metrics: stdout.to_f\n";
    let Work::Printed(printed) = &self::suite(older).jobs[0].work else {
        panic!("not printed");
    };
    assert!(!printed.metric.is_larger_better);
}

#[test]
fn numbers_of_turns_are_read_as_ruby_writes_them() {
    let counts = |text: &str| -> Vec<Option<u64>> {
        let jobs = suite(text).jobs;
        jobs.iter().map(|job| script(job).loop_count).collect()
    };
    assert_eq!(
        counts("benchmark: x\nloop_count: 20_000_000\n"),
        [Some(20_000_000)]
    );
    assert_eq!(counts("benchmark: x\nloop_count: 30\n"), [Some(30)]);
    assert_eq!(counts("benchmark: x\nloop_count:\n"), [None]);
    let item = "benchmark:\n  - script: x\n    loop_count: 1_000\n  - script: y\n";
    assert_eq!(counts(item), [Some(1000), None]);
}

#[test]
fn what_is_wrong_is_shown_in_its_line() {
    let check = |text: &str, expected: &str| {
        let error = read(Path::new("app.yml"), text)
            .expect_err(text)
            .to_string();
        assert_eq!(error, expected, "{text}");
    };
    check(
        "benchmark: x\nprelud: y\n",
        "app.yml:2:1: unknown key `prelud`; did you mean `prelude`? (docs/bench.md lists the keys)\n  2 | prelud: y\n    | ^",
    );
    check(
        "benchmark:\n  - script: x\n    loop_cnt: 3\n",
        "app.yml:3:5: unknown key `loop_cnt`; did you mean `loop_count`? (docs/bench.md lists the keys)\n  3 |     loop_cnt: 3\n    |     ^",
    );
    check(
        "type: fast\nbenchmark: x\n",
        "app.yml:1:1: no runner is called `fast`; there are ips, time, memory, once, block, ruby_stdout, command_stdout, recorded (docs/bench.md lists the keys)\n  1 | type: fast\n    | ^",
    );
    check(
        "benchmark:\n  a: x\n  a: y\n",
        "app.yml:2:3: benchmark: duplicate entry with key \"a\" (docs/bench.md lists the keys)\n  2 |   a: x\n    |   ^",
    );
    check(
        "- a\n",
        "app.yml:1:1: invalid type: a list, expected a map of keys (docs/bench.md lists the keys)\n  1 | - a\n    | ^",
    );
    check(
        "benchmark: x\nloop_count: many\n",
        "app.yml:2:13: loop_count: invalid value: string \"many\", expected a whole number (docs/bench.md lists the keys)\n  2 | loop_count: many\n    |             ^",
    );
    for bad in [
        "prelude: x\n",
        "benchmark: []\n",
        "a: [\n",
        "benchmark: x\nloop_count: 0\n",
    ] {
        let error = read(Path::new("app.yml"), bad).expect_err(bad).to_string();
        assert!(error.starts_with("app.yml"), "{error}");
    }
}

proptest::proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "[a-z:\\[\\]{} \n\\-'\"|#&*!]{0,60}") {
        let _ = read(Path::new("app.yml"), &text);
    }

    #[test]
    fn scripts_come_back_as_they_were(script in "[ -~]{1,40}", name in "[ -~]{1,20}") {
        let text = serde_yaml_ng::to_string(&std::collections::BTreeMap::from([(
            "benchmark", std::collections::BTreeMap::from([(name.clone(), script.clone())]),
        )])).expect("YAML");
        let suite = suite(&text);
        proptest::prop_assert_eq!(&suite.jobs[0].name, &name);
        proptest::prop_assert_eq!(&self::script(&suite.jobs[0]).body, &script);
    }
}
