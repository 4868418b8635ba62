//! Statements: N+1 and missing indexes, and the silence on healthy runs.

use super::*;
use crate::rule_id::RuleId;

#[test]
fn healthy_runs_have_no_findings() {
    healthy().check(&[]);
    let count = "SELECT COUNT(*) FROM message WHERE channel_id = ?";
    healthy().issuing(count, "app.rb:1 in x", 4, 2.0).check(&[]);
    let mut indexed = full_scan("message", &MESSAGE);
    indexed.access = Access::Index("by_channel".to_owned());
    indexed.indexes.push(IndexColumns {
        name: "by_channel".to_owned(),
        columns: vec!["channel_id".to_owned()],
    });
    healthy()
        .issuing(count, "app.rb:1 in x", 1, 2.0)
        .explained(count, vec![indexed])
        .check(&[]);
}

/// An index on the channel alone, when the newest messages of one user in a channel are asked for.
#[test]
fn an_index_that_holds_a_part_of_the_condition_is_found_wanting() {
    let by_key = "SELECT content FROM message WHERE id = ?";
    let newest =
        "SELECT id FROM message WHERE channel_id = ? AND user_id = ? ORDER BY id DESC LIMIT ?";
    let index = |name: &str, columns: &[&str]| IndexColumns {
        name: name.to_owned(),
        columns: columns.iter().map(|&column| column.to_owned()).collect(),
    };
    let run = |ms: f64, more: Option<IndexColumns>| {
        let mut step = full_scan("message", &MESSAGE);
        step.access = Access::Index("by_channel".to_owned());
        step.indexes.push(index("by_channel", &["channel_id"]));
        step.indexes.extend(more);
        healthy()
            .issuing(by_key, "app.rb:1", 1, 0.05)
            .issuing(newest, "app.rb:2", 1, ms)
            .explained(newest, vec![step])
    };
    let findings = run(3.0, None).check(&["missing-index"]);
    assert_eq!(
        findings[0].title.to_string(),
        "missing index on message (channel_id, user_id, id): by_channel holds channel_id only"
    );
    assert_eq!(findings[0].confidence, Confidence::Medium);
    run(0.2, None).check(&[]);
    let fitting = index("newest", &["user_id", "channel_id", "id"]);
    run(3.0, Some(fitting)).check(&[]);
    let unsorted = index("both", &["user_id", "channel_id"]);
    run(3.0, Some(unsorted)).check(&["missing-index"]);
}

#[test]
fn nothing_measured_is_said_to_be_too_little() {
    let recording = Recording::default();
    let breakdown = breakdown::of(&recording);
    let findings = all(Facts {
        recording: &recording,
        breakdown: &breakdown,
        profile: None,
    });
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].rule, RuleId::FewSamples);
}

#[test]
fn repeated_statements_are_found() {
    let run = healthy().issuing(
        "SELECT name, avatar_icon FROM user WHERE id = ?",
        "app.rb:131 in block in get_message",
        100,
        2.0,
    );
    let findings = run.check(&["n-plus-one"]);
    let finding = &findings[0];
    assert_eq!(
        finding.title,
        "N+1 on GET /channel/:id: 100 × SELECT … FROM user at app.rb:131"
    );
    assert_eq!(finding.confidence, Confidence::High);
    assert_eq!(
        finding.remedy.exact_text().as_deref(),
        Some("SELECT id, name, avatar_icon FROM user WHERE id IN (?)")
    );
    // 1.98 of 4.2 ms.
    assert!((finding.gain_share - 1.98 / 4.2).abs() < 0.01);
    assert!(
        finding
            .evidence
            .iter()
            .any(|line| line.to_string().contains("get_message"))
    );
}

#[test]
fn repeated_statements_are_found_behind_helpers() {
    let site = |line: u32| {
        format!("vendor/db.rb:28 in rows < vendor/db.rb:30 in first < app.rb:{line} < app.rb:136")
    };
    let findings = healthy()
        .issuing("SELECT a FROM t WHERE id = ?", &site(143), 50, 1.0)
        .issuing("SELECT b FROM u WHERE id = ?", &site(144), 1, 0.1)
        .issuing("SELECT c FROM v WHERE id = ?", &site(145), 4, 0.1)
        .check(&["n-plus-one"]);
    let finding = &findings[0];
    assert_eq!(
        finding.title,
        "N+1 on GET /channel/:id: 50 × SELECT … FROM t at app.rb:143"
    );
    let expected = [
        "50 executions per request in 1,000 requests, 20.0 µs each, 50,000 rows in all",
        "SELECT a FROM t WHERE id = ?",
        "called from app.rb:143 < app.rb:136",
    ];
    assert_eq!(finding.evidence, expected);
    assert_eq!(
        finding.estimated_gain,
        "23% of all time: −0.98 ms of 4.20 ms per request on GET /channel/:id"
    );
}

/// One line reaching a statement through two helpers repeats the statement as often as both are
/// called.
#[test]
fn ways_through_helpers_to_one_statement_are_added_up() {
    let digest = "SELECT a FROM t WHERE id = ?";
    let other = |way: u32| format!("SELECT a{way} FROM u WHERE id = ?");
    let mut run = healthy();
    for way in 1..=2_u32 {
        let helper = format!("db.rb:{way} in first");
        run = run.issuing(digest, &format!("{helper} < app.rb:7"), 4, 0.5);
        for line in 8..10 {
            run = run.issuing(&other(line), &format!("{helper} < app.rb:{line}"), 1, 0.1);
        }
    }
    let findings = run.check(&["n-plus-one"]);
    assert!(
        findings[0].evidence[0]
            .to_string()
            .starts_with("8 executions per request in 1,000 requests")
    );
}

#[test]
fn transactions_and_outgoing_http_are_no_n_plus_one() {
    healthy()
        .issuing("BEGIN", "app.rb:1", 9, 0.1)
        .issuing("HTTP GET example.com", "app.rb:2", 9, 0.3)
        .check(&[]);
}

#[test]
fn a_store_asked_again_and_again_is_its_own_finding() {
    let run = healthy()
        .issuing(
            "Redis GET",
            "app.rb:5 in cards < app.rb:9 in index",
            60,
            3.0,
        )
        .issuing(
            "Redis TTL",
            "app.rb:6 in cards < app.rb:9 in index",
            60,
            2.0,
        )
        .issuing("Redis SET", "app.rb:30", 1, 0.1);
    let findings = run.check(&["store-calls"]);
    assert_eq!(
        findings[0].title,
        "many calls on GET /channel/:id: 60 × Redis GET and 1 more at app.rb:5"
    );
    assert!(
        findings[0].remedy.text.to_string().contains("MGET"),
        "{findings:?}"
    );
    assert!(findings[0].remedy.exact.is_none());
    healthy()
        .issuing("Redis GET", "app.rb:5", 3, 0.2)
        .check(&[]);
}

/// Loading associations at once leaves the calls of the store, which MGET makes one.
#[test]
fn a_loop_over_statements_and_a_store_has_a_finding_for_each() {
    let line = "views/teaser.erb:2 < views/index.erb:3";
    let findings = healthy()
        .issuing("SELECT name FROM authors WHERE id = ?", line, 30, 1.5)
        .issuing("Redis GET", line, 30, 1.0)
        .check(&["n-plus-one", "store-calls"]);
    let titles: Vec<String> = findings.iter().map(|it| it.title.to_string()).collect();
    assert!(
        titles.iter().all(|title| !title.contains("more")),
        "{titles:#?}"
    );
}

#[test]
fn a_loop_that_changes_rows_is_answered_by_its_verb() {
    let remedy = |statement: &str| {
        let findings = healthy()
            .issuing(statement, "app.rb:7 < app.rb:6", 20, 0.5)
            .check(&["n-plus-one"]);
        findings[0].remedy.text.to_string()
    };
    let changes = remedy("UPDATE boxes SET state = ? WHERE id = ?");
    assert!(changes.contains("update_all"), "{changes}");
    assert!(changes.contains("leaves updated_at"), "{changes}");
    let deletes = remedy("DELETE FROM boxes WHERE id = ?");
    assert!(deletes.contains("delete_all"), "{deletes}");
    assert!(deletes.contains("`dependent:`"), "{deletes}");
    assert!(!deletes.contains("insert_all"), "{deletes}");
    let inserts = remedy("INSERT INTO boxes (state) VALUES (?)");
    assert!(inserts.contains("insert_all!"), "{inserts}");
    // What a statement for many rows leaves out is said of each.
    for said in [changes, deletes, inserts] {
        assert!(said.contains("callback"), "{said}");
    }
}

/// Statements as written by ActiveRecord for a view reading models one by one.
const CUSTOMER: &str =
    r#"SELECT "customers".* FROM "customers" WHERE "customers"."id" = ? LIMIT ?"#;
const ITEMS: &str = r#"SELECT "line_items".* FROM "line_items" WHERE "line_items"."order_id" = ?"#;
const NOTES: &str = r#"SELECT COUNT(*) FROM "notes" WHERE "notes"."order_id" = ?"#;

/// Returns the remedy for a loop over orders with such statements.
fn of_loop(statements: &[&str]) -> crate::Remedy {
    let line = "app/views/orders/index.html.erb:8 < app/views/orders/index.html.erb:5";
    let orders = r#"SELECT "orders".* FROM "orders" ORDER BY "orders"."id" LIMIT ?"#;
    let related = [
        ("Order.customer", "one orders customers id"),
        ("Order.line_items", "many orders line_items order_id"),
        ("Order.notes", "many orders notes order_id"),
        ("Order.tags", "many orders tags order_id orders_tags"),
    ];
    let mut run = healthy().issuing(orders, line, 1, 0.1);
    for statement in statements {
        run = run.issuing(statement, line, 40, 2.0);
    }
    for (name, value) in related {
        run = run.set_to(&format!("association ActiveRecord {name}"), value);
    }
    run.check(&["n-plus-one"])[0].remedy.clone()
}

#[test]
fn a_loop_over_models_is_answered_in_the_mappers_own_words() {
    let both = of_loop(&[CUSTOMER, ITEMS]);
    assert_eq!(
        both.exact_text().as_deref(),
        Some("Order.includes(:customer, :line_items)")
    );
    let tags = r#"SELECT "tags".* FROM "tags" INNER JOIN "orders_tags" ON "tags"."id" = "orders_tags"."tag_id" WHERE "orders_tags"."order_id" = ?"#;
    let joined = of_loop(&[CUSTOMER, tags]);
    assert_eq!(
        joined.exact_text().as_deref(),
        Some("Order.includes(:customer, :tags)")
    );
    // Loading the association gives other rows, or rows in place of a sum.
    let latest = of_loop(&[format!("{ITEMS} ORDER BY id DESC LIMIT ?").as_str()]);
    assert_eq!(latest.exact, None);
    assert!(latest.text.to_string().contains("ROW_NUMBER"), "{latest:?}");
    let later = of_loop(&[format!("{ITEMS} AND created_at > ?").as_str()]);
    let sum = ITEMS.replace(r#""line_items".*"#, "SUM(price)");
    let sum = of_loop(&[sum.as_str()]);
    let exact = [later, sum].map(|remedy| remedy.exact_text().unwrap_or_default());
    assert!(!exact[0].contains("includes"), "{exact:?}");
    assert!(exact[1].contains("GROUP BY"), "{exact:?}");
}

/// Rows shown nowhere are not loaded to be counted.
#[test]
fn rows_that_are_only_counted_are_counted_at_once() {
    let said = |remedy: &crate::Remedy, part: &str| remedy.text.to_string().contains(part);
    let counted = of_loop(&[NOTES]);
    assert_eq!(
        counted.exact_text().as_deref(),
        Some(
            r#"SELECT "notes"."order_id", COUNT(*) FROM "notes" WHERE "notes"."order_id" IN (?) GROUP BY "notes"."order_id""#
        )
    );
    assert!(said(&counted, "group(:order_id).count"), "{counted:?}");
    assert!(said(&counted, "counter_cache"), "{counted:?}");
    let beside = of_loop(&[CUSTOMER, NOTES]);
    assert_eq!(
        beside.exact_text().as_deref(),
        Some("Order.includes(:customer)")
    );
    assert!(said(&beside, "group(:order_id).count"), "{beside:?}");
    let shown = NOTES.replace("COUNT(*)", r#""notes".*"#);
    let sized = of_loop(&[shown.as_str(), NOTES]);
    assert_eq!(
        sized.exact_text().as_deref(),
        Some("Order.includes(:notes)")
    );
    assert!(said(&sized, "`size`"), "{sized:?}");
}

#[test]
fn reading_a_table_in_batches_is_no_n_plus_one() {
    let next =
        r#"SELECT "users".* FROM "users" WHERE "users"."id" > ? ORDER BY "users"."id" ASC LIMIT ?"#;
    healthy().issuing(next, "app.rb:7", 20, 2.0).check(&[]);
    let of_team = next.replace("WHERE", "WHERE team_id = ? AND");
    healthy()
        .issuing(&of_team, "app.rb:7", 20, 2.0)
        .check(&["n-plus-one"]);
}

#[test]
fn the_first_rows_of_a_sorted_table_need_an_index() {
    let newest = "SELECT * FROM message ORDER BY created_at DESC LIMIT ?";
    let found = |sorts: bool, statement: &str| {
        let step = PlanStep {
            sorts,
            ..full_scan("message", &MESSAGE)
        };
        let run = healthy().issuing(newest, "app.rb:3", 1, 2.0);
        let run = run.issuing(statement, "app.rb:3", 1, 2.0);
        let findings = run.explained(statement, vec![step]).findings();
        let found = findings.iter().find(|it| it.rule == RuleId::MissingIndex);
        found.and_then(|finding| finding.remedy.exact_text())
    };
    let index = "CREATE INDEX message_created_at ON message (created_at)";
    assert_eq!(found(true, newest).as_deref(), Some(index));
    assert_eq!(found(false, newest), None, "an index gives the order");
    let all = newest.replace(" LIMIT ?", "");
    assert_eq!(found(true, &all), None, "all rows are read anyway");
    let some = newest.replace(" ORDER", " WHERE content LIKE ? ORDER");
    assert_eq!(found(true, &some), None, "few rows may be left to sort");
}

/// An index on each column, and conditions out of reach of any index.
#[test]
fn conditions_that_no_index_serves_are_found() {
    let found = |condition: &str, ms: f64, access: Access, by_key_ms: f64| {
        let by_key = "SELECT content FROM message WHERE id = ?";
        let statement = format!("SELECT id FROM message WHERE {condition}");
        let mut step = full_scan("message", &MESSAGE);
        step.access = access;
        step.indexes.extend(MESSAGE.map(|column| IndexColumns {
            name: column.to_owned(),
            columns: vec![column.to_owned()],
        }));
        let run = healthy()
            .issuing(by_key, "app.rb:1", 1, by_key_ms)
            .issuing(&statement, "app.rb:2", 1, ms)
            .explained(&statement, vec![step]);
        let findings = run.findings();
        let found = findings.iter().find(|it| it.rule == RuleId::IndexUnusable);
        found.map(|finding| finding.title.to_string())
    };
    let scanned = |condition: &str, ms: f64| found(condition, ms, Access::FullScan, 0.05);
    assert_eq!(
        scanned("DATE(created_at) = ? LIMIT ?", 2.0).as_deref(),
        Some("no index serves DATE(created_at) on message: 10,000 rows read each time")
    );
    assert_eq!(
        scanned("content LIKE ?", 2.0).as_deref(),
        Some("no index serves content LIKE … on message: 10,000 rows read each time")
    );
    assert_eq!(
        scanned("user_id = ?", 2.0).as_deref(),
        Some("the index on message (user_id) is not used: 10,000 rows read each time")
    );
    assert_eq!(
        scanned("user_id = ? LIMIT ?", 0.1),
        None,
        "a LIMIT ends it early"
    );
    assert_eq!(
        scanned("DATE(now) = ?", 2.0),
        None,
        "no column of the table"
    );
    let indexed = Access::Index("lower_content".to_owned());
    assert_eq!(found("lower(content) = ?", 2.0, indexed, 0.05), None);
}

#[test]
fn a_missing_index_is_added_in_the_apps_words() {
    let digest = "SELECT * FROM message WHERE channel_id = ?";
    let remedy = |mapper: &str, server: &str| {
        let run = healthy()
            .issuing(digest, "app.rb:2", 1, 2.0)
            .explained(digest, vec![full_scan("message", &MESSAGE)])
            .set_to("mapper", mapper)
            .with(|recording| recording.meta.target.database = server.to_owned());
        run.check(&["missing-index"])[0].remedy.clone()
    };
    let check = |mapper: &str, server: &str, part: &str, exact: &str| {
        let remedy = remedy(mapper, server);
        let said = remedy.text.to_string();
        assert!(said.contains(part), "{said}");
        assert_eq!(remedy.exact_text().as_deref(), Some(exact));
    };
    check(
        "ActiveRecord",
        "postgres 15.5",
        "with `disable_ddl_transaction!`: `add_index :message, :channel_id, algorithm: :concurrently`",
        "CREATE INDEX CONCURRENTLY message_channel_id ON message (channel_id)",
    );
    check(
        "Sequel",
        "sqlite",
        "in a migration: `add_index :message, :channel_id`",
        "CREATE INDEX message_channel_id ON message (channel_id)",
    );
    check(
        "",
        "sqlite",
        "add the index; writes to message",
        "CREATE INDEX message_channel_id ON message (channel_id)",
    );
}

/// Such as those with a mark of deletion, which few have.
#[test]
fn rows_that_nearly_all_are_wanted_need_no_index() {
    let found = |digest: &str, rows: u64| {
        let mut step = full_scan("message", &MESSAGE);
        step.columns.push("deleted_at".to_owned());
        let run = healthy().issuing(digest, "app.rb:2", 1, 2.0);
        let run = run.with(|recording| {
            let used = recording.handled.iter_mut().flat_map(|one| &mut one.sql);
            used.for_each(|used| used.rows = rows);
        });
        let findings = run.explained(digest, vec![step]).findings();
        findings.iter().any(|it| it.rule == RuleId::MissingIndex)
    };
    let kept = "SELECT * FROM message WHERE deleted_at IS NULL";
    assert!(!found(kept, 9_500), "of 10,000");
    assert!(found(kept, 500));
    let newest = format!("{kept} ORDER BY created_at DESC LIMIT ?");
    assert!(found(&newest, 9_500), "the order is worth an index");
    let counted = kept.replace('*', "COUNT(*)");
    assert!(found(&counted, 1));
}

/// One row returned says nothing about the rows counted or added up.
#[test]
fn an_aggregate_may_want_most_of_the_rows() {
    let found = |digest: &str, leading: &str| {
        let mut step = full_scan("message", &MESSAGE);
        step.indexes.push(IndexColumns {
            name: "other".to_owned(),
            columns: vec![leading.to_owned()],
        });
        healthy()
            .issuing("SELECT content FROM user WHERE id = ?", "app.rb:1", 1, 0.05)
            .issuing(digest, "app.rb:2", 1, 2.0)
            .explained(digest, vec![step])
            .findings()
    };
    let sum = "SELECT SUM(id) FROM message WHERE user_id = ?";
    let by_user = found(sum, "user_id");
    assert!(by_user.is_empty(), "the planner may be right: {by_user:?}");
    let missing = found(sum, "created_at").remove(0);
    assert_eq!(missing.rule, RuleId::MissingIndex);
    assert_eq!(missing.confidence, Confidence::Medium);
    assert!((missing.gain_share - 1.0 / 4.2).abs() < 0.01, "{missing:?}");
    let rows = found(&sum.replace("SUM(id)", "id"), "created_at").remove(0);
    assert_eq!(rows.confidence, Confidence::High);
    assert!(rows.gain_share > 1.9 / 4.2, "{rows:?}");
    let expression = "SELECT COUNT(*) FROM message WHERE lower(content) = ?";
    let hidden = found(expression, "content").remove(0);
    assert_eq!(hidden.rule, RuleId::IndexUnusable);
    assert_eq!(hidden.confidence, Confidence::Medium);
}

#[test]
fn missing_indexes_merge_into_one() {
    let count = "SELECT COUNT(*) as cnt FROM message WHERE channel_id = ?";
    let page = "SELECT * FROM message WHERE channel_id = ? ORDER BY id DESC LIMIT ? OFFSET ?";
    let run = healthy()
        .issuing(count, "app.rb:200 in get_fetch", 1, 1.0)
        .issuing(page, "app.rb:300 in get_history", 1, 1.0)
        .explained(count, vec![full_scan("message", &MESSAGE)])
        .explained(page, vec![full_scan("message", &MESSAGE)]);
    let findings = run.check(&["missing-index", "count-offset"]);
    assert_eq!(
        findings[0].remedy.exact_text().as_deref(),
        Some("CREATE INDEX message_channel_id_id ON message (channel_id, id)")
    );
    assert!(
        findings[0]
            .title
            .to_string()
            .contains("message (channel_id, id)")
    );
    assert_eq!(findings[0].route, "GET /channel/:id");
    let on_postgres = run.with(|r| r.meta.target.database = "postgresql 15.1".to_owned());
    let exact = on_postgres.findings()[0].remedy.exact_text();
    assert!(
        exact
            .unwrap()
            .starts_with("CREATE INDEX CONCURRENTLY message_channel_id_id ON")
    );
}

#[test]
fn ranges_over_the_primary_key_do_not_hide_it() {
    let page = "SELECT * FROM message WHERE id > ? AND channel_id = ? ORDER BY id DESC LIMIT ?";
    let by_key = |table: &str, columns: &[&str]| PlanStep {
        access: Access::PrimaryKey,
        ..full_scan(table, columns)
    };
    let mut step = by_key("message", &MESSAGE);
    let found = healthy()
        .issuing(page, "app.rb:1", 1, 1.0)
        .explained(page, vec![step.clone()])
        .check(&["missing-index"]);
    assert_eq!(found[0].confidence, Confidence::Medium);
    // By primary key alone is as it should be.
    let by_id = "SELECT * FROM message WHERE id = ? AND channel_id = ?";
    healthy()
        .issuing(by_id, "app.rb:1", 1, 1.0)
        .explained(by_id, vec![step.clone()])
        .check(&[]);
    // Nor does a table reached by its key through a join want one for its other conditions.
    let reached =
        "SELECT * FROM user u JOIN message m ON m.id = u.last_id WHERE u.id = ? AND m.content = ?";
    healthy()
        .issuing(reached, "app.rb:1", 1, 1.0)
        .explained(
            reached,
            vec![
                by_key("user", &["id", "last_id"]),
                by_key("message", &MESSAGE),
            ],
        )
        .check(&[]);
    // A narrow range is no scan.
    step.rows = 12;
    healthy()
        .issuing(page, "app.rb:1", 1, 1.0)
        .explained(page, vec![step])
        .check(&[]);
}

#[test]
fn joins_want_the_second_tables_column() {
    let join =
        "SELECT m.content FROM channel c JOIN message m ON m.channel_id = c.id WHERE c.name = ?";
    let mut first = full_scan("channel", &["id", "name"]);
    first.indexes.push(IndexColumns {
        name: "by_name".to_owned(),
        columns: vec!["name".to_owned()],
    });
    first.access = Access::Index("by_name".to_owned());
    let found = healthy()
        .issuing(join, "app.rb:1", 1, 1.0)
        .explained(join, vec![first.clone(), full_scan("message", &MESSAGE)])
        .check(&["missing-index"]);
    assert!(
        found[0].title.to_string().contains("message (channel_id)"),
        "{}",
        found[0].title
    );
    // An index on either of two joined columns leads to the rows.
    let both = "SELECT m.content FROM channel c JOIN message m ON m.user_id = c.owner_id AND m.channel_id = c.id WHERE c.name = ?";
    first.columns.push("owner_id".to_owned());
    let mut second = full_scan("message", &MESSAGE);
    second.indexes.push(IndexColumns {
        name: "by_channel".to_owned(),
        columns: vec!["channel_id".to_owned()],
    });
    healthy()
        .issuing(both, "app.rb:1", 1, 1.0)
        .explained(both, vec![first, second])
        .check(&[]);
}

/// Rows of several values come in no common order of the next column.
#[test]
fn a_list_of_values_wants_no_order_in_the_index() {
    let exact = |digest: &str| {
        let step = PlanStep {
            sorts: true,
            ..full_scan("message", &MESSAGE)
        };
        let run = healthy()
            .issuing(digest, "app.rb:1", 1, 1.0)
            .explained(digest, vec![step]);
        run.check(&["missing-index"])[0].remedy.exact_text()
    };
    let list = "SELECT * FROM message WHERE channel_id IN (?) ORDER BY id DESC LIMIT ?";
    assert_eq!(
        exact(list).as_deref(),
        Some("CREATE INDEX message_channel_id ON message (channel_id)")
    );
    assert_eq!(
        exact(&list.replace("IN (?)", "= ?")).as_deref(),
        Some("CREATE INDEX message_channel_id_id ON message (channel_id, id)")
    );
    let range = list.replace(" ORDER", " AND created_at > ? ORDER");
    assert_eq!(
        exact(&range).as_deref(),
        Some("CREATE INDEX message_channel_id_created_at ON message (channel_id, created_at)")
    );
}

#[test]
fn small_tables_and_unclear_statements_want_no_index() {
    let small = "SELECT * FROM message WHERE channel_id = ?";
    let mut step = full_scan("message", &MESSAGE);
    step.table_rows = 99;
    healthy()
        .issuing(small, "a", 1, 1.0)
        .explained(small, vec![step])
        .check(&[]);
    for digest in [
        "SELECT * FROM message WHERE channel_id = ? OR user_id = ?",
        "SELECT * FROM message ORDER BY created_at DESC",
        "SELECT * FROM message WHERE nowhere = ?",
        "SELECT * FROM message",
        "SELECT * FROM message a JOIN message b ON a.id = b.id WHERE a.channel_id = ?",
    ] {
        healthy()
            .issuing(digest, "a", 1, 1.0)
            .explained(digest, vec![full_scan("message", &MESSAGE)])
            .check(&[]);
    }
}

/// A table of 150 rows is read nearly as fast as by a key.
#[test]
fn an_index_saves_what_a_lookup_of_the_run_leaves() {
    let digest = "SELECT * FROM message WHERE channel_id = ?";
    let share = |by_key_ms: Option<f64>| {
        let mut step = full_scan("message", &MESSAGE);
        step.table_rows = 150;
        let by_key = "SELECT name FROM user WHERE id = ?";
        let run = healthy()
            .issuing(digest, "app.rb:2", 1, 0.3)
            .explained(digest, vec![step]);
        let run = match by_key_ms {
            Some(ms) => run.issuing(by_key, "app.rb:1", 1, ms),
            None => run,
        };
        run.check(&["missing-index"])[0].gain_share
    };
    let check = |by_key_ms: Option<f64>, saved_ms: f64| {
        let share = share(by_key_ms);
        assert!(
            (share - saved_ms / 4.2).abs() < 0.002,
            "{by_key_ms:?}: {share}"
        );
    };
    // Less than 1 row in 150, which is returned.
    check(Some(0.25), 0.048);
    check(Some(0.03), 0.268);
    check(Some(0.4), 0.0);
    check(None, 0.27);
}

#[test]
fn keywords_are_quoted_in_remedies() {
    let digest = "SELECT * FROM `user` WHERE `key` = ?";
    let found = healthy()
        .with(|r| r.meta.target.database = "mariadb 10.11".to_owned())
        .issuing(digest, "a", 1, 1.0)
        .explained(digest, vec![full_scan("user", &["id", "key"])])
        .check(&["missing-index"]);
    let exact = found[0].remedy.exact_text();
    assert_eq!(
        exact.as_deref(),
        Some("CREATE INDEX user_key ON `user` (`key`)")
    );
}

#[test]
fn the_greatest_gain_comes_first() {
    let findings = healthy()
        .issuing("SELECT a FROM small WHERE id = ?", "app.rb:1", 10, 0.5)
        .issuing("SELECT a FROM large WHERE id = ?", "app.rb:2", 10, 2.0)
        .check(&["n-plus-one", "n-plus-one"]);
    assert!(findings[0].title.to_string().contains("large"));
}

/// Ten requests taking 800 ms in one statement, with or without the GVL, while the app uses
/// `cpu_ms` of CPU.
fn slow_statement(running_ms: f64, cpu_ms: f64) -> Run {
    let sample = |at: u64, cpu: f64| HostSample {
        at: Timestamp::from_monotonic_nanos(START + at * MS),
        processes: vec![ProcessSample {
            role: ProcessRole::App,
            cpu: nanos(cpu),
            ..ProcessSample::default()
        }],
        ..HostSample::default()
    };
    let work = Work {
        sql: 800.0 - running_ms,
        gvl_wait: 10.0,
        ..Work::default()
    };
    Run::new()
        .requests("GET /icons/1.png", 10, work)
        .issuing("SELECT * FROM image WHERE name = ?", "app.rb:200", 1, 800.0)
        .with(|recording| {
            for handled in &mut recording.handled {
                handled.parts.sql_running = nanos(running_ms);
            }
            recording.host = vec![sample(0, 0.0), sample(9_999, cpu_ms)];
        })
}

#[test]
fn a_statement_that_waits_with_the_gvl_is_said() {
    let spoken = |run: Run| {
        run.findings()
            .into_iter()
            .find(|finding| finding.rule == RuleId::GvlInSql)
    };
    let finding = spoken(slow_statement(790.0, 400.0)).expect("a finding");
    assert_eq!(
        finding.title,
        "GET /icons/:file waits 790 ms for the database with the GVL held"
    );
    assert_eq!(
        finding.evidence[0],
        "of 790 ms per request in SQL with the GVL held, at most 5% was on a core, by CPU time of the whole app (10 requests)"
    );
    assert!(
        spoken(slow_statement(790.0, 7_000.0)).is_none(),
        "that is work"
    );
    assert!(
        spoken(slow_statement(10.0, 10.0)).is_none(),
        "the GVL is free"
    );
}

/// Requests locking a row, each in one of `times` milliseconds.
fn locking(digest: &str, times: &[f64]) -> Run {
    let mut run = healthy().with(|r| r.meta.target.database = "mariadb 10.11".to_owned());
    let (digest, site) = (run.text(digest), run.text("app/orders.rb:7 in create"));
    for (handled, time) in run.0.handled.iter_mut().zip(times.iter().cycle()) {
        handled.parts.sql_waiting = nanos(*time);
        handled.sql.push(SqlUse {
            digest,
            site,
            count: 1,
            rows: 1,
            time: nanos(*time),
            gvl_wait: Nanos::ZERO,
        });
    }
    run
}

#[test]
fn statements_that_take_far_longer_than_their_quickest_wait_for_locked_rows() {
    const LOCK: &str = "SELECT * FROM events WHERE id = ? FOR UPDATE";
    let waits = [0.3, 10.0, 20.0, 30.0, 40.0];
    let check = |digest: &str, times: &[f64], expected: bool| {
        let findings = locking(digest, times).findings();
        let found = findings
            .iter()
            .find(|finding| finding.rule == RuleId::RowLock);
        assert_eq!(found.is_some(), expected, "{digest}: {findings:#?}");
        found.map(|finding| finding.title.to_string())
    };
    let title = check(LOCK, &waits, true);
    assert_eq!(
        title.as_deref(),
        Some(
            "GET /channel/:id waits 19.8 ms for a locked row: SELECT … FROM events at app/orders.rb:7"
        )
    );
    check("UPDATE events SET n = ? WHERE id = ?", &waits, true);
    // They never wait.
    check(&format!("{LOCK} SKIP LOCKED"), &waits, false);
    check(&format!("{LOCK} NOWAIT"), &waits, false);
    let on_file = locking(LOCK, &waits).with(|r| r.meta.target.database = "sqlite".to_owned());
    let findings = on_file.findings();
    let mut rules = findings.iter().map(|finding| finding.rule);
    assert!(
        rules.all(|rule| rule != RuleId::RowLock),
        "SQLite has no locks of rows: {findings:#?}"
    );
    // Slow for everybody may be slow by itself, unless the same row is found at once without a
    // lock.
    check(LOCK, &[18.0, 20.0, 22.0], false);
    let all_wait = locking(LOCK, &[18.0, 20.0, 22.0]).issuing(
        "SELECT name FROM events WHERE id = ?",
        "app/events.rb:5",
        1,
        0.2,
    );
    let findings = all_wait.findings();
    let found = findings
        .iter()
        .find(|finding| finding.rule == RuleId::RowLock);
    let evidence = &found.expect("a finding").evidence[0];
    assert!(
        evidence.to_string().contains("0.20 ms without the lock"),
        "{evidence}"
    );
    // A row that is found without a condition, and written once it is locked.
    let counter = locking(
        "SELECT * FROM numbers ORDER BY id ASC LIMIT ? FOR UPDATE",
        &[18.0, 20.0, 22.0],
    )
    .issuing(
        "UPDATE numbers SET last = ? WHERE id = ?",
        "app/n.rb:5",
        1,
        0.2,
    );
    let findings = counter.findings();
    let found = findings
        .iter()
        .find(|finding| finding.rule == RuleId::RowLock);
    let evidence = found.expect("a finding").evidence[0].to_string();
    assert!(
        evidence.contains("0.20 ms for writing to the locked row"),
        "{evidence}"
    );
    // Reads that lock nothing vary with what they read.
    check("SELECT * FROM events WHERE id > ?", &waits, false);
}

#[test]
fn an_index_that_is_walked_in_order_picks_no_rows() {
    const LATEST: &str = "SELECT * FROM message WHERE (channel_id = ?) ORDER BY id DESC LIMIT ?";
    let walked = |digest: &str| {
        let step = PlanStep {
            access: Access::Index("PRIMARY".to_owned()),
            ..full_scan("message", &MESSAGE)
        };
        let run = healthy()
            .issuing(digest, "app.rb:3", 1, 2.0)
            .issuing("SELECT * FROM message WHERE id = ?", "app.rb:5", 1, 0.5)
            .explained(digest, vec![step]);
        let findings = run.findings().into_iter();
        findings
            .filter(|finding| finding.rule == RuleId::MissingIndex)
            .collect::<Vec<_>>()
    };
    let found = walked(LATEST);
    assert_eq!(
        found[0].title,
        "missing index on message (channel_id, id): rows are searched in order"
    );
    assert_eq!(found[0].confidence, Confidence::Medium);
    // Without a LIMIT the index is there for the order, and every row is wanted or filtered anyway.
    assert!(walked("SELECT * FROM message WHERE channel_id = ? ORDER BY id").is_empty());
}

/// PostgreSQL's index without a condition, MySQL's `index` and SQLite's `SCAN … USING INDEX`.
#[test]
fn an_index_that_is_walked_until_the_limit_is_no_full_scan() {
    let newest = "SELECT * FROM message WHERE user_id = ? ORDER BY created_at DESC LIMIT ?";
    let found = |sorts: bool, digest: &str| {
        let step = PlanStep {
            sorts,
            ..full_scan("message", &MESSAGE)
        };
        let run = healthy()
            .issuing(digest, "app.rb:3", 1, 2.0)
            .explained(digest, vec![step]);
        run.check(&["missing-index"]).remove(0)
    };
    let walked = found(false, newest);
    assert_eq!(
        walked.title,
        "missing index on message (user_id, created_at): rows are searched in order"
    );
    assert_eq!(walked.confidence, Confidence::Medium);
    // Half of 2 ms of 4.2, without a lookup for comparison.
    assert!((walked.gain_share - 1.0 / 4.2).abs() < 0.01, "{walked:?}");
    assert_eq!(found(true, newest).confidence, Confidence::High);
    let all = newest.replace(" LIMIT ?", "");
    assert_eq!(found(false, &all).confidence, Confidence::High);
    let unordered = newest.replace(" ORDER BY created_at DESC", "");
    assert_eq!(found(false, &unordered).confidence, Confidence::High);
    // The planner's choice of that index says nothing about the value's type.
    let mut step = full_scan("message", &MESSAGE);
    step.indexes.push(IndexColumns {
        name: "by_user".to_owned(),
        columns: vec!["user_id".to_owned()],
    });
    healthy()
        .issuing(newest, "app.rb:3", 1, 2.0)
        .explained(newest, vec![step])
        .check(&[]);
}

#[test]
fn transactions_of_a_loop_belong_to_what_it_repeats() {
    let run = healthy()
        .issuing(
            "INSERT INTO rows (a) VALUES (?)",
            "app.rb:7 < app.rb:6",
            20,
            0.5,
        )
        .issuing("BEGIN", "app.rb:7 < app.rb:6", 20, 0.2)
        .issuing("COMMIT", "app.rb:7 < app.rb:6", 20, 1.5);
    let findings = run.check(&["n-plus-one"]);
    let title = &findings[0].title;
    assert!(
        title
            .to_string()
            .contains("20 × INSERT INTO rows at app.rb"),
        "{title}"
    );
    assert!(
        findings[0].remedy.text.to_string().contains("insert_all"),
        "{findings:#?}"
    );
    // 2.2 ms of 4, 19 of 20 times.
    assert!(findings[0].gain_share > 0.4, "{findings:#?}");
    // Alone they say nothing.
    healthy().issuing("COMMIT", "app.rb:7", 20, 1.5).check(&[]);
}

/// ActiveRecord sends PostgreSQL an empty statement to check a connection taken from the pool.
#[test]
fn checks_of_the_connection_belong_to_what_a_loop_repeats() {
    let line = "app.rb:7 < app.rb:6";
    let reads = healthy().issuing("SELECT name FROM users WHERE id = ?", line, 20, 0.5);
    let alone = reads.check(&["n-plus-one"])[0].gain_share;
    let reads = healthy().issuing("SELECT name FROM users WHERE id = ?", line, 20, 0.5);
    let findings = reads.issuing("", line, 20, 1.0).check(&["n-plus-one"]);
    let title = findings[0].title.to_string();
    assert!(
        title.contains("users") && !title.contains("more"),
        "{title}"
    );
    assert!(findings[0].gain_share > 2.0 * alone, "{findings:#?}");
    // Alone they say nothing.
    healthy().issuing("", "app.rb:7", 20, 1.0).check(&[]);
}

/// One request in ten repeats a statement; the others are lookups. Without the repeats all are
/// alike, and so is the slowest twentieth.
#[test]
fn a_statement_repeated_by_some_requests_is_removed_from_them() {
    let work = Work {
        running: 0.5,
        sql: 45.0,
        ..Work::default()
    };
    let mut run = Run::new().requests("GET /channel/12", 580, work);
    run.0.meta.load.connections = 5;
    let repeated = run.text("SELECT name FROM user WHERE id = ?");
    let site = run.text("app.rb:131 in block in get_message");
    for handled in run.0.handled.iter_mut().step_by(10) {
        let sql = nanos(450.0);
        handled.end = handled.start + nanos(450.5);
        handled.parts.sql_waiting = sql;
        handled.bursts[1].length = sql;
        handled.sql.push(SqlUse {
            digest: repeated,
            site,
            count: 40,
            rows: 40,
            time: nanos(415.0),
            gvl_wait: Nanos::ZERO,
        });
    }
    let findings = run.findings();
    let finding = &findings[0];
    assert_eq!(finding.rule, RuleId::NPlusOne, "{findings:#?}");
    let gain = finding.gain.expect("a replay");
    assert!(gain.p95.ratio < 0.2, "{gain:?}");
}
