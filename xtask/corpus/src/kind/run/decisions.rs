//! The decisions that change recorded runs.

use crate::kind::Decision;

pub(super) const DECISIONS: &[Decision] = &[];
