//! A scripted OpenAI-compatible server on 127.0.0.1.
//!
//! The base URL that a contender is given says all that the server has to know:
//! `http://127.0.0.1:PORT/SCRIPT/STEPS/LATENCY_MS/SESSION/v1`. The script says in which form steps
//! and the final answer are told. Runs are told apart by `[run NAME]` in the question, so that no
//! contender needs a client of its own for each run. `GET /stats/SESSION` tells what was counted,
//! and forgets the session; what a session whose name starts with `counted` sends is compared as
//! well.

mod http;
mod reply;
mod script;
mod session;

use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};

use http::{Connection, Request};
use script::Script;
use session::Sessions;

/// A scripted OpenAI-compatible server that counts what it is sent.
#[derive(Parser)]
struct Options {
    /// The port on 127.0.0.1; 0 takes a free one. The address is the first line of the output.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

#[tokio::main(worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let listener = TcpListener::bind(("127.0.0.1", options.port)).await?;
    println!("http://{}", listener.local_addr()?);
    let sessions = Arc::new(Sessions::default());
    loop {
        let (stream, _) = listener.accept().await?;
        let sessions = sessions.clone();
        tokio::spawn(async move {
            if let Err(error) = serve(stream, &sessions).await {
                eprintln!("bench-server: {error:#}");
            }
        });
    }
}

/// Answers request after request on one connection, until the other side has no more.
async fn serve(stream: TcpStream, sessions: &Sessions) -> anyhow::Result<()> {
    stream.set_nodelay(true)?;
    let mut connection = Connection::new(stream);
    let mut out = Vec::with_capacity(2048);
    while let Some(request) = connection.read().await? {
        out.clear();
        match answer(&request, sessions, &mut out) {
            Ok(latency) if latency.is_zero() => {}
            Ok(latency) => tokio::time::sleep(latency).await,
            Err(error) => {
                eprintln!("bench-server: {}: {error:#}", request.path);
                reply::write_error(&mut out, &format!("{error:#}"));
            }
        }
        connection.stream.write_all(&out).await?;
        connection.done();
    }
    Ok(())
}

/// Writes the answer, and tells how long to hold it back.
fn answer(
    request: &Request<'_>,
    sessions: &Sessions,
    out: &mut Vec<u8>,
) -> anyhow::Result<Duration> {
    let parts: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match parts[..] {
        ["stats", session] => {
            reply::write_json(out, &serde_json::to_vec(&sessions.take(session))?);
            Ok(Duration::ZERO)
        }
        [script, steps, latency, session, "v1", "chat", "completions"] => {
            let script: Script = script.parse()?;
            let number = sessions.count(session, request.body)?;
            let said = script.say(number, steps.parse()?)?;
            if reply::wants_stream(request.body) {
                reply::write_stream(out, number, &said);
            } else {
                reply::write_whole(out, number, &said);
            }
            Ok(Duration::from_millis(latency.parse()?))
        }
        _ => anyhow::bail!("no such path: use /SCRIPT/STEPS/LATENCY_MS/SESSION/v1"),
    }
}
