//! The conformance suite: what each engine behind [`SessionStore`] must do.

pub(crate) mod fixtures;
mod tests;

use super::SessionStore;

/// Calls a macro with an expression and the names of all cases.
macro_rules! with_cases {
    ($call:ident, $engine:expr) => {
        $call!($engine;
            a_missing_session_is_none,
            what_was_stored_is_loaded,
            a_stale_expectation_stores_nothing_and_shows_what_is_there,
            an_update_that_wants_nothing_writes_nothing,
            an_update_repeats_its_fold_when_another_writer_was_faster,
            sessions_do_not_meet,
            the_list_starts_with_the_last_active,
            an_enqueued_rollback_is_seen_by_the_next_load,
            an_enqueued_rollback_of_nothing_is_harmless,
            hazard_2_a_choice_during_the_attempt_survives_its_failure,
            hazard_2_a_choice_during_the_attempt_survives_the_next_candidate,
            s_3_9_a_success_leaves_the_override_in_place,
            s_4_7_and_hazard_13_a_failed_walk_leads_back_to_the_fallback_before,
            s_4_8_a_skipped_write_leaves_nothing_to_undo,
            hazard_3_a_choice_during_the_attempt_survives_its_success,
            hazard_5_a_late_rollback_does_not_land_in_a_new_session,
            hazard_6_a_second_run_keeps_its_own_fallback,
        );
    };
}
#[cfg(test)]
pub(super) use {tests::*, with_cases};

/// Runs every case of the suite on an engine; `open` gives an empty store, once for each case.
///
/// # Panics
/// At the first case that the engine does not pass.
pub async fn check<S: SessionStore>(mut open: impl FnMut() -> S) {
    macro_rules! run_each {
        ($open:expr; $($case:ident,)*) => {
            $(tests::$case(&$open).await;)*
        };
    }
    with_cases!(run_each, open());
}
