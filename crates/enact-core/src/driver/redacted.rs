//! Keeps secrets out of a run.

use std::time::Duration;

use super::effects::{Answered, Asking, Durability, Effect, Effects};
use crate::error::{Error, ErrorKind};
use crate::model::Secrets;
use crate::run::{Event, Record, Run, redacted_tools};
use crate::tool::ToolSpec;

/// Keeps secrets out of the log and out of replies.
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

    crate::forward_effects!(self => (self.inner): now, proceed, act, abandon, check, ends, wait, stepped);
}

/// The event without secrets.
pub(crate) fn redacted(event: Event, secrets: &Secrets) -> Result<Event, Error> {
    event.redacted(secrets).map_err(cannot)
}

pub(crate) fn cannot(error: serde_json::Error) -> Error {
    let message = "an event cannot be written without a secret in it";
    Error::new(ErrorKind::Misuse, message).with_source(error)
}
