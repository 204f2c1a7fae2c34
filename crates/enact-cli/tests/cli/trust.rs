//! Runs from somewhere else: what their log says is started and contacted only when a person says so.

use std::path::PathBuf;

use enact::model::ScriptedModel;
use enact::run::Record;
use enact::run::store::{MemoryStore, Store as _};
use enact::{Confirmations, Decision, ErrorKind, ReAct, Run};
use enact_sqlite::SqliteStore;
use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, Said};
use crate::place::{Place, pending};
#[cfg(unix)]
use crate::terminal::Terminal;

/// A run that waits, and the key of somebody else.
struct Foreign {
    place: Place,
    server: TestServer,
    run_id: String,
    id: String,
}

impl Foreign {
    fn new() -> Self {
        let place = Place::new();
        let server = TestServer::start_blocking([
            Turn::call("write_file", json!({"path": "a", "content": "x"})),
            Turn::call("submit", json!({"answer": "done"})),
        ]);
        let object = place.run(&server).said().json();
        Self {
            run_id: object["run_id"].as_str().unwrap().to_owned(),
            id: pending(&object).remove(0),
            place,
            server,
        }
    }

    fn key(&self) -> PathBuf {
        self.place.data.path().join("elsewhere/seal.key")
    }

    /// `enact resume`, by another user or on another machine.
    fn resume<'a>(&'a self, args: &[&'a str]) -> Enact {
        self.resume_here(args)
            .env("ENACT_SEAL_KEY", &self.key().to_string_lossy())
    }

    fn resume_here<'a>(&'a self, args: &[&'a str]) -> Enact {
        let args = ["resume", self.run_id.as_str()]
            .into_iter()
            .chain(args.iter().copied());
        self.place.enact(args)
    }

    /// Changes how the run began, behind the back of whoever began it.
    fn change(&self, change: impl FnOnce(&mut Value)) {
        self.in_store(async |store| {
            let run: Run = store.load(&self.run_id).await.unwrap().run;
            let mut records = serde_json::to_value(&run).unwrap();
            change(&mut records[0]);
            let records: Vec<Record> = serde_json::from_value(records).unwrap();
            store.delete(&self.run_id).await.unwrap();
            let lease = store.acquire(&self.run_id).await.unwrap();
            store.append(&lease, &records).await.unwrap();
        });
    }

    /// Works with the store, behind the back of whoever began the run.
    fn in_store<F: Future<Output = ()>>(&self, work: impl FnOnce(SqliteStore) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            work(SqliteStore::open(self.place.store()).await.unwrap()).await;
        });
    }

    /// Lets the log name a command, which leaves this file behind.
    fn with_command(&self) -> PathBuf {
        let mark = self.place.data.path().join("started");
        let command = format!("touch {}", mark.display());
        let folder = self.place.data.path().to_owned();
        self.change(|first| {
            first["agent"]["notes"]["mcp"] = json!({"commands": [command], "folder": folder});
        });
        mark
    }
}

fn assert_refused(said: &Said, parts: &[&str]) {
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
    for part in parts.iter().chain(&["--trust", "not started by this user"]) {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn truth_a_run_from_somewhere_else_is_not_resumed_unasked() {
    let foreign = Foreign::new();
    let answer = ["--approve", foreign.id.as_str()];
    let address = foreign.server.base_url();
    let parts = [address, "OPENAI_API_KEY", "test-model", "write_file"];
    let said = foreign.resume(&["--json", answer[0], answer[1]]).said();
    assert_refused(&said, &parts);
    assert_eq!(said.json()["error"]["kind"], "untrusted");
    // Nobody is at a terminal either.
    assert_refused(&foreign.resume(&answer).said(), &parts);
    assert_eq!(foreign.server.requests().len(), 1);
    assert_eq!(foreign.place.written("a"), None);

    let said = foreign
        .resume(&["--json", "--trust", answer[0], answer[1]])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(foreign.place.written("a").as_deref(), Some("x"));
    foreign.server.assert_complete();
}

#[test]
fn truth_a_log_that_was_changed_starts_no_command_unasked() {
    let foreign = Foreign::new();
    let mark = foreign.with_command();
    // The key is that of the user who began it: the log is not.
    let said = foreign.resume_here(&["--json"]).said();
    assert_refused(&said, &["starts: touch "]);
    assert!(!mark.exists());
    // It is no server, but it was started.
    let said = foreign.resume_here(&["--json", "--trust"]).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(mark.exists());

    // The same for an address: nothing is sent to it.
    let foreign = Foreign::new();
    let other = TestServer::start_blocking([]);
    foreign.change(|first| first["agent"]["base_url"] = json!(other.base_url()));
    let said = foreign
        .resume_here(&["--json", "--approve", &foreign.id])
        .said();
    assert_refused(&said, &[other.base_url()]);
    assert_eq!(other.requests().len(), 0);
}

#[cfg(unix)]
#[test]
fn truth_a_person_is_asked_once_and_sees_what_would_be_done() {
    let foreign = Foreign::new();
    let mark = foreign.with_command();
    let mut terminal = Terminal::at(foreign.resume(&[]));
    terminal.see("was not started by you on this machine");
    terminal.see("asks: test-model at http://");
    terminal.see("with the key in OPENAI_API_KEY");
    terminal.see("starts: touch ");
    terminal.see("[y]es / [n]o:");
    terminal.enter("ok");
    terminal.see("type yes or no");
    terminal.see("[y]es / [n]o:");
    terminal.enter("n");
    terminal.see("nothing was started");
    terminal.wait();
    assert!(!mark.exists());

    let foreign = Foreign::new();
    let mut terminal = Terminal::at(foreign.resume(&[]));
    terminal.see("was not started by you on this machine");
    terminal.see("[y]es / [n]o:");
    terminal.enter("y");
    terminal.see("or type feedback:");
    terminal.control('d');
    terminal.see("paused");
    terminal.wait();
    // Whoever agreed is not asked again.
    let said = foreign.resume(&["--json", "--approve", &foreign.id]).said();
    assert_eq!(said.code, 0, "{said:?}");
    foreign.server.assert_complete();
}

#[cfg(unix)]
#[test]
fn the_key_is_made_once_and_nobody_else_can_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let foreign = Foreign::new();
    assert_refused(&foreign.resume(&[]).said(), &[]);
    let key = std::fs::read(foreign.key()).unwrap();
    assert_eq!(key.len(), 32);
    let mode = foreign.key().metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_refused(&foreign.resume(&[]).said(), &[]);
    assert_eq!(std::fs::read(foreign.key()).unwrap(), key);
}

#[test]
fn truth_answers_in_a_log_from_somewhere_else_are_told() {
    let foreign = Foreign::new();
    foreign.in_store(async |store| {
        let questions = Confirmations::of(store, foreign.run_id.as_str());
        questions
            .respond(&foreign.id, Decision::ApproveAlways)
            .await
            .unwrap();
    });
    let said = foreign.resume(&["--json"]).said();
    let rule =
        "runs without asking, because someone allowed it for the rest of the run: write_file";
    let due = r#"runs the call, as answered: write_file {"path":"a","content":"x"}"#;
    assert_refused(&said, &[rule, due]);
    assert_eq!(foreign.place.written("a"), None);

    // A long argument is told whole where there is room for it.
    let foreign = Foreign::new();
    let path = format!("{}; rm -rf /; {}", "a".repeat(80), "b".repeat(40));
    let edit = json!({"edit": {"args": {"path": path, "content": "x"}}}).to_string();
    foreign.in_store(async |store| {
        let run = store.load(&foreign.run_id).await.unwrap().run;
        let edit = run.open_questions()[0].read(&edit).unwrap();
        let questions = Confirmations::of(store, foreign.run_id.as_str());
        questions.respond(&foreign.id, edit).await.unwrap();
    });
    let said = foreign.resume(&["--json"]).said();
    assert_refused(
        &said,
        &["runs the call, as an answer changed it: ", "; rm -rf /; "],
    );
    assert!(!said.stderr.contains("without asking, because"), "{said:?}");
}

#[test]
fn truth_a_log_that_was_copied_to_another_id_is_refused() {
    let foreign = Foreign::new();
    foreign.in_store(async |store| {
        let run = store.load(&foreign.run_id).await.unwrap().run;
        let copies = MemoryStore::new();
        let lease = copies.acquire("another-run").await.unwrap();
        copies.append(&lease, run.records()).await.unwrap();
        drop(lease);
        let agent = ReAct::builder("task -> answer")
            .model(ScriptedModel::new([]))
            .build()
            .unwrap();
        let resumed = agent.resume_stored(copies.clone(), "another-run").await;
        let questions = Confirmations::of(copies, "another-run");
        let answered = questions.respond(&foreign.id, Decision::Approve).await;
        for error in [resumed.unwrap_err(), answered.unwrap_err()] {
            assert_eq!(error.kind(), ErrorKind::Log, "{error}");
            for id in ["`another-run`", &foreign.run_id] {
                assert!(error.to_string().contains(id), "{id}: {error}");
            }
        }
    });
}
