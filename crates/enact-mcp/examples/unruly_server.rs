//! An MCP server that misbehaves on demand, for the tests: it ends, hangs, leaves processes
//! behind, asks and changes its tools. Written by hand, so that no library keeps it in order.

use std::collections::HashMap;
use std::io::{BufRead as _, Write as _};
use std::process::{Command, ExitCode, Stdio};

use serde_json::{Value, json};

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("mute") => return mute(),
        Some("dead") => {
            eprintln!("no configuration found");
            return ExitCode::from(7);
        }
        _ => {}
    }
    let mut server = Server {
        offers: match std::env::args().nth(1).as_deref() {
            Some("offers") => std::env::args().nth(2),
            _ => None,
        },
        is_modern: std::env::args().nth(1).as_deref() == Some("modern"),
        is_endless: std::env::args().nth(1).as_deref() == Some("endless"),
        ..Server::default()
    };
    for line in std::io::stdin().lock().lines() {
        let message = line.map(|line| serde_json::from_str::<Value>(&line));
        match message {
            Ok(Ok(message)) => server.hear(&message),
            _ => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}

/// Listens, and never answers.
fn mute() -> ExitCode {
    for _ in std::io::stdin().lock().lines() {}
    ExitCode::SUCCESS
}

#[derive(Default)]
struct Server {
    /// Calls that were cancelled, by their ids.
    cancelled: Vec<Value>,
    /// Questions to the person, with the calls that they belong to.
    asked: HashMap<u64, Value>,
    has_extra: bool,
    /// Knows only the newest version of the protocol, which has no greeting.
    is_modern: bool,
    /// Has always one more page of tools.
    is_endless: bool,
    pages: u64,
    /// A file with the tools that it offers instead of its own, read at every listing. Calls of
    /// these are written to a file beside it. What is in a third file takes the place of the first
    /// when the tool `change` is called.
    offers: Option<String>,
}

impl Server {
    fn hear(&mut self, message: &Value) {
        let id = message["id"].clone();
        let params = &message["params"];
        match message["method"].as_str() {
            Some("initialize") if self.is_modern => say(&json!({
                "jsonrpc": "2.0",
                "id": id,
                "error": {"code": -32601, "message": "unknown method"},
            })),
            Some("server/discover") => answer(
                &id,
                json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": {"tools": {}},
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {
                        "io.modelcontextprotocol/serverInfo": {"name": "modern", "version": "1"},
                    },
                }),
            ),
            Some("initialize") => answer(
                &id,
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "unruly", "version": "1"},
                }),
            ),
            Some("tools/list") if self.is_endless => {
                self.pages += 1;
                let page = json!({"tools": [], "nextCursor": self.pages.to_string()});
                answer(&id, page);
            }
            Some("tools/list") => answer(&id, json!({"tools": self.tools()})),
            Some("tools/call") => self.call(&id, params),
            Some("notifications/cancelled") => {
                self.cancelled.push(params["requestId"].clone());
            }
            Some(_) => {}
            // An answer of the person.
            None => {
                let number = id.as_u64().unwrap_or_default();
                if let Some(call) = self.asked.remove(&number) {
                    answer(&call, text(&message["result"].to_string()));
                }
            }
        }
    }

    /// Hands the question back, and wants the call again with the answer.
    fn ask_back(&self, id: &Value, params: &Value) {
        if params["inputResponses"].is_object() {
            let given = json!([params["requestState"], params["inputResponses"]]);
            return answer(id, text(&given.to_string()));
        }
        let form = json!({
            "mode": "form",
            "message": "What is it?",
            "requestedSchema": {"type": "object", "properties": {"age": {"type": "integer"}}},
        });
        answer(
            id,
            json!({
                "resultType": "input_required",
                "requestState": "sealed",
                "inputRequests": {"q": {"method": "elicitation/create", "params": form}},
            }),
        );
    }

    fn tools(&self) -> Vec<Value> {
        if let Some(path) = &self.offers {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            return serde_json::from_str(&text).unwrap_or_default();
        }
        let mut names = vec![
            "add",
            "ask",
            "cancelled",
            "change",
            "crash",
            "environment",
            "hang",
            "leave",
            "pid",
        ];
        if self.has_extra {
            names.push("extra");
        }
        let tool = |name: &str| {
            json!({
                "name": name,
                "description": format!("Does {name}."),
                "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
                "annotations": {"readOnlyHint": name != "crash", "destructiveHint": false},
            })
        };
        names.into_iter().map(tool).collect()
    }

    /// Writes down that a call has run.
    fn note_call(&self, path: &str, name: &str, params: &Value) {
        let line = format!("{name} {}\n", params["arguments"]);
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(format!("{path}.ran"));
        if log
            .and_then(|mut log| log.write_all(line.as_bytes()))
            .is_err()
        {
            std::process::exit(1);
        }
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let name = params["name"].as_str().unwrap_or_default();
        if let (Some(path), false) = (&self.offers, name == "crash") {
            self.note_call(path, name, params);
            if name == "change" && std::fs::rename(format!("{path}.next"), path).is_ok() {
                say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
            }
            return answer(id, text(&format!("{name} of {path}")));
        }
        match params["name"].as_str().unwrap_or_default() {
            "add" => {
                let n = params["arguments"]["n"].as_i64().unwrap_or_default();
                answer(
                    id,
                    json!({"content": [], "structuredContent": {"sum": n + 1}}),
                );
            }
            "ask" if self.is_modern => self.ask_back(id, params),
            "ask" => {
                let number = 1000 + id.as_u64().unwrap_or_default();
                self.asked.insert(number, id.clone());
                say(&json!({
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "elicitation/create",
                    "params": {
                        "message": format!("What is {}?", params["arguments"]["n"]),
                        "requestedSchema": {
                            "type": "object",
                            "properties": {"age": {"type": "integer"}},
                            "required": ["age"],
                        },
                    },
                }));
            }
            "cancelled" => answer(id, text(&json!(self.cancelled).to_string())),
            "change" => {
                self.has_extra = !self.has_extra;
                say(&json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));
                answer(id, text("changed"));
            }
            "crash" => {
                eprintln!("the disk is on fire");
                std::process::exit(3);
            }
            "environment" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                answer(id, json!({"content": [], "structuredContent": names}));
            }
            "extra" => answer(id, text("extra")),
            "hang" => say(&json!({
                "jsonrpc": "2.0",
                "method": "notifications/progress",
                "params": {
                    "progressToken": params["_meta"]["progressToken"],
                    "progress": 1,
                    "total": 2,
                    "message": "half way",
                },
            })),
            "leave" => {
                // Holds no pipe of ours, so nothing tells it that we are gone.
                let child = Command::new("sleep")
                    .arg("600")
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn();
                match child {
                    Ok(child) => {
                        answer(id, json!({"content": [], "structuredContent": child.id()}))
                    }
                    Err(error) => eprintln!("{error}"),
                }
            }
            _ => answer(
                id,
                json!({"content": [], "structuredContent": std::process::id()}),
            ),
        }
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn answer(id: &Value, result: Value) {
    say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Without a reader there is nothing left to do.
    if writeln!(out, "{message}")
        .and_then(|()| out.flush())
        .is_err()
    {
        std::process::exit(1);
    }
}
