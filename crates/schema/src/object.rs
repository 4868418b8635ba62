//! What statements and notices are about: objects by kind and name.

use std::cmp::Ordering;
use std::fmt;

/// An object of a schema, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object {
    /// Kind of the object.
    pub kind: ObjectKind,
    /// Name without quotes, as written by people: `users`, `users.nick`, `app.users.nick`.
    pub name: String,
}

/// Declares the kinds, none without a word.
macro_rules! kinds {
    ($($kind:ident: $word:literal,)+) => {
        /// Kinds of objects in plans, in permissions and in scopes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ObjectKind {
            $(
                #[doc = concat!("`", $word, "`")]
                $kind,
            )+
        }

        impl ObjectKind {
            /// All kinds.
            pub const ALL: &[ObjectKind] = &[$(ObjectKind::$kind),+];

            /// The word in plans, in `--allow` and in documents.
            pub const fn word(self) -> &'static str {
                match self {
                    $(ObjectKind::$kind => $word,)+
                }
            }
        }
    };
}

kinds! {
    Table: "table",
    Column: "column",
    Index: "index",
    View: "view",
    MaterializedView: "materialized view",
    Constraint: "constraint",
    Trigger: "trigger",
    Partition: "partition",
    RowSecurity: "row-security",
    Policy: "policy",
    Type: "type",
    EnumValue: "enum-value",
    Domain: "domain",
    Attribute: "attribute",
    Sequence: "sequence",
    Function: "function",
    Procedure: "procedure",
    Package: "package",
    PackageBody: "package body",
    Event: "event",
    Extension: "extension",
    Schema: "schema",
    Owner: "owner",
    Comment: "comment",
    Privilege: "privilege",
    Role: "role",
    RoleAttribute: "role-attribute",
    RolePrivilege: "role-privilege",
    RoleSetting: "role-setting",
    Membership: "membership",
    SystemVersioning: "system-versioning",
    Engine: "engine",
    Collation: "collation",
    ForeignDataWrapper: "foreign-data-wrapper",
    ForeignTable: "foreign-table",
    ForeignColumnOptions: "foreign-column-options",
    ForeignPartition: "foreign-partition",
    ForeignServer: "foreign-server",
    UserMapping: "user-mapping",
    Language: "language",
    AccessMethod: "access-method",
    TextSearchParser: "text-search-parser",
    TextSearchTemplate: "text-search-template",
    TextSearchDictionary: "text-search-dictionary",
    TextSearchConfiguration: "text-search-configuration",
    TextSearchMapping: "text-search-mapping",
    BaseType: "base-type",
    CompositeType: "composite-type",
    RangeType: "range-type",
    Aggregate: "aggregate",
    OperatorFamily: "operator-family",
    OperatorClass: "operator-class",
    OperatorFamilyMember: "operator-family-member",
    Operator: "operator",
    Cast: "cast",
    Conversion: "conversion",
    Transform: "transform",
    Rule: "rule",
    RuleState: "rule-state",
    Statistics: "statistics",
    StatisticsTarget: "statistics-target",
    ColumnOption: "column-option",
    Cluster: "cluster",
    AttributeComment: "attribute-comment",
    Publication: "publication",
    PublicationTable: "publication-table",
    PublicationSchema: "publication-schema",
    Subscription: "subscription",
    EventTrigger: "event-trigger",
    EventTriggerState: "event-trigger-state",
    SecurityLabel: "security-label",
    ColumnDefault: "column-default",
    TypedTable: "typed-table",
    ColumnStorage: "column-storage",
    ColumnCompression: "column-compression",
    Tablespace: "tablespace",
}

impl fmt::Display for ObjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// By the words.
impl Ord for ObjectKind {
    fn cmp(&self, other: &ObjectKind) -> Ordering {
        self.word().cmp(other.word())
    }
}

impl PartialOrd for ObjectKind {
    fn partial_cmp(&self, other: &ObjectKind) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_word_of_its_own() {
        let mut kinds = ObjectKind::ALL.to_vec();
        kinds.sort_unstable();
        assert!(kinds.is_sorted_by_key(|kind| kind.word()));
        kinds.dedup_by_key(|kind| kind.word());
        assert_eq!(kinds.len(), ObjectKind::ALL.len());
    }

    #[test]
    fn a_kind_is_printed_as_its_word() {
        assert_eq!(ObjectKind::EnumValue.to_string(), "enum-value");
    }
}
