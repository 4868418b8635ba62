//! Privileges granted and revoked by statements.

use crate::mysql::Schema;
use crate::mysql::model::Grant;

/// Takes a statement into the schema.
pub(super) fn fold(schema: &mut Schema, grant: Grant, gives: bool) {
    let mut grants = schema.grants.iter_mut();
    let known = grants.find(|known| known.on == grant.on && known.grantee == grant.grantee);
    match (known, gives) {
        (Some(known), true) => {
            known.privileges.extend(grant.privileges);
            known.is_grantable |= grant.is_grantable;
        }
        (None, true) => schema.grants.push(grant),
        (Some(known), false) => {
            let passing = "GRANT OPTION";
            known.is_grantable &= !grant.is_grantable && !grant.privileges.contains(passing);
            if !grant.is_grantable {
                known
                    .privileges
                    .retain(|name| !grant.privileges.contains(name));
            }
        }
        (None, false) => {}
    }
    let has_any = |grant: &Grant| grant.is_grantable || !grant.privileges.is_empty();
    schema.grants.retain(has_any);
}
