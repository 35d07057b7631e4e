//! Does what a command says, in one compare-and-set, and tells what became of it.

use openclaw_chain::RunKind;
use openclaw_classify::error_chain;
use openclaw_ids::{AgentId, ModelRef, SessionKey};
use openclaw_runner::{Clock, SystemClock};
use openclaw_session::{
    Command, ModelArgument, Reset, SessionEntry, SessionStore, UserSelection, apply_user_selection, reset,
    update,
};

use super::super::error::ApiError;
use super::super::model_choice::{Choice, ChoiceError};
use super::super::selection::AskError;
use super::super::{RequestContext, models};
use super::replies;
use crate::agents::Agent;
use crate::report::{ChainQuery, ChainReport};
use crate::state::AgentSnapshot;

/// The session that a command is about.
pub(super) struct Session<'a> {
    pub(super) context: &'a RequestContext,
    pub(super) agent: &'a Agent,
    pub(super) id: &'a AgentId,
    pub(super) key: &'a SessionKey,
}

impl Session<'_> {
    /// Does it and says in a text what became of it.
    pub(super) async fn perform(&self, command: &Command) -> Result<String, ApiError> {
        match command {
            Command::Model => {
                let model = self.lines().await?.into_iter().next().unwrap_or_default();
                Ok(format!("{model}\n\n{}", replies::HOW))
            }
            Command::ModelDefault => {
                self.select(&UserSelection::default_model()).await?;
                Ok(replies::back_to(&self.configured()))
            }
            Command::ModelList => Ok(replies::models(&models::callable(self.context, self.id))),
            Command::ModelSet(typed) => match self.named(typed) {
                Ok(Choice { model, profile }) => {
                    let text = replies::chosen(&model, profile.as_ref());
                    self.select(&UserSelection::model(model, profile)).await?;
                    Ok(text)
                }
                Err(problem) => Ok(problem),
            },
            Command::New(typed) => match typed.as_ref().map(|typed| self.named(typed)) {
                Some(Err(problem)) => Ok(problem),
                Some(Ok(named)) => self.start_over(Some(named)).await,
                None => self.start_over(None).await,
            },
            Command::Reset => self.start_over(None).await,
            Command::Status => Ok(self.lines().await?.join("\n")),
        }
    }

    /// The model of a session that chose none.
    fn configured(&self) -> ModelRef {
        self.context.generation.resolver.agent_primary(self.id)
    }

    /// The model and credential that were typed; the text says what is wrong with them.
    fn named(&self, typed: &ModelArgument) -> Result<Choice, String> {
        Choice::find(self.context, self.id, self.agent, typed).map_err(|error| match error {
            ChoiceError::Model(AskError::UnknownModel { model }) => replies::no_model(&model),
            other => format!("⚠️ {other}"),
        })
    }

    async fn select(&self, selection: &UserSelection) -> Result<(), ApiError> {
        self.change(|entry, configured| apply_user_selection(entry, selection, configured, SystemClock.now()))
            .await
    }

    async fn start_over(&self, named: Option<Choice>) -> Result<String, ApiError> {
        let text = replies::started_over(named.as_ref().map(|choice| &choice.model));
        let selection = named.map(|Choice { model, profile }| UserSelection::model(model, profile));
        let id = self.context.process.ids.next_session();
        self.change(|entry, configured| {
            let now = SystemClock.now();
            let next = reset(entry, id.clone(), &Reset::NewSession, now);
            let chosen = selection
                .as_ref()
                .and_then(|selection| apply_user_selection(&next, selection, configured, now));
            let mut next = chosen.unwrap_or(next);
            // Nothing runs in a conversation that begins.
            next.live_model_switch_pending = false;
            Some(next)
        })
        .await?;
        Ok(text)
    }

    /// Changes the session, which begins now when there is none.
    async fn change(
        &self,
        mut fold: impl FnMut(&SessionEntry, &ModelRef) -> Option<SessionEntry>,
    ) -> Result<(), ApiError> {
        let configured = self.configured();
        let fresh = self.fresh();
        let stored = update(&*self.agent.sessions, self.key, |entry| {
            (fold(entry.unwrap_or(&fresh), &configured), ())
        });
        stored.await.map_err(|error| unusable(&error))
    }

    fn fresh(&self) -> SessionEntry {
        SessionEntry::new(self.context.process.ids.next_session(), SystemClock.now())
    }

    /// What the session stands for, what answers in it, and what rests.
    async fn lines(&self) -> Result<Vec<String>, ApiError> {
        let stored = self.agent.sessions.load(self.key).await;
        let stored = stored.map_err(|error| unusable(&error))?;
        let entry = stored.map_or_else(|| self.fresh(), |stored| stored.entry);
        let look = AgentSnapshot::at(self.id, self.agent, Vec::new());
        let generation = &self.context.generation;
        let asking = ChainQuery {
            run: RunKind::Turn,
            session: Some((self.key, &entry)),
        };
        let now = SystemClock.now();
        let chain = ChainReport::of(&generation.installation(), &look.state(), asking, now);
        let fallbacks = generation.resolver.configured_chain(self.id);
        Ok(replies::status(
            &entry,
            &self.configured(),
            fallbacks.get(1..).unwrap_or_default(),
            &chain,
            now,
        ))
    }
}

fn unusable(error: &(dyn std::error::Error + 'static)) -> ApiError {
    tracing::warn!(
        error = error_chain::line(error),
        "a command could not use its session"
    );
    ApiError::state()
}
