//! The simulated client call: one attempt against the world.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use jiff::Timestamp;
use openclaw_auth_store::MemoryAuthStore;
use openclaw_classify::{Failure, Phase};
use openclaw_ids::SessionKey;
use openclaw_runner::{Attempt, AttemptCall, Judgement, Rejection, RejectionKind, Repair};
use openclaw_session::{MemorySessionStore, Progress};

use crate::faults::provider::{Flaw, ProviderFault};
use crate::play::observed_stores::note;
use crate::random::SeededRandom;
use crate::setup::key_number;
use crate::time::{at, span};
use crate::trace::{Call, CallOutcome, Event, Kind};
use crate::world::World;
use crate::world::logins::refreshing::{NoToken, Process};

/// What an attempt answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Whole,
    /// Breaks off after its first content.
    Cut,
    /// Of no use; kept for the end of the chain in some runs.
    Empty,
}

/// Makes the attempts of one run.
pub(crate) struct Caller {
    pub(crate) world: Arc<World>,
    pub(crate) agent: usize,
    pub(crate) ahead: i64,
    pub(crate) run: String,
    pub(crate) random: SeededRandom,
    pub(crate) calls: AtomicUsize,
    pub(crate) visible: AtomicBool,
    /// What its process refreshes logins with, and the agent's credentials.
    pub(crate) logins: Arc<Process>,
    pub(crate) store: Arc<MemoryAuthStore>,
    /// Where a person picks this model during the first call.
    pub(crate) pick: Option<Pick>,
}

/// A person picks another model while the run is busy.
pub(crate) struct Pick {
    pub(crate) sessions: Arc<MemorySessionStore>,
    pub(crate) key: SessionKey,
    pub(crate) model: String,
    /// Whether they did.
    pub(crate) done: Arc<AtomicBool>,
}

/// What the provider makes of a call's token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Good,
    Refused,
}

impl Caller {
    fn now(&self) -> Timestamp {
        at(self.world.now() + self.ahead)
    }

    /// Gets a token that can be sent, refreshed where that is due.
    async fn token(&self, call: &AttemptCall) -> Result<Token, ProviderFault> {
        let Some(profile) = &call.profile else {
            return Ok(Token::Good);
        };
        let ready = self.logins.ready(&self.store, profile, || self.now()).await;
        match ready {
            Ok(None) => Ok(Token::Good),
            Ok(Some(login)) => Ok(
                if self.world.logins.sent(login.access.as_ref(), self.world.now()) {
                    Token::Good
                } else {
                    Token::Refused
                },
            ),
            Err(NoToken::NeedsLogin) => Err(ProviderFault::Revoked),
            Err(NoToken::NotNow) => Err(ProviderFault::BadLogin),
        }
    }
}

/// The failure of a call that had no token to send.
fn no_token(trouble: ProviderFault) -> Failure {
    let code = if trouble == ProviderFault::Revoked {
        "invalid_grant"
    } else {
        "token_expired"
    };
    Failure {
        code: Some(code.to_owned()),
        message: Some("OAuth token refresh failed".to_owned()),
        phase: Some(Phase::BeforeRequest),
        ..Failure::default()
    }
}

/// Ends a call that is dropped.
struct InFlight<'a> {
    caller: &'a Caller,
    provider: String,
    index: usize,
    is_probe: bool,
    done: bool,
}

impl InFlight<'_> {
    fn end(&mut self, fate: CallOutcome) {
        self.done = true;
        let (world, agent, index) = (&self.caller.world, self.caller.agent, self.index);
        if self.is_probe {
            world.probe_ends(agent, &self.provider, &self.caller.run);
        }
        if fate != CallOutcome::Answered {
            world.unanswered(agent, &self.provider);
        }
        world.count(match fate {
            CallOutcome::Answered => "answered",
            CallOutcome::Dropped => "dropped",
            CallOutcome::Flawed(_) => "flawed",
            CallOutcome::Troubled(_) => "failed",
        });
        let now = world.now();
        note(|trace| {
            trace.calls[index].ended = Some(now);
            trace.calls[index].fate = fate;
            trace.events.push(Event::Ended(index));
        });
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if !self.done {
            self.end(CallOutcome::Dropped);
        }
    }
}

impl Attempt for Caller {
    type Output = Answer;

    async fn attempt(&self, call: AttemptCall) -> Result<Answer, Failure> {
        let index = self.calls.fetch_add(1, Ordering::Relaxed);
        let provider = call.candidate.provider().to_string();
        let mut is_probe = false;
        note(|trace| {
            // The record of a probe comes right before its call.
            is_probe = trace.events.iter().rev().find_map(|event| match event {
                Event::DecisionEvent(decided) => {
                    Some(decided.kind == Kind::Probed && decided.candidate + 1 == call.position)
                }
                Event::Called(_) => Some(false),
                Event::Again
                | Event::Ended(_)
                | Event::Leased(..)
                | Event::Lost(_)
                | Event::Redirected
                | Event::Rotated
                | Event::Wrote(..) => None,
            }) == Some(true);
        });
        let profile = call.profile.as_ref().map(ToString::to_string);
        let other_probes = if is_probe {
            self.world
                .probe_begins(self.agent, &provider, profile.clone(), &self.run)
        } else {
            0
        };
        let began = self.world.now();
        note(|trace| {
            if trace.chain.len() < call.position {
                // A person's choice outside the chain comes at its end.
                trace.chain.push(self.world.setup.candidate(&call.candidate));
            }
            trace.calls.push(Call {
                candidate: call.position - 1,
                profile,
                began,
                ended: None,
                fate: CallOutcome::Dropped,
                is_probe,
                other_probes,
                view: Arc::clone(&trace.view),
            });
            trace.events.push(Event::Called(index));
        });
        let mut in_flight = InFlight {
            caller: self,
            provider: provider.clone(),
            index,
            is_probe,
            done: false,
        };
        let token = match self.token(&call).await {
            Ok(token) => token,
            Err(trouble) => {
                in_flight.end(CallOutcome::Troubled(trouble));
                return Err(no_token(trouble));
            }
        };
        let key = call.profile.as_ref().and_then(|id| key_number(id.as_str()));
        let number = u64::try_from(index).unwrap_or(0);
        let mut random = SeededRandom::of(self.random.clone().next(), number);
        let drawn = self
            .world
            .draw(&provider, call.candidate.model().as_str(), key, &mut random);
        if let Some(pick) = self.pick.as_ref().filter(|_| index == 0) {
            tokio::time::sleep(span(drawn.takes / 2)).await;
            crate::play::session::pick(&pick.sessions, &pick.key, &pick.model, None, self.now()).await;
            pick.done.store(true, Ordering::Relaxed);
        }
        tokio::time::sleep(span(drawn.takes)).await;
        let fate = match (drawn.fate, token) {
            (CallOutcome::Answered, Token::Refused) => CallOutcome::Troubled(ProviderFault::BadLogin),
            (fate, Token::Good | Token::Refused) => fate,
        };
        in_flight.end(fate);
        match fate {
            CallOutcome::Answered if drawn.cut => Ok(Answer::Cut),
            CallOutcome::Answered | CallOutcome::Dropped => Ok(Answer::Whole),
            CallOutcome::Flawed(Flaw::Empty) => Ok(Answer::Empty),
            CallOutcome::Flawed(flaw) => Err(flaw.failure()),
            CallOutcome::Troubled(trouble) => {
                self.visible.store(drawn.visible, Ordering::Relaxed);
                let reset = at(drawn.reset + self.ahead);
                Err(trouble.failure(reset, drawn.strength, self.now()))
            }
        }
    }

    fn classify_result(&self, output: &Answer, _call: &AttemptCall) -> Judgement {
        match output {
            Answer::Cut | Answer::Whole => Judgement::Accepted,
            Answer::Empty => Judgement::Rejected(Rejection {
                failure: Flaw::Empty.failure(),
                kind: RejectionKind::Useless,
                preserve: self.run.ends_with('3').then_some(0),
            }),
        }
    }

    fn repair_format(&self, _call: &AttemptCall, _failure: &Failure) -> Repair {
        if self.run.ends_with('7') {
            Repair::Done
        } else {
            Repair::None
        }
    }

    fn progress(&self) -> Progress {
        if self.visible.swap(false, Ordering::Relaxed) {
            Progress::Visible
        } else {
            Progress::Clean
        }
    }
}
