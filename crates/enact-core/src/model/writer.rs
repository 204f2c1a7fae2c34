//! Replies written or awaited by async functions.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures_util::{Stream, StreamExt as _, stream};

use super::{Chunk, ModelError, Reply, ReplyBuilder, ReplyStream};

/// Receives the chunks of a reply from an async function; see [`write_reply`].
#[derive(Debug, Clone, Default)]
pub struct ReplyWriter {
    written: Arc<Mutex<Option<Chunk>>>,
}

/// Creates a reply from an async function, chunk by chunk. An error that it returns ends the reply.
///
/// For authors of clients and wrappers. The function only runs while the stream is read.
///
/// ```
/// use enact::model::{Chunk, FinishReason, ReplyStream, write_reply};
///
/// fn hello() -> ReplyStream<'static> {
///     write_reply(|reply| async move {
///         reply.write(Chunk::Text("hello".to_owned())).await;
///         reply.write(Chunk::Finish(FinishReason::Stop)).await;
///         Ok(())
///     })
/// }
/// # use futures_util::StreamExt as _;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert_eq!(hello().count().await, 2);
/// # });
/// ```
pub fn write_reply<'a, F>(write: impl FnOnce(ReplyWriter) -> F) -> ReplyStream<'a>
where
    F: Future<Output = Result<(), ModelError>> + Send + 'a,
{
    let writer = ReplyWriter::default();
    let mut writing = Some(Box::pin(write(writer.clone())));
    Box::pin(stream::poll_fn(move |context| {
        let Some(future) = &mut writing else {
            return Poll::Ready(None);
        };
        match future.as_mut().poll(context) {
            Poll::Ready(ended) => {
                writing = None;
                Poll::Ready(ended.err().map(Err))
            }
            Poll::Pending => match writer.written().take() {
                Some(chunk) => Poll::Ready(Some(Ok(chunk))),
                None => Poll::Pending,
            },
        }
    }))
}

/// Waits until a reply is complete.
///
/// # Errors
/// If it ends with an error, or without a finish reason.
pub async fn read_reply(mut reply: ReplyStream<'_>) -> Result<Reply, ModelError> {
    let mut builder = ReplyBuilder::default();
    while let Some(chunk) = reply.next().await {
        builder.push(chunk?);
    }
    builder.finish()
}

impl ReplyWriter {
    /// Sends a chunk, and waits until the next one is requested.
    pub async fn write(&self, chunk: Chunk) {
        *self.written() = Some(chunk);
        // The reader polls again without being woken.
        let mut is_wanted = false;
        poll_fn(|_| match std::mem::replace(&mut is_wanted, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    /// Sends all chunks of another reply.
    ///
    /// # Errors
    /// If that reply ends with an error.
    pub async fn copy(
        &self,
        mut reply: impl Stream<Item = Result<Chunk, ModelError>> + Unpin,
    ) -> Result<(), ModelError> {
        while let Some(chunk) = reply.next().await {
            self.write(chunk?).await;
        }
        Ok(())
    }

    fn written(&self) -> MutexGuard<'_, Option<Chunk>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
