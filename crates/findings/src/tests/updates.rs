//! Needless updates of one row.

use super::costs::{found, profile};
use super::works::{busy, near, of_rule};
use super::*;
use crate::rule_id::RuleId;

/// Two updates of one row at two lines of the app.
fn updating(run: Run, columns: [&str; 2]) -> Run {
    let update = |column: &str| format!("UPDATE users SET {column} = ? WHERE id = ?");
    let [first, second] = columns.map(update);
    run.issuing(&first, "app/web.rb:9", 1, 0.2)
        .issuing(&second, "app/web.rb:10", 1, 0.2)
}

#[test]
fn needless_updates_cost_what_runs_below_their_lines() {
    let run = updating(busy(1.0), ["icon", "name"]);
    let saves = "save /gems/active_record/persistence.rb 5";
    let profile = profile(
        &run,
        &[
            (30, &[saves, "update /srv/app/web.rb 9"]),
            (30, &[saves, "update /srv/app/web.rb 10"]),
            (40, &["show /srv/app/web.rb 20"]),
        ],
    );
    let finding = of_rule(found(&run, &profile), RuleId::SeveralUpdates);
    // Half of what both take: 1.2 ms with the GVL and 0.2 ms in the database.
    near(finding.gain_share, 1.4 / 5.1);
    let by_times = of_rule(run.findings(), RuleId::SeveralUpdates);
    near(by_times.gain_share, 0.2 / 5.1);
}

/// An object mapper saves each change in a new transaction.
#[test]
fn a_needless_update_takes_its_own_transaction_along() {
    let share = |begun_at: [&str; 2], ended_at: [&str; 2]| {
        let mut run = updating(busy(4.0), ["icon", "name"]);
        for (begun, ended) in begun_at.into_iter().zip(ended_at) {
            run = run.issuing("BEGIN", begun, 1, 0.1);
            run = run.issuing("COMMIT", ended, 1, 1.0);
        }
        of_rule(run.findings(), RuleId::SeveralUpdates).gain_share
    };
    let lines = ["app/web.rb:9", "app/web.rb:10"];
    near(share(lines, lines), 1.3 / 8.1);
    // One for both begins with the first statement, and ends where the block does.
    near(share(lines, ["app/web.rb:8"; 2]), 0.2 / 8.1);
}
