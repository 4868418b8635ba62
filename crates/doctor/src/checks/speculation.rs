//! Checks of speculation mitigations slowing a process down, by seccomp or by `prctl`.

use words::{phrase, text};

use crate::boot::{self, SPECTRE_V2_USER, STORE_BYPASS};
use crate::check::{Area, Check, Cost, Found, Level, Look, Needs, Safety};
use crate::snapshot::{Factor, Snapshot};

/// Lower end of a factor's interval above which the factor is no accident of two samples.
const CERTAIN: f64 = 1.02;

/// The checks.
pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "cpu.store-bypass-mitigated",
        area: Area::Cpu,
        title: phrase!("the process runs with the mitigation of speculative store bypass"),
        why: phrase!(
            "a load must wait for every store before it; interpreters store and load their stack all the time"
        ),
        source: "https://docs.kernel.org/userspace-api/spec_ctrl.html",
        look: Look::Whole(store_bypass),
    },
    Check {
        id: "cpu.indirect-branch-mitigated",
        area: Area::Cpu,
        title: phrase!("the process runs with indirect branch speculation switched off"),
        why: phrase!(
            "an interpreter jumps to each instruction by an indirect branch, which is then not predicted"
        ),
        source: "https://docs.kernel.org/userspace-api/spec_ctrl.html",
        look: Look::Whole(indirect_branch),
    },
    Check {
        id: "cpu.seccomp-mitigates",
        area: Area::Cpu,
        title: phrase!("this kernel mitigates speculation in every process under a seccomp filter"),
        why: phrase!(
            "containers run under such a filter: the same code is slower inside than outside"
        ),
        source: "https://git.kernel.org/torvalds/c/2f46993d83ff (Linux 5.16)",
        look: Look::Whole(seccomp_mitigates),
    },
    Check {
        id: "cpu.store-bypass-everywhere",
        area: Area::Cpu,
        title: phrase!("speculative store bypass is switched off for all processes"),
        why: phrase!(
            "a load must wait for every store before it, in every program of this machine"
        ),
        source: "https://docs.kernel.org/admin-guide/kernel-parameters.html (spec_store_bypass_disable)",
        look: Look::Whole(store_bypass_everywhere),
    },
    Check {
        id: "cpu.stibp-forced",
        area: Area::Cpu,
        title: phrase!("the predictors of sibling threads are separated for all processes"),
        why: phrase!("indirect branches are predicted worse while both threads of a core work"),
        source: "https://docs.kernel.org/admin-guide/hw-vuln/spectre.html",
        look: Look::Whole(|s| {
            let text = s.machine.vulnerabilities.get("spectre_v2")?;
            let boot = parameter(s, SPECTRE_V2_USER).unwrap_or_else(|| "auto".to_owned());
            text.contains("STIBP: forced").then(|| {
                Found::new(Level::Medium, format!("spectre_v2 = {text}"))
                    .change(
                        text!("boot with {parameter}", parameter = "spectre_v2_user=prctl"),
                        text!(
                            "boot with {parameter}",
                            parameter = format!("spectre_v2_user={boot}")
                        ),
                    )
                    .needs(Needs::Reboot)
                    .safety(Safety::Security)
            })
        }),
    },
    Check {
        id: "cpu.filter-expensive",
        area: Area::Cpu,
        title: phrase!("system calls pass many seccomp filters"),
        why: phrase!("each system call runs through the rules of each filter"),
        source: "https://github.com/awslabs/amazon-eks-ami/issues/1430 (idle CPU × 10 by old libseccomp)",
        look: Look::Whole(filter_expensive),
    },
];

fn measured(s: &Snapshot) -> Option<Factor> {
    s.measures.ruby_mitigated.or(s.measures.mitigated)
}

/// Returns the finding graded by the measured cost of the mitigations; a process with permanent
/// mitigations offers no comparison.
fn graded(s: &Snapshot, evidence: String) -> Found {
    match measured(s).filter(|factor| factor.low > CERTAIN) {
        Some(factor) if factor.median >= 1.1 => {
            Found::new(Level::High, evidence).cost(Cost::Slower(factor))
        }
        Some(factor) => Found::new(Level::Medium, evidence).cost(Cost::Slower(factor)),
        None => Found::new(Level::Medium, evidence),
    }
}

fn container_change(found: Found, s: &Snapshot) -> Found {
    let found = match s.process.seccomp {
        Some(2) => found.change(
            phrase!("runc 1.2.0 or later, or crun, as the container's runtime; its filters are installed with SPEC_ALLOW"),
            phrase!("the runtime as before"),
        ),
        _ => found.change(
            phrase!("start the app without the program that calls prctl(PR_SET_SPECULATION_CTRL) before it"),
            phrase!("start it as before"),
        ),
    };
    found.needs(Needs::Restart).safety(Safety::Security)
}

fn store_bypass(s: &Snapshot) -> Option<Found> {
    let text = s.process.store_bypass.as_deref()?;
    matches!(text, "thread mitigated" | "thread force mitigated").then(|| {
        let found = graded(s, format!("Speculation_Store_Bypass = {text}"));
        container_change(with_seccomp(found, s), s)
    })
}

fn indirect_branch(s: &Snapshot) -> Option<Found> {
    let text = s.process.indirect_branch.as_deref()?;
    text.starts_with("conditional").then_some(())?;
    text.ends_with("disabled").then(|| {
        let found = graded(s, format!("SpeculationIndirectBranch = {text}"));
        container_change(with_seccomp(found, s), s)
    })
}

fn with_seccomp(found: Found, s: &Snapshot) -> Found {
    match s.process.seccomp {
        Some(mode) => found.evidence(format!("Seccomp = {mode}")),
        None => found,
    }
}

fn seccomp_mitigates(s: &Snapshot) -> Option<Found> {
    let text = s.machine.vulnerabilities.get("spec_store_bypass")?;
    text.contains("prctl and seccomp").then_some(())?;
    let factor = s.measures.filtered.filter(|factor| factor.low > CERTAIN);
    let inside = s.process.seccomp == Some(2);
    let level = match (factor, inside) {
        (Some(factor), true) if factor.median >= 1.1 => Level::High,
        (Some(_), _) | (None, true) => Level::Medium,
        (None, false) => Level::Low,
    };
    let boot = parameter(s, STORE_BYPASS).unwrap_or_else(|| "auto".to_owned());
    let found = Found::new(level, format!("spec_store_bypass = {text}"))
        .evidence(text!("kernel {kernel}", kernel = s.machine.kernel.as_deref().unwrap_or("?")))
        .change(
            phrase!("boot with spec_store_bypass_disable=prctl spectre_v2_user=prctl, the default since Linux 5.16"),
            text!("boot with {parameter}", parameter = format!("spec_store_bypass_disable={boot}")),
        )
        .needs(Needs::Reboot)
        .safety(Safety::Security);
    Some(match factor {
        Some(factor) => found.cost(Cost::Slower(factor)),
        None => found,
    })
}

fn store_bypass_everywhere(s: &Snapshot) -> Option<Found> {
    let text = s.machine.vulnerabilities.get("spec_store_bypass")?;
    let forced = text == "Mitigation: Speculative Store Bypass disabled";
    let boot = parameter(s, STORE_BYPASS).unwrap_or_else(|| "auto".to_owned());
    forced.then(|| {
        Found::new(Level::Medium, format!("spec_store_bypass = {text}"))
            .change(
                text!(
                    "boot with {parameter}",
                    parameter = "spec_store_bypass_disable=prctl"
                ),
                text!(
                    "boot with {parameter}",
                    parameter = format!("spec_store_bypass_disable={boot}")
                ),
            )
            .needs(Needs::Reboot)
            .safety(Safety::Security)
    })
}

fn filter_expensive(s: &Snapshot) -> Option<Found> {
    const MANY: u32 = 4;
    let filters = s.process.seccomp_filters?;
    (filters >= MANY).then(|| {
        let found = Found::new(Level::Low, format!("Seccomp_filters = {filters}")).change(
            phrase!("one filter: do not nest container engines, sandboxes and service managers that each install one"),
            phrase!("as before"),
        );
        match s.measures.filter_syscall_ns {
            Some(ns) => found.cost(Cost::Each {
                ns,
                event: phrase!("system call"),
            }),
            None => found,
        }
    })
}

/// The value of a boot parameter.
fn parameter(s: &Snapshot, name: &str) -> Option<String> {
    boot::value(s.machine.boot.as_deref()?, name)
}
