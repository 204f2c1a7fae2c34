//! Work that shares a commit: the disk is waited for once for all of it.
//!
//! Whoever comes while nobody writes leads: once it is the writer's turn, it writes its own work and all
//! that waits by then, in one transaction, and tells the callers. Those that came meanwhile are led by
//! the first of them. So nothing runs in the background, and one that is alone waits for nobody.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::connect::{BEGIN, QUEUE_TIMEOUT, Writer};
use crate::error::{Failure, is_of_one};
use crate::write::{self, Done, Work};

/// How much is written at once, unless a single append is more.
const MAX_ROWS: usize = 1000;
const MAX_BYTES: usize = 4 * 1024 * 1024;

type Written = Result<Done, Failure>;

/// The work that waits.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Waiting>,
    /// Whether somebody writes, or is about to. If not, nobody waits.
    is_led: bool,
}

/// Work whose caller waits for news.
#[derive(Debug)]
struct Waiting {
    work: Work,
    caller: oneshot::Sender<News>,
}

#[derive(Debug)]
enum News {
    /// What became of the work.
    Written(Written),
    /// It is the caller's turn to write, its own work first.
    Lead(Lead),
}

impl Queue {
    /// Does this work, together with other work if there is any. It is on the disk when this returns.
    pub(crate) async fn write(self: &Arc<Self>, writer: &Writer, work: Work) -> Written {
        let deadline = Instant::now() + QUEUE_TIMEOUT;
        let lead = match self.enter(work) {
            Ok(lead) => lead,
            Err(news) => match timeout_at(deadline, news).await {
                Ok(Ok(News::Written(written))) => return written,
                Ok(Ok(News::Lead(lead))) => lead,
                // Every caller is told something, unless it is too late.
                Ok(Err(_)) | Err(_) => return Err(Failure::Crowded),
            },
        };
        let mut connection = writer.turn_by(deadline).await?;
        lead.write(&mut connection).await
    }

    /// Leads if nobody does, and waits for news otherwise.
    fn enter(self: &Arc<Self>, work: Work) -> Result<Lead, oneshot::Receiver<News>> {
        let mut state = self.lock();
        if !state.is_led {
            state.is_led = true;
            return Ok(Lead::new(self, work));
        }
        let (caller, news) = oneshot::channel();
        state.waiting.push_back(Waiting { work, caller });
        Err(news)
    }

    /// Makes the first that waits the leader, if anybody waits.
    fn hand_over(self: &Arc<Self>) {
        while let Some(Waiting { work, caller }) = self.first() {
            match caller.send(News::Lead(Lead::new(self, work))) {
                Ok(()) => return,
                // It was given up just now.
                Err(News::Lead(mut lead)) => lead.queue = None,
                Err(News::Written(_)) => {}
            }
        }
    }

    /// The first whose caller still waits. If there is none, nobody leads any more.
    fn first(&self) -> Option<Waiting> {
        let mut state = self.lock();
        let first = state.next();
        state.is_led = first.is_some();
        first
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(crate) fn length(&self) -> usize {
        self.lock().waiting.len()
    }
}

impl State {
    fn next(&mut self) -> Option<Waiting> {
        let mut next = self.waiting.pop_front();
        while next.as_ref().is_some_and(|next| next.caller.is_closed()) {
            next = self.waiting.pop_front();
        }
        next
    }
}

/// Whoever has it writes next. When it is dropped, done or not, the next one leads.
#[derive(Debug)]
struct Lead {
    /// None if it was never taken up.
    queue: Option<Arc<Queue>>,
    own: Work,
    /// Those that are being written with it.
    others: Vec<Waiting>,
}

impl Lead {
    fn new(queue: &Arc<Queue>, own: Work) -> Self {
        Self {
            queue: Some(queue.clone()),
            own,
            others: Vec::new(),
        }
    }

    async fn write(mut self, connection: &mut SqliteConnection) -> Written {
        self.take_others();
        let others = self.others.iter().map(|waiting| &waiting.work);
        let all: Vec<&Work> = std::iter::once(&self.own).chain(others).collect();
        let mut written = write_all(connection, &all).await.into_iter();
        let own = written.next().unwrap_or(Err(Failure::Crowded));
        for (waiting, written) in std::mem::take(&mut self.others).into_iter().zip(written) {
            // Whoever has given up need not know.
            let _ = waiting.caller.send(News::Written(written));
        }
        own
    }

    fn take_others(&mut self) {
        let Some(queue) = &self.queue else { return };
        let mut state = queue.lock();
        let (mut rows, mut bytes) = (self.own.rows(), self.own.bytes());
        while let Some(next) = state.next() {
            rows += next.work.rows();
            bytes += next.work.bytes();
            if rows > MAX_ROWS || bytes > MAX_BYTES {
                state.waiting.push_front(next);
                return;
            }
            self.others.push(next);
        }
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let Some(queue) = &self.queue else { return };
        // Given up in the midst: nobody knows whether it is stored, and whoever leads next looks.
        for mut waiting in self.others.drain(..).rev() {
            waiting.work.may_be_done();
            queue.lock().waiting.push_front(waiting);
        }
        queue.hand_over();
    }
}

/// Writes all in one transaction, so that it is stored or fails as one. Where one piece cannot be
/// written, each is written by itself: a damaged log is no concern of the others.
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
