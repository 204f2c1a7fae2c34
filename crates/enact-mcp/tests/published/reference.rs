//! Files, memory, time and git.

use std::path::Path;
use std::process::Command;

use enact::model::call;
use enact::{Decision, Outcome};
use enact_mcp::{Mcp, join};
use serde_json::json;

use crate::place::program;
use crate::{agent, observations, task};

#[tokio::test]
async fn the_filesystem_server_reads_unasked_and_asks_before_it_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    std::fs::write(path.join("notes.txt"), "buy milk").unwrap();
    let notes = path.join("notes.txt").to_str().unwrap().to_owned();
    let copy = path.join("copy.txt").to_str().unwrap().to_owned();
    let server = Mcp::stdio(program("mcp-server-filesystem"), [path.to_str().unwrap()])
        .connect()
        .await
        .unwrap();
    let agent = agent(
        server.tools(),
        [
            call("read_text_file", json!({"path": notes})),
            call("write_file", json!({"path": copy, "content": "buy milk"})),
            call("read_text_file", json!({"path": "/etc/hostname"})),
        ],
    );
    let Outcome::Paused(paused) = agent.call(task()).await.unwrap() else {
        panic!("it asks before it writes")
    };
    assert!(!Path::new(&copy).exists());
    let question = paused.questions()[0].confirmation_id.clone();
    let resumed = agent.resume(paused).answer(question, Decision::Approve);
    let seen = observations(resumed.await.unwrap());
    assert_eq!(seen[0], json!({"content": "buy milk"}));
    assert_eq!(std::fs::read_to_string(&copy).unwrap(), "buy milk");
    let refused = seen[2].as_str().unwrap();
    assert!(refused.contains("Access denied"), "{refused}");
    server.shutdown().await;
}

#[tokio::test]
async fn the_memory_server_remembers_and_forgets_only_when_a_person_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.jsonl");
    let server = Mcp::stdio(program("mcp-server-memory"), [""; 0])
        .variable("MEMORY_FILE_PATH", file.to_str().unwrap())
        .connect()
        .await
        .unwrap();
    let ada = json!({"name": "Ada", "entityType": "person", "observations": ["likes tea"]});
    let agent = agent(
        server.tools(),
        [
            call("create_entities", json!({"entities": [ada]})),
            call("search_nodes", json!({"query": "tea"})),
            call("delete_entities", json!({"entityNames": ["Ada"]})),
        ],
    );
    let Outcome::Paused(paused) = agent.call(task()).await.unwrap() else {
        panic!("it asks before it forgets")
    };
    let question = paused.questions()[0].confirmation_id.clone();
    let no = Decision::Reject(Some("keep her".to_owned()));
    let resumed = agent.resume(paused).answer(question, no);
    let seen = observations(resumed.await.unwrap());
    assert_eq!(seen[1]["entities"], json!([ada]));
    assert!(
        seen[2].as_str().unwrap().contains("keep her"),
        "{}",
        seen[2]
    );
    assert!(std::fs::read_to_string(&file).unwrap().contains("Ada"));
    server.shutdown().await;
}

#[tokio::test]
async fn the_time_server_converts_and_its_mistakes_are_observations() {
    let server = Mcp::stdio(program("mcp-server-time"), ["--local-timezone", "UTC"])
        .connect()
        .await
        .unwrap();
    let times = |time: &str| json!({"source_timezone": "Europe/Berlin", "time": time, "target_timezone": "Asia/Tokyo"});
    let agent = agent(
        server.tools(),
        [
            call("convert_time", times("12:00")),
            call("convert_time", times("noon")),
        ],
    );
    let seen = observations(agent.call(task()).await.unwrap());
    let text = seen[0].to_string();
    assert!(
        text.contains("Asia/Tokyo") && text.contains("time_difference"),
        "{text}"
    );
    let text = seen[1].as_str().unwrap();
    assert!(text.starts_with("Error executing convert_time"), "{text}");
    server.shutdown().await;
}

#[tokio::test]
async fn the_git_server_works_beside_another_that_uses_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap().to_owned();
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]);
        let output = command.args(args).current_dir(&path).output().unwrap();
        assert!(output.status.success(), "{args:?}");
    };
    git(&["init", "--quiet"]);
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    git(&["add", "a.txt"]);
    git(&["commit", "--quiet", "-m", "Begin with one"]);
    std::fs::write(folder.path().join("a.txt"), "two\n").unwrap();
    let plan = || Mcp::stdio(program("mcp-server-git"), ["--repository", &path]);
    let servers = [
        plan().name("mine").deny(["git_reset"]).unwrap(),
        plan().name("theirs").allow(["git_log"]).unwrap(),
    ];
    let servers = [
        servers[0].clone().connect().await.unwrap(),
        servers[1].clone().connect().await.unwrap(),
    ];
    let tools = join(enact::Tools::new(), &servers);
    let names: Vec<&str> = tools.names().collect();
    assert!(names.contains(&"mine_git_log"), "{names:?}");
    assert!(names.contains(&"theirs_git_log"), "{names:?}");
    assert!(names.contains(&"git_status"), "{names:?}");
    assert!(!names.contains(&"git_reset"), "{names:?}");
    let agent = agent(
        tools,
        [
            call("theirs_git_log", json!({"repo_path": path})),
            call("git_diff_unstaged", json!({"repo_path": path})),
        ],
    );
    let seen = observations(agent.call(task()).await.unwrap());
    assert!(
        seen[0].to_string().contains("Begin with one"),
        "{}",
        seen[0]
    );
    assert!(seen[1].to_string().contains("+two"), "{}", seen[1]);
    for server in servers {
        server.shutdown().await;
    }
}
