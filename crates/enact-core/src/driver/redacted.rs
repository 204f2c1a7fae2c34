//! What keeps secrets out of a run: nothing passes the door with one in it.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde_json::Value;

use super::effects::{Acted, Answered, Asking, Doing, Durability, Effect, Effects, Stopped};
use crate::error::{Error, ErrorKind};
use crate::model::Secrets;
use crate::react::{CallCheck, ToolCall, Verdict};
use crate::run::{Call, Event, Record, Run, redacted_tools};
use crate::signature::Values;
use crate::tool::ToolSpec;

/// Keeps secrets out of what is written down, and of what models, tools and checks give.
///
/// An engine that journals belongs between two of them: the inner one redacts what it journals, the
/// outer one what it is asked to append. [`Call::through`](crate::Call::through) places it there.
pub struct Redacted<E> {
    inner: E,
    secrets: Secrets,
}

impl<E: Effects> Redacted<E> {
    /// Sets the secrets to keep out.
    pub fn new(inner: E, secrets: Secrets) -> Self {
        Self { inner, secrets }
    }
}

impl<E: Effects> Effects for Redacted<E> {
    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        durability: Durability,
    ) -> Effect<'a, Vec<Record>> {
        Box::pin(async move {
            let redacted = records.into_iter().map(|record| {
                let event = redacted(record.event, &self.secrets)?;
                Ok(Record { event, ..record })
            });
            let redacted: Vec<Record> = redacted.collect::<Result<_, Error>>()?;
            self.inner.append(redacted, durability).await
        })
    }

    /// Servers quote a wrong key in their errors. Descriptions of an unparsable reply quote parts of it: part
    /// of a secret would not be recognised afterwards.
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Effect<'a, Answered> {
        Box::pin(async move {
            let Answered { outcome, took } = self.inner.ask(asking).await?;
            let outcome = outcome
                .map(|reply| reply.redacted(&self.secrets))
                .map_err(|error| error.redacted(&self.secrets));
            Ok(Answered { outcome, took })
        })
    }

    /// What is checked afterwards is what was redacted: a problem quotes no part of a secret.
    fn check<'a>(&'a self, run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>> {
        Box::pin(async move {
            let said = self.inner.check(run, calls).await?.into_iter();
            let said = said.map(|said| CallCheck {
                verdict: self.verdict(said.verdict),
                ..said
            });
            Ok(said.collect())
        })
    }

    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        let doing = self.inner.act(run, calls);
        Box::pin(doing.map(|acted| self.acted(acted?)))
    }

    fn tools<'a>(
        &'a self,
        run: &'a Run,
        time: Option<Duration>,
    ) -> Effect<'a, Option<Vec<ToolSpec>>> {
        Box::pin(async move {
            let listed = self.inner.tools(run, time).await?;
            let listed = listed.map(|tools| redacted_tools(tools, &self.secrets).map_err(cannot));
            Ok(listed.transpose()?)
        })
    }

    crate::forward_effects!(self => (self.inner): now, proceed, abandon, ends, wait, stepped);
}

impl<E> Redacted<E> {
    fn acted(&self, mut acted: Acted) -> Result<Acted, Stopped> {
        match &mut acted {
            Acted::Asks { question, .. } => *question = self.secrets.redact(question).into_owned(),
            Acted::Done { done, .. } => {
                if let Some(redacted) =
                    self.secrets.redact_all(&done.observation).map_err(cannot)?
                {
                    done.observation = redacted;
                }
            }
        }
        Ok(acted)
    }

    fn verdict(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Veto(message) => Verdict::Veto(self.secrets.redact(&message).into_owned()),
            Verdict::Change(args) => {
                let mut args = Value::Object(args);
                self.secrets.redact_value(&mut args);
                Verdict::Change(match args {
                    Value::Object(args) => args,
                    _ => Values::new(),
                })
            }
            other => other,
        }
    }
}

/// The event without secrets.
pub(crate) fn redacted(event: Event, secrets: &Secrets) -> Result<Event, Error> {
    event.redacted(secrets).map_err(cannot)
}

pub(crate) fn cannot(error: serde_json::Error) -> Error {
    let message = "an event cannot be written without a secret in it";
    Error::new(ErrorKind::Misuse, message).with_source(error)
}
