//! The rules by name.

use std::fmt;

macro_rules! rules {
    ($($rule:ident = $name:literal,)*) => {
        /// Rule of a finding.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum RuleId {
            $(#[doc = concat!("`", $name, "`; docs/findings.md describes it.")] $rule,)*
            /// A check of `hakaru doctor`, by name.
            Check(&'static str),
        }

        impl RuleId {
            /// All but the checks of `hakaru doctor`.
            pub const ALL: &[RuleId] = &[$(RuleId::$rule),*];

            /// Returns the rule's name in JSON and documentation.
            pub fn name(self) -> &'static str {
                match self {
                    $(RuleId::$rule => $name,)*
                    RuleId::Check(name) => name,
                }
            }
        }
    };
}

rules! {
    AgentDropped = "agent-dropped",
    AgentMissing = "agent-missing",
    AgentNoGvl = "agent-no-gvl",
    AnswersEqual = "answers-equal",
    CompressionCpu = "compression-cpu",
    CompressionMissing = "compression-missing",
    ConnectionHeld = "connection-held",
    ConnectionPerRequest = "connection-per-request",
    CountOffset = "count-offset",
    CpuOffGvl = "cpu-off-gvl",
    CpuSaturated = "cpu-saturated",
    CpuWait = "cpu-wait",
    DatabaseSettings = "database-settings",
    DevelopmentMode = "development-mode",
    Drifting = "drifting",
    Errors = "errors",
    FdLimit = "fd-limit",
    FewSamples = "few-samples",
    GcShare = "gc-share",
    GeneratorBusy = "generator-busy",
    GvlInSql = "gvl-in-sql",
    HollowAnswers = "hollow-answers",
    HostBusy = "host-busy",
    HotMethod = "hot-method",
    IndexUnusable = "index-unusable",
    JsonShare = "json-share",
    KeepAliveOff = "keep-alive-off",
    LargeBodies = "large-bodies",
    LockWait = "lock-wait",
    Logging = "logging",
    MarshalShare = "marshal-share",
    MemoryGrowth = "memory-growth",
    MemoryLimit = "memory-limit",
    MissingIndex = "missing-index",
    NPlusOne = "n-plus-one",
    PartialsInLoop = "partials-in-loop",
    PoolWait = "pool-wait",
    PreparedStatements = "prepared-statements",
    RowLock = "row-lock",
    RowsExamined = "rows-examined",
    RowsInRuby = "rows-in-ruby",
    SessionShare = "session-share",
    SeveralUpdates = "several-updates",
    Sleep = "sleep",
    SlowHttp = "slow-http",
    StaticFiles = "static-files",
    StoreCalls = "store-calls",
    Subprocess = "subprocess",
    TemplateShare = "template-share",
    Threads = "threads",
    TransactionOpen = "transaction-open",
    Wait = "wait",
    WarmingUp = "warming-up",
    WideColumns = "wide-columns",
    Workers = "workers",
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_documented() {
        let documented = include_str!("../../../docs/findings.md");
        for rule in RuleId::ALL {
            let name = format!("`{rule}`");
            assert!(documented.contains(&name), "docs/findings.md lacks {name}");
        }
    }
}
