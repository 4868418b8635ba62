//! Locks taken by statements, by the server's names.

use crate::Hazard;

/// Nobody else reads or writes the table meanwhile.
pub(crate) const ACCESS_EXCLUSIVE: Hazard = Hazard::Lock("ACCESS EXCLUSIVE");
/// Writers wait meanwhile.
pub(crate) const SHARE: Hazard = Hazard::Lock("SHARE");
/// Writers of both tables wait meanwhile.
pub(crate) const SHARE_ROW_EXCLUSIVE: Hazard = Hazard::Lock("SHARE ROW EXCLUSIVE");
/// Only other changes of the schema wait.
pub(crate) const SHARE_UPDATE_EXCLUSIVE: Hazard = Hazard::Lock("SHARE UPDATE EXCLUSIVE");
