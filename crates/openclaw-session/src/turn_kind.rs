//! The kinds of turns, and which of them write fallback state, probe the primary and notify (S-3.2, S-3.3, S-6.3b, S-10.5, S2).

/// What started a run, as far as session state is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnKind {
    /// A scheduled job; it has an entry of its own.
    Cron,
    /// A message that waited for an earlier turn to end.
    FollowUp,
    /// A heartbeat that runs as a normal turn.
    Heartbeat,
    /// A heartbeat on a model of its own.
    HeartbeatOnModel,
    /// A message that carries a model directive.
    ModelDirective,
    /// A person's message.
    Normal,
    /// A run with a model given for this run alone.
    OneOff,
    /// Work between sessions that must leave what the person sees alone; see [`preserves_user_state`].
    StatePreserving,
}

/// What a turn may do to the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnRights {
    /// It writes a fallback choice before the attempt (S-3.2, S2).
    pub persists_fallback: bool,
    /// It may be a probe of the primary (S-6.3b).
    pub probes_primary: bool,
    /// It records and sends fallback notices (S-10.5).
    pub notifies: bool,
}

#[rustfmt::skip]
const RIGHTS: &[(TurnKind, TurnRights)] = &[
    (TurnKind::Cron,             rights(false, false, false)),
    (TurnKind::FollowUp,         rights(false, true,  false)),
    (TurnKind::Heartbeat,        rights(true,  true,  true)),
    (TurnKind::HeartbeatOnModel, rights(false, false, false)),
    (TurnKind::ModelDirective,   rights(true,  false, true)),
    (TurnKind::Normal,           rights(true,  true,  true)),
    (TurnKind::OneOff,           rights(false, false, false)),
    (TurnKind::StatePreserving,  rights(false, false, false)),
];

const fn rights(persists_fallback: bool, probes_primary: bool, notifies: bool) -> TurnRights {
    TurnRights {
        persists_fallback,
        probes_primary,
        notifies,
    }
}

impl TurnKind {
    /// What this kind of turn may do.
    pub fn rights(self) -> TurnRights {
        RIGHTS[self as usize].1
    }

    /// Whether the profile it starts with is remembered as the session's pin (S-5.3a).
    ///
    /// A model given for one run alone says nothing about the session, and its provider may be another one: a pin
    /// that does not fit it must survive (R5).
    pub fn remembers_profile(self) -> bool {
        match self {
            Self::Cron | Self::FollowUp | Self::Heartbeat | Self::ModelDirective | Self::Normal => true,
            Self::HeartbeatOnModel | Self::OneOff | Self::StatePreserving => false,
        }
    }

    /// Whether the model that answered is remembered as the session's last one (S-11.4).
    pub fn records_answer(self) -> bool {
        match self {
            Self::Cron | Self::FollowUp | Self::ModelDirective | Self::Normal | Self::OneOff => true,
            Self::Heartbeat | Self::HeartbeatOnModel | Self::StatePreserving => false,
        }
    }
}

/// Tools whose messages between sessions must not touch what a person sees of theirs (S-3.3 item 4).
const STATE_PRESERVING_TOOLS: &[&str] = &[
    "agent_harness_task",
    "image_generate",
    "music_generate",
    "subagent_announce",
    "subagent_interrupted_resume",
    "video_generate",
];

/// Whether a message between sessions that came from this tool makes its turn
/// [`StatePreserving`](TurnKind::StatePreserving).
pub fn preserves_user_state(source_tool: &str) -> bool {
    STATE_PRESERVING_TOOLS.contains(&source_tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_at_its_own_row() {
        for (index, (kind, rights)) in RIGHTS.iter().enumerate() {
            assert_eq!(*kind as usize, index);
            assert_eq!(kind.rights(), *rights);
        }
        assert_eq!(RIGHTS.len(), TurnKind::StatePreserving as usize + 1);
    }

    #[test]
    fn s_3_2_and_s_6_3b_and_s_10_5_who_may_do_what() {
        let shown = |kind: TurnKind| {
            let TurnRights {
                persists_fallback,
                probes_primary,
                notifies,
            } = kind.rights();
            let all = [
                (persists_fallback, 'w'),
                (probes_primary, 'p'),
                (notifies, 'n'),
                (kind.records_answer(), 'a'),
            ];
            all.into_iter()
                .filter(|(may, _)| *may)
                .map(|(_, letter)| letter)
                .collect::<String>()
        };
        #[rustfmt::skip]
        let rows = [
            (TurnKind::Cron,             "a",    "S-3.2: an entry of its own"),
            (TurnKind::FollowUp,         "pa",   "S-3.2, S-10.5"),
            (TurnKind::Heartbeat,        "wpn",  "S-2.1 row H2, S-11.4"),
            (TurnKind::HeartbeatOnModel, "",     "S-2.5, S2, S-6.3b, S-11.4"),
            (TurnKind::ModelDirective,   "wna",  "S-6.3b"),
            (TurnKind::Normal,           "wpna", "S-3.1"),
            (TurnKind::OneOff,           "a",    "S-3.2, S-6.3b, S-10.5"),
            (TurnKind::StatePreserving,  "",     "S-3.3 item 4, S-6.7a, S-10.5, S-11.4"),
        ];
        for (kind, may, why) in rows {
            assert_eq!(shown(kind), may, "{kind:?}: {why}");
        }
    }

    #[test]
    fn s2_a_heartbeat_on_its_own_model_leaves_no_trace() {
        assert_eq!(TurnKind::HeartbeatOnModel.rights(), rights(false, false, false));
        assert_eq!(TurnKind::Heartbeat.rights(), TurnKind::Normal.rights());
    }

    #[test]
    fn s_3_3_tools_that_preserve_state() {
        assert!(preserves_user_state("subagent_announce"));
        assert!(!preserves_user_state("message"));
    }
}
