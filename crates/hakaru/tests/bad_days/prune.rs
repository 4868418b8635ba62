//! Runs are removed on request, and never otherwise.

use crate::support::{HELLO, Project};

#[test]
fn runs_go_only_after_a_yes() {
    let project = Project::new(HELLO);
    for run in 1..=3 {
        project.run().check(0, &[&format!("HAKARU RUN {run}")]);
    }
    let asked = project.end(&["prune", "--keep", "1"]);
    asked.check(
        2,
        &["2 runs would go", "1–2", "nothing was removed", "--yes"],
    );
    project
        .end(&["prune"])
        .check(2, &["--keep", "--older-than"]);
    project
        .end(&["prune", "9", "--yes"])
        .check(2, &["there is no run 9", "hakaru log"]);
    project
        .end(&["prune", "--older-than", "1d", "--yes"])
        .check(0, &["nothing was removed"]);
    project
        .end(&["prune", "1", "2", "--yes"])
        .check(0, &["removed 2 runs and "]);
    project.end(&["report", "1"]).check(1, &["no run 1 in"]);
    project.end(&["report"]).check(0, &["HAKARU RUN 3"]);
}
