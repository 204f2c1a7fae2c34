//! `shell`: asks, and keeps its limits.

use std::time::{Duration, Instant};

use enact::model::{ScriptedModel, call};
use enact::tool::builtin::Shell;
use enact::tool::{Confirmation, Effect};
use enact::values;
use enact::{
    CancellationToken, Decision, ErrorKind, Outcome, ReAct, Tool as _, ToolContext, Tools,
};
use serde_json::{Value, json};
use tempfile::TempDir;

async fn ran(shell: &Shell, command: &str) -> Value {
    let tool = shell.shell();
    let ran = tool
        .call(values! { command: command }, ToolContext::detached("c"))
        .await;
    ran.unwrap().value
}

#[tokio::test]
async fn exit_code_and_output_are_given_and_the_folder_is_where_it_runs() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.txt"), "hello").unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap();
    let expected = json!({"exit_code": 3, "stdout": "hello", "stderr": "oops\n"});
    assert_eq!(
        ran(&shell, "cat a.txt; echo oops >&2; exit 3").await,
        expected
    );
    let killed = json!({"exit_code": null, "stdout": "", "stderr": ""});
    assert_eq!(ran(&shell, "kill -9 $$").await, killed);
    // It gets no input, so nothing waits for some.
    assert_eq!(ran(&shell, "cat").await["exit_code"], 0);
    let nowhere = Shell::in_folder(folder.path().join("a.txt")).unwrap_err();
    assert!(
        nowhere.to_string().contains("commands cannot run in"),
        "{nowhere}"
    );
}

#[tokio::test]
async fn variables_are_seen_only_by_name() {
    let folder = TempDir::new().unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap();
    // Cargo sets it for every test.
    let command = "echo ${CARGO_MANIFEST_DIR:-unseen}";
    assert_eq!(ran(&shell, command).await["stdout"], "unseen\n");
    let shell = shell.with_variables(["CARGO_MANIFEST_DIR"]);
    assert_ne!(ran(&shell, command).await["stdout"], "unseen\n");
}

#[tokio::test]
async fn long_output_is_shown_by_its_ends() {
    let folder = TempDir::new().unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap().with_max_output(20);
    let said = ran(&shell, "seq 1 100000").await;
    assert_eq!(
        said["stdout"],
        "1\n2\n3\n4\n5\n\n… 588875 bytes left out …\n99\n100000\n"
    );
    assert_eq!(
        ran(&shell, "echo 123456789äöü").await["stdout"],
        "123456789äöü\n"
    );
}

/// Waits for a file in which a command writes the id of a process, then for the process to be gone.
async fn is_gone(folder: &TempDir) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if let Ok(id) = std::fs::read_to_string(folder.path().join("pid")) {
            let status = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
            // One that nobody has waited for yet is gone, too.
            if status.is_err() || status.is_ok_and(|status| status.contains(") Z ")) {
                return true;
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    false
}

const LINGERS: &str = "sleep 600 & echo $! > pid; wait";

#[tokio::test]
async fn what_is_out_of_time_or_left_behind_is_ended_with_all_that_it_started() {
    let folder = TempDir::new().unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap();
    // In the background, and nobody waits for it.
    let began = Instant::now();
    let said = ran(&shell, "sleep 600 & echo $! > pid; echo done").await;
    assert_eq!(said["stdout"], "done\n");
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert!(is_gone(&folder).await);

    std::fs::remove_file(folder.path().join("pid")).unwrap();
    let tools = Tools::new().with(shell.with_timeout(Duration::from_millis(500)).shell());
    let agent = ReAct::builder("task -> answer")
        .tools(tools)
        .confirmation("shell", Confirmation::Never)
        .model(ScriptedModel::new([
            call("shell", json!({"command": LINGERS})),
            call("submit", json!({"answer": "gave up"})),
        ]))
        .build()
        .unwrap();
    let done = agent
        .call(values! { task: "?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    let observed = done.trajectory().steps()[0].observation.clone();
    assert_eq!(observed, "Error executing shell: no result within 500ms");
    assert!(is_gone(&folder).await);
}

#[tokio::test]
async fn a_cancelled_run_ends_its_command() {
    let folder = TempDir::new().unwrap();
    let tools = Tools::new().with(Shell::in_folder(folder.path()).unwrap().shell());
    let agent = ReAct::builder("task -> answer")
        .tools(tools)
        .confirmation("shell", Confirmation::Never)
        .model(ScriptedModel::new([call(
            "shell",
            json!({"command": LINGERS}),
        )]))
        .build()
        .unwrap();
    let token = CancellationToken::new();
    let stop = {
        let (token, pid) = (token.clone(), folder.path().join("pid"));
        async move {
            while !pid.exists() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            token.cancel();
        }
    };
    let call = agent.call(values! { task: "?" }).cancel_with(token);
    let (ended, ()) = tokio::join!(call.into_future(), stop);
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(is_gone(&folder).await);
}

#[tokio::test]
async fn a_person_is_asked_before_every_command() {
    let folder = TempDir::new().unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap().shell();
    assert_eq!(shell.spec().effect, Effect::Effectful);
    let agent = ReAct::builder("task -> answer")
        .tools(Tools::new().with(shell))
        .model(ScriptedModel::new([
            call("shell", json!({"command": "touch made"})),
            call("submit", json!({"answer": "done"})),
        ]))
        .build()
        .unwrap();
    let Outcome::Paused(paused) = agent.call(values! { task: "?" }).await.unwrap() else {
        panic!("it asks");
    };
    assert!(!folder.path().join("made").exists());
    let id = paused.questions()[0].confirmation_id.clone();
    let resumed = agent.resume(paused).answer(id, Decision::Approve);
    resumed.await.unwrap().finished().unwrap();
    assert!(folder.path().join("made").exists());
}
