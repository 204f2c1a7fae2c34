//! Tools that cut a text never cut through a secret: half of one would not be found afterwards.

use enact::model::{ScriptedModel, Secrets, call};
use enact::tool::builtin::{Files, Shell, Web};
use enact::{Decision, FnTool, Outcome, ReAct, Settings, Tools, values};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::site::{Site, page};

const SECRET: &str = "Qx7!Zk29-Wm4#Rt81-Lp6%Vc53";

/// The log of a run that makes one call, approved if it has to be.
async fn log_of(tool: FnTool, name: &str, args: Value) -> String {
    let model = ScriptedModel::new([call(name, args), call("submit", json!({"answer": "done"}))]);
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(tool))
        .model(model)
        .build()
        .unwrap();
    let settings = Settings::new().secrets(Secrets::new().with(SECRET).unwrap());
    let done = enact::scope(settings, async {
        match agent.call(values! { question: "?" }).await.unwrap() {
            Outcome::Finished(done) => done,
            Outcome::Paused(paused) => {
                let id = paused.questions()[0].confirmation_id.clone();
                let call = agent.resume(paused).answer(id, Decision::Approve);
                call.await.unwrap().finished().unwrap()
            }
        }
    })
    .await;
    serde_json::to_string(done.run().records()).unwrap()
}

/// Three characters of it in a row may stand there by chance, more do not.
fn assert_hidden(log: &str, what: &str) {
    for at in 0..SECRET.len() - 3 {
        let part = &SECRET[at..at + 4];
        assert!(!log.contains(part), "{what}: {part} is in {log}");
    }
}

#[tokio::test]
async fn truth_search_files_shows_no_part_of_a_secret() {
    for before in [150, 177, 195, 199, 200] {
        let folder = TempDir::new().unwrap();
        let line = format!("key {}{SECRET} and more", "x".repeat(before));
        std::fs::write(folder.path().join("a.txt"), line).unwrap();
        // The place in a path at which messages cut it.
        let deep = format!("{}/{SECRET}", "d".repeat(100));
        std::fs::create_dir_all(folder.path().join(&deep)).unwrap();
        std::fs::write(folder.path().join(deep).join("b.txt"), "key").unwrap();
        let tool = Files::open(folder.path()).unwrap().search_files();
        let log = log_of(tool, "search_files", json!({"text": "key"})).await;
        assert!(log.contains("b.txt"), "{log}");
        assert_hidden(&log, &format!("after {before}"));
    }
}

#[tokio::test]
async fn truth_a_search_does_not_tell_what_is_in_a_secret() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("a.txt"), format!("key {SECRET}")).unwrap();
    let tool = Files::open(folder.path()).unwrap().search_files();
    let log = log_of(tool, "search_files", json!({"text": "Qx"})).await;
    assert!(!log.contains("a.txt"), "{log}");
}

#[tokio::test]
async fn truth_read_file_shows_no_part_of_a_secret() {
    let folder = TempDir::new().unwrap();
    let long = format!("{}{SECRET} and more", "x".repeat(39_990));
    std::fs::write(folder.path().join("a.txt"), long).unwrap();
    let tool = Files::open(folder.path()).unwrap().read_file();
    let log = log_of(tool, "read_file", json!({"path": "a.txt"})).await;
    assert!(log.contains("is cut after"), "{log}");
    assert_hidden(&log, "a long line");
}

#[tokio::test]
async fn truth_http_get_shows_no_part_of_a_secret() {
    let site = Site::start(|path| {
        let body = format!("{}{SECRET} and more", "x".repeat(980));
        match path {
            "/html" => page("text/html", format!("<p>{body}")),
            // One in three bytes of it is half a character.
            "/cut" => page("text/plain", format!("{}{SECRET}€€€", "x".repeat(972))),
            _ => page("text/plain", body),
        }
    })
    .await;
    let web = Web::new().allow_host(&site.at.to_string()).unwrap();
    let web = web.allow_private().with_max_bytes(1000);
    for path in ["/plain", "/html", "/cut"] {
        let url = format!("http://{}{path}", site.at);
        let log = log_of(web.http_get(), "http_get", json!({"url": url})).await;
        assert!(log.contains("is_cut"), "{log}");
        assert_hidden(&log, path);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn truth_shell_output_shows_no_part_of_a_secret() {
    let folder = TempDir::new().unwrap();
    let shell = Shell::in_folder(folder.path()).unwrap();
    let shell = shell.with_max_output(200);
    for before in [80, 95, 99, 100] {
        let output = format!("{}{SECRET}", "x".repeat(before));
        let reversed = format!("{output}{}{SECRET}{}", "y".repeat(300), "x".repeat(before));
        std::fs::write(folder.path().join("out.txt"), reversed).unwrap();
        let log = log_of(shell.shell(), "shell", json!({"command": "cat out.txt"})).await;
        assert!(log.contains("left out"), "{log}");
        assert_hidden(&log, &format!("after {before}"));
    }
}
