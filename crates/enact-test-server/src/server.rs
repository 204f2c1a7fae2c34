//! The server: accepts connections, plays the script, stores the requests.

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

use crate::http::{self, Connection, Received};
use crate::reply::Ending;
use crate::turn::{Payload, Turn};

const CHAT_PATH: &str = "/v1/chat/completions";

/// A server that plays a script, or answers with a function of the request. It stops when it is
/// dropped.
pub struct TestServer {
    base_url: String,
    shared: Arc<Shared>,
    serving: AbortHandle,
    /// Its runtime, if it has its own.
    thread: Option<JoinHandle<()>>,
}

type Function = Box<dyn Fn(&Received) -> Turn + Send + Sync>;

/// Which requests are answered.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// Those for chat completions; others are not found.
    Chat,
    /// All, with any method and path.
    Any,
}

struct Shared {
    paths: Paths,
    /// Returns the turn for each request, instead of the script.
    function: Option<Function>,
    played: Mutex<Played>,
    /// The number of requests, for those who wait for them.
    arrivals: watch::Sender<usize>,
    /// The number of clients that disconnected while the server was silent.
    hangups: watch::Sender<usize>,
}

#[derive(Default)]
struct Played {
    script: VecDeque<Turn>,
    requests: Vec<Received>,
    overrun: usize,
    calls: usize,
}

impl Shared {
    fn playing(turns: impl IntoIterator<Item = Turn>, paths: Paths) -> Self {
        let played = Played {
            script: turns.into_iter().collect(),
            ..Played::default()
        };
        Self {
            paths,
            function: None,
            played: Mutex::new(played),
            arrivals: watch::Sender::default(),
            hangups: watch::Sender::default(),
        }
    }

    fn answering(
        function: impl Fn(&Received) -> Turn + Send + Sync + 'static,
        paths: Paths,
    ) -> Self {
        Self {
            function: Some(Box::new(function)),
            ..Self::playing([], paths)
        }
    }

    fn played(&self) -> MutexGuard<'_, Played> {
        self.played.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_turn(&self, received: &Received) -> Turn {
        let mut played = self.played();
        let is_chat =
            received.method == "POST" && received.path.split('?').next() == Some(CHAT_PATH);
        let asked = format!("{} {}", received.method, received.path);
        played.requests.push(received.clone());
        let number = played.requests.len();
        self.arrivals.send_replace(number);
        if !is_chat && self.paths == Paths::Chat {
            return failure(
                404,
                &format!("no such address: `{asked}`, ask `POST {CHAT_PATH}`"),
            );
        }
        let mut turn = if let Some(function) = &self.function {
            // It may take its time, and look at earlier requests.
            drop(played);
            let turn = function(received);
            played = self.played();
            turn
        } else if let Some(turn) = played.script.pop_front() {
            turn
        } else {
            played.overrun += 1;
            return failure(
                500,
                &format!("the script has no turn left for request {number}"),
            );
        };
        if let Payload::Reply(reply) = &mut turn.payload {
            reply.assign_ids(&mut played.calls);
        }
        turn
    }
}

impl TestServer {
    /// Starts a server that plays a script, on the current tokio runtime.
    ///
    /// Client and server share one clock, so a test with paused time is deterministic: bytes on the loopback
    /// interface arrive before the clock moves.
    ///
    /// # Panics
    /// If no port can be opened.
    pub async fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::on_this_runtime(Shared::playing(turns, Paths::Chat))
    }

    /// Starts a server that answers on every path: for protocols other than chat completions. The turns have
    /// to be bytes, such as [`Turn::raw_chunks`].
    ///
    /// # Panics
    /// If no port can be opened.
    pub async fn start_anywhere(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::on_this_runtime(Shared::playing(turns, Paths::Any))
    }

    fn on_this_runtime(shared: Shared) -> Self {
        let (listener, base_url) = open();
        let shared = Arc::new(shared);
        let serving = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self {
            base_url,
            shared,
            serving: serving.abort_handle(),
            thread: None,
        }
    }

    /// Starts a server that plays a script, on its own thread and runtime, for tests without
    /// one.
    ///
    /// # Panics
    /// If no port can be opened or no thread can be started.
    pub fn start_blocking(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::on_a_thread(Shared::playing(turns, Paths::Chat))
    }

    /// Starts a server that answers each request with the result of this function: for tests that can't
    /// know how often, or in which order, they ask.
    ///
    /// The function must not block: hold a turn back with [`Turn::behind`].
    ///
    /// # Panics
    /// If no port can be opened or no thread can be started.
    pub fn answering_blocking(
        function: impl Fn(&Received) -> Turn + Send + Sync + 'static,
    ) -> Self {
        Self::on_a_thread(Shared::answering(function, Paths::Chat))
    }

    /// Starts such a server for every path.
    ///
    /// # Panics
    /// If no port can be opened or no thread can be started.
    pub fn answering_anywhere(
        function: impl Fn(&Received) -> Turn + Send + Sync + 'static,
    ) -> Self {
        Self::on_a_thread(Shared::answering(function, Paths::Any))
    }

    fn on_a_thread(shared: Shared) -> Self {
        let (listener, base_url) = open();
        let shared = Arc::new(shared);
        let mut builder = tokio::runtime::Builder::new_current_thread();
        let runtime = or_panic(builder.enable_all().build());
        let task = runtime.spawn(serve(listener, Arc::clone(&shared)));
        let serving = task.abort_handle();
        let thread = std::thread::Builder::new().name("enact-test-server".into());
        // It ends when it is aborted.
        let thread = or_panic(thread.spawn(move || drop(runtime.block_on(task))));
        Self {
            base_url,
            shared,
            serving,
            thread: Some(thread),
        }
    }

    /// The address for a client, such as `http://127.0.0.1:40123/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Received> {
        self.shared.played().requests.clone()
    }

    /// Appends a turn to the script while the server is in use.
    ///
    /// # Panics
    /// If the server answers with a function.
    pub fn push(&self, turn: Turn) {
        let is_scripted = self.shared.function.is_none();
        assert!(
            is_scripted,
            "this server answers by a function: it has no script"
        );
        self.shared.played().script.push_back(turn);
    }

    /// Returns once this many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        wait_until(&self.shared.arrivals, count).await;
    }

    /// Returns once this many clients have disconnected during a stalled turn.
    pub async fn wait_for_hangups(&self, count: usize) {
        wait_until(&self.shared.hangups, count).await;
    }

    /// Panics unless the script was played completely, and no further request was made.
    ///
    /// # Panics
    /// If turns are unused, or a request came after the last one.
    #[expect(clippy::panic, reason = "a test assertion")]
    pub fn assert_complete(&self) {
        let (left, overrun, asked) = {
            let played = self.shared.played();
            let left = played.script.len();
            (left, played.overrun, played.requests.len())
        };
        if left > 0 || overrun > 0 {
            panic!(
                "script not played to its end: {asked} request(s) came, {left} turn(s) left over, \
                 {overrun} request(s) too many"
            );
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.serving.abort();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for TestServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TestServer").field(&self.base_url).finish()
    }
}

fn open() -> (std::net::TcpListener, String) {
    let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
    let listener = or_panic(std::net::TcpListener::bind(any_port));
    or_panic(listener.set_nonblocking(true));
    let address = or_panic(listener.local_addr());
    (listener, format!("http://{address}/v1"))
}

#[expect(clippy::panic, reason = "a test that has no server cannot go on")]
fn or_panic<T>(result: io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("the test server did not start: {error}"),
    }
}

async fn wait_until(counter: &watch::Sender<usize>, count: usize) {
    // The sender lives as long as the server, so the wait can't fail.
    let _ = counter.subscribe().wait_for(|seen| *seen >= count).await;
}

async fn serve(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let listener = or_panic(TcpListener::from_std(listener));
    // Owned here, so that the connections end with the server.
    let mut connections = JoinSet::new();
    let mut count = 0;
    while let Ok((socket, _)) = listener.accept().await {
        count += 1;
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let mut connection = Connection::new(count, socket);
            // A broken connection is the client's business, or what the script asked for.
            let _ = converse(&mut connection, &shared).await;
        });
    }
}

async fn converse(connection: &mut Connection, shared: &Shared) -> io::Result<()> {
    while let Some(received) = connection.read_request().await? {
        let turn = shared.next_turn(&received);
        if !turn.latency.is_zero() {
            tokio::time::sleep(turn.latency).await;
        }
        if let Some(gate) = &turn.gate {
            gate.opened().await;
        }
        match answer(connection, turn, received.wants_stream()).await? {
            Ending::Complete | Ending::Error(_) => {}
            Ending::Cut | Ending::Endless => return Ok(()),
            Ending::Stall => {
                connection.wait_for_hangup().await;
                shared.hangups.send_modify(|count| *count += 1);
                return Ok(());
            }
        }
    }
    Ok(())
}

async fn answer(connection: &mut Connection, turn: Turn, wants_stream: bool) -> io::Result<Ending> {
    let Turn {
        status,
        headers,
        payload,
        ..
    } = turn;
    match payload {
        Payload::Body(body) => {
            write_body(connection, status, headers, &body, body.len()).await?;
            Ok(Ending::Complete)
        }
        Payload::Chunks { chunks, ending } => {
            write_stream(connection, status, headers, chunks, ending).await
        }
        Payload::Reply(reply) if wants_stream => {
            let events = reply.events();
            write_stream(connection, status, headers, events, reply.ending).await
        }
        Payload::Reply(reply) => {
            let body = match &reply.ending {
                Ending::Error(error) => json!({"error": error}),
                Ending::Complete | Ending::Cut | Ending::Stall => reply.whole(),
                Ending::Endless => {
                    write_endless(connection, status, headers, &reply.text).await?;
                    return Ok(reply.ending);
                }
            };
            let body = body.to_string().into_bytes();
            let sent = match &reply.ending {
                Ending::Complete | Ending::Error(_) => body.len(),
                Ending::Cut | Ending::Stall | Ending::Endless => body.len() / 2,
            };
            write_body(connection, status, headers, &body[..sent], body.len()).await?;
            Ok(reply.ending)
        }
    }
}

/// Writes a body with a declared length; a shorter one keeps the client waiting.
async fn write_body(
    connection: &mut Connection,
    status: u16,
    mut headers: Vec<(String, String)>,
    body: &[u8],
    length: usize,
) -> io::Result<()> {
    let content_type = match body.first() {
        Some(b'{' | b'[') => "application/json",
        _ => "text/plain",
    };
    set_default(&mut headers, "content-type", content_type);
    set_default(&mut headers, "content-length", &length.to_string());
    let mut bytes = http::head(status, &headers);
    bytes.extend_from_slice(body);
    connection.write(&bytes).await
}

async fn write_stream(
    connection: &mut Connection,
    status: u16,
    mut headers: Vec<(String, String)>,
    chunks: Vec<Vec<u8>>,
    ending: Ending,
) -> io::Result<Ending> {
    set_default(&mut headers, "content-type", "text/event-stream");
    set_default(&mut headers, "transfer-encoding", "chunked");
    connection.write(&http::head(status, &headers)).await?;
    for chunk in &chunks {
        connection.write_chunk(chunk).await?;
    }
    if matches!(ending, Ending::Complete | Ending::Error(_)) {
        connection.write(b"0\r\n\r\n").await?;
    }
    if let (Ending::Endless, Some(last)) = (&ending, chunks.last()) {
        // Ends when the client does not read any more.
        loop {
            connection.write_chunk(last).await?;
        }
    }
    Ok(ending)
}

/// The beginning of a JSON body that goes on with the same text until the client hangs up.
async fn write_endless(
    connection: &mut Connection,
    status: u16,
    mut headers: Vec<(String, String)>,
    text: &str,
) -> io::Result<()> {
    const LENGTH: u64 = 1 << 40;
    set_default(&mut headers, "content-type", "application/json");
    set_default(&mut headers, "content-length", &LENGTH.to_string());
    connection.write(&http::head(status, &headers)).await?;
    let beginning = r#"{"content": [{"type": "text", "text": ""#;
    connection.write(beginning.as_bytes()).await?;
    let text = json!(text).to_string();
    let piece = format!("{} ", &text[1..text.len() - 1]).repeat(1 + 4096 / text.len());
    loop {
        connection.write(piece.as_bytes()).await?;
    }
}

fn set_default(headers: &mut Vec<(String, String)>, name: &str, value: &str) {
    let mut names = headers.iter().map(|(known, _)| known);
    if !names.any(|known| known.eq_ignore_ascii_case(name)) {
        headers.push((name.to_owned(), value.to_owned()));
    }
}

fn failure(status: u16, message: &str) -> Turn {
    let error = json!({"error": {"message": message, "type": "test_server"}});
    Turn::status(status).body(error.to_string())
}
