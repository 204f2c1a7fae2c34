//! Groups work into shared commits, so that the disk is only synced once.
//!
//! A caller adds its work to the queue, and waits for the result or for the connection, whichever comes
//! first. With the connection comes the duty to write everything in the queue, in one transaction, and to
//! notify the callers. So nothing runs in the background, and a single caller waits for no one.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::connect::{BEGIN, QUEUE_TIMEOUT, Writer};
use crate::error::{Failure, is_of_one};
use crate::write::{self, Done, Work};

/// How much is written at once, unless a single append is larger.
const MAX_ROWS: usize = 1000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

type Written = Result<Done, Failure>;

/// The pending work.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    waiting: Mutex<VecDeque<Waiting>>,
}

/// Work whose caller waits for the result.
#[derive(Debug)]
struct Waiting {
    work: Work,
    caller: oneshot::Sender<Written>,
}

impl Queue {
    /// Does this work, together with other pending work. It is on disk when this returns.
    pub(crate) async fn write(&self, writer: &Writer, work: Work) -> Written {
        let deadline = Instant::now() + QUEUE_TIMEOUT;
        let (caller, mut news) = oneshot::channel();
        self.lock().push_back(Waiting { work, caller });
        loop {
            tokio::select! {
                biased;
                // Work is not dropped before its caller is notified.
                written = &mut news => return written.unwrap_or(Err(Failure::Crowded)),
                turn = writer.turn_by(deadline) => {
                    let mut connection = turn?;
                    Batch::take(self).write(&mut connection).await;
                }
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn length(&self) -> usize {
        self.lock().len()
    }
}

/// Work in progress, by the caller that has the connection.
struct Batch<'a> {
    queue: &'a Queue,
    taken: Vec<Waiting>,
}

impl<'a> Batch<'a> {
    /// Takes the pending work, except what was abandoned.
    fn take(queue: &'a Queue) -> Self {
        let mut waiting = queue.lock();
        let mut taken = Vec::new();
        let (mut rows, mut bytes) = (0, 0);
        while let Some(next) = waiting.pop_front() {
            if next.caller.is_closed() {
                continue;
            }
            rows += next.work.rows();
            bytes += next.work.bytes();
            if !taken.is_empty() && (rows > MAX_ROWS || bytes > MAX_BYTES) {
                waiting.push_front(next);
                break;
            }
            taken.push(next);
        }
        Self { queue, taken }
    }

    async fn write(mut self, connection: &mut SqliteConnection) {
        let all: Vec<&Work> = self.taken.iter().map(|waiting| &waiting.work).collect();
        let written = write_all(connection, &all).await;
        for (waiting, written) in std::mem::take(&mut self.taken).into_iter().zip(written) {
            // A caller that has given up doesn't need the result.
            let _ = waiting.caller.send(written);
        }
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        // Abandoned in progress: it is unknown whether it is stored, and the next writer checks.
        for mut waiting in self.taken.drain(..).rev() {
            waiting.work.may_be_done();
            self.queue.lock().push_front(waiting);
        }
    }
}

/// Writes everything in one transaction, so that it is stored or fails as a whole. If one piece can't be
/// written, each is written separately: a damaged log must not affect the others.
async fn write_all(connection: &mut SqliteConnection, all: &[&Work]) -> Vec<Written> {
    match write_together(connection, all).await {
        Ok(done) => done.into_iter().map(Ok).collect(),
        Err(Failed::One(_)) if all.len() > 1 => {
            let mut written = Vec::with_capacity(all.len());
            for work in all {
                match write_together(connection, &[work]).await {
                    Ok(done) => written.extend(done.into_iter().map(Ok)),
                    Err(failed) => written.push(Err(failed.into_error().into())),
                }
            }
            written
        }
        Err(failed) => {
            let error = Arc::new(failed.into_error());
            let each = all.iter();
            each.map(|_| Err(Failure::Sql(error.clone()))).collect()
        }
    }
}

enum Failed {
    /// Because of one piece.
    One(sqlx::Error),
    All(sqlx::Error),
}

impl Failed {
    fn into_error(self) -> sqlx::Error {
        match self {
            Self::One(error) | Self::All(error) => error,
        }
    }
}

async fn write_together(
    connection: &mut SqliteConnection,
    all: &[&Work],
) -> Result<Vec<Done>, Failed> {
    let begun = connection.begin_with(BEGIN).await;
    let mut transaction = begun.map_err(Failed::All)?;
    let done = match write::write(&mut transaction, all).await {
        Ok(done) => done,
        Err(error) => {
            let is_of_one = is_of_one(&error);
            // If this fails, the connection is not used again.
            let _ = transaction.rollback().await;
            return Err(match is_of_one {
                true => Failed::One(error),
                false => Failed::All(error),
            });
        }
    };
    transaction.commit().await.map_err(Failed::All)?;
    Ok(done)
}
