//! The running calls of a server, with their progress and questions.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use enact_core::ToolContext;
use rmcp::model::{NumberOrString, ProgressToken};
use tokio::sync::{mpsc, oneshot, watch};

/// The running calls on a connection.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    /// Held while a call is sent and registered, so that messages about it are only processed afterwards.
    sending: tokio::sync::Mutex<()>,
    flights: Mutex<Flights>,
    /// Notified of every change.
    changed: watch::Sender<()>,
    /// Whether a call found the connection closed.
    is_lost: AtomicBool,
}

#[derive(Debug, Default)]
struct Flights {
    by_token: HashMap<NumberOrString, Flight>,
    /// Questions of the server that are not assigned to a call yet.
    asking: usize,
}

/// A running call.
#[derive(Debug, Clone)]
pub(crate) struct Flight {
    pub(crate) context: ToolContext,
    stop: mpsc::UnboundedSender<Stop>,
}

/// Why a call is cancelled before the server has answered.
#[derive(Debug)]
pub(crate) struct Stop {
    pub(crate) why: Why,
    /// Notified when the server has been informed.
    pub(crate) told: oneshot::Sender<()>,
}

#[derive(Debug)]
pub(crate) enum Why {
    /// The server asks a person this question first.
    Asks(String),
    /// Several calls ask at once, and the questions can't be assigned.
    Unclear,
}

impl Flight {
    /// Cancels the call; returns when the server has been informed.
    pub(crate) async fn stop(&self, why: Why) {
        let (told, heard) = oneshot::channel();
        // A finished call doesn't need to be cancelled.
        if self.stop.send(Stop { why, told }).is_ok() {
            let _ = heard.await;
        }
    }
}

impl Calls {
    /// Notes that the connection is closed.
    pub(crate) fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    fn flights(&self) -> MutexGuard<'_, Flights> {
        self.flights.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a call and registers it under its progress token.
    pub(crate) async fn enter<T, E>(
        self: &Arc<Self>,
        context: ToolContext,
        send: impl Future<Output = Result<T, E>>,
        token: impl FnOnce(&T) -> &ProgressToken,
    ) -> Result<(T, Entry), E> {
        let _sending = self.sending.lock().await;
        let sent = send.await?;
        let token = token(&sent).0.clone();
        let (stop, stops) = mpsc::unbounded_channel();
        let flight = Flight { context, stop };
        self.flights().by_token.insert(token.clone(), flight);
        self.changed.send_replace(());
        let entry = Entry {
            calls: Arc::clone(self),
            token,
            stops,
        };
        Ok((sent, entry))
    }

    /// The call of a progress report.
    pub(crate) async fn reporting(&self, token: &ProgressToken) -> Option<Flight> {
        let _sending = self.sending.lock().await;
        self.flights().by_token.get(&token.0).cloned()
    }

    /// The call that a question of the server belongs to. The protocol doesn't say, but a call that asks
    /// doesn't end before it is answered: so this waits until only one call is left. If as many questions
    /// wait as calls are running, it can't be determined: none.
    pub(crate) async fn asking(&self) -> Option<Flight> {
        drop(self.sending.lock().await);
        let mut changed = self.changed.subscribe();
        let _asking = Asking::count(self);
        loop {
            changed.borrow_and_update();
            {
                let flights = self.flights();
                let calls = flights.by_token.len();
                if calls <= 1 {
                    return flights.by_token.values().next().cloned();
                }
                if flights.asking >= calls {
                    return None;
                }
            }
            // The sender lives as long as this value.
            let _ = changed.changed().await;
        }
    }

    /// Cancels all calls, because a question can't be assigned.
    pub(crate) async fn stop_all(&self) {
        let flights: Vec<Flight> = self.flights().by_token.values().cloned().collect();
        for flight in flights {
            flight.stop(Why::Unclear).await;
        }
    }
}

/// A question that is not assigned yet, as long as this value exists.
struct Asking<'a>(&'a Calls);

impl<'a> Asking<'a> {
    fn count(calls: &'a Calls) -> Self {
        calls.flights().asking += 1;
        calls.changed.send_replace(());
        Self(calls)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.0.flights().asking -= 1;
        self.0.changed.send_replace(());
    }
}

/// A registered call, as long as this value exists.
#[derive(Debug)]
pub(crate) struct Entry {
    calls: Arc<Calls>,
    token: NumberOrString,
    stops: mpsc::UnboundedReceiver<Stop>,
}

impl Entry {
    /// Waits until the call is to be cancelled.
    pub(crate) async fn stopped(&mut self) -> Stop {
        match self.stops.recv().await {
            Some(stop) => stop,
            // The list holds the sender as long as this entry is in it.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.calls.flights().by_token.remove(&self.token);
        self.calls.changed.send_replace(());
    }
}
