//! `enact tools`, and the tools that reach further.

use std::io::{Read as _, Write as _};

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{asking, enact, run};
use crate::place::{Place, pending};

fn listed<'a>(args: impl IntoIterator<Item = &'a str>) -> Vec<Value> {
    let said = enact(["tools", "--json"].into_iter().chain(args)).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    serde_json::from_str(&said.stdout).unwrap()
}

fn of(list: &[Value], name: &str) -> Value {
    list.iter()
        .find(|tool| tool["name"] == name)
        .unwrap()
        .clone()
}

#[test]
fn every_built_in_tool_is_listed_with_its_rules() {
    let all = listed([]);
    let names: Vec<&str> = all
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let builtin = enact::tool::builtin::NAMES.iter();
    let expected: Vec<&str> = builtin
        .chain(enact::tool::builtin::SET_UP_TOOL_NAMES)
        .copied()
        .collect();
    assert_eq!(names, expected);
    let shell = of(&all, "shell");
    assert_eq!(shell["source"], "built-in");
    assert_eq!(
        (&shell["effect"], &shell["confirmation"]),
        (&json!("effectful"), &json!("always"))
    );
    assert_eq!(shell["parameters"]["required"], json!(["command"]));
    let get = of(&all, "http_get");
    assert_eq!(
        (&get["effect"], &get["confirmation"]),
        (&json!("read_only"), &json!("never"))
    );

    let some = listed([
        "--tools",
        "shell,calculator",
        "--shell-folder=.",
        "--allow=shell",
        "--ask=calculator",
    ]);
    assert_eq!(some.len(), 2);
    assert_eq!(of(&some, "shell")["confirmation"], "never");
    assert_eq!(of(&some, "calculator")["confirmation"], "always");

    let said = enact(["tools", "--tools", "shell", "--shell-folder", "."]).said();
    assert_eq!(
        said.stdout,
        "shell · built-in · every call counts · asks before every call\n   Runs a command in a \
         shell, without input, and gives its exit code and output. A person has to agree first.\n   \
         command: string; The command, as typed into `sh`. It gets no input.\n\n"
    );
}

#[cfg(unix)]
#[test]
fn what_may_be_left_out_is_told_with_its_sort() {
    let said = enact(["tools", "--tools", "current_time"]).said();
    assert!(
        said.stdout.contains("timezone?: string; "),
        "{}",
        said.stdout
    );
}

#[test]
fn tools_of_servers_are_listed_with_their_server() {
    let models = TestServer::start_blocking([]);
    let (program, url) = (env!("CARGO_BIN_EXE_enact"), models.base_url());
    let server = format!(
        "'{program}' mcp 'x -> y' --name inner --model m --base-url {url} --store none --no-probe"
    );
    let all = listed(["--mcp", &server, "--tools", "calculator"]);
    assert_eq!(all.len(), 2);
    assert_eq!(of(&all, "calculator")["source"], "built-in");
    let inner = of(&all, "inner");
    assert!(
        inner["source"]
            .as_str()
            .unwrap()
            .starts_with("MCP server `"),
        "{inner}"
    );
    assert_eq!(inner["parameters"]["required"], json!(["x"]));
}

#[test]
fn tools_that_reach_further_are_off_until_it_is_said_how_far() {
    let server = TestServer::start_blocking([]);
    for (flags, problem) in [
        (vec!["--tools=http_get"], "`--allow-host HOST`"),
        (
            vec!["--tools=http_get", "--allow-private"],
            "`--allow-host HOST`",
        ),
        (
            vec!["--tools=http_get", "--allow-host=a b"],
            "`a b` is no host",
        ),
        (vec!["--tools=shell"], "`--shell-folder DIR`"),
        (
            vec!["--tools=shell", "--shell-folder=/no/such"],
            "commands cannot run in `/no/such`",
        ),
        (
            vec!["--allow-host=a.example"],
            "configure the tool `http_get`",
        ),
        (vec!["--shell-folder=."], "configure the tool `shell`"),
    ] {
        let args = ["task -> answer", "task=?"].into_iter().chain(flags);
        let said = run(&server, args).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(problem), "{said:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_command_waits_for_a_person_and_runs_after_resume() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("note", json!({"text": "remember me"})),
        Turn::call("shell", json!({"command": "echo made > made; cat made"})),
        Turn::call("note", json!({})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let folder = place.files.path().to_string_lossy().into_owned();
    let args = [
        "task -> answer",
        "task=?",
        "--json",
        "--tools",
        "shell,note",
        "--shell-folder",
        &folder,
    ];
    let said = run(&server, args).env("ENACT_STORE", &place.store()).said();
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(place.written("made"), None);
    let object = said.json();
    let id = object["run_id"].as_str().unwrap();
    let said = place
        .enact(["resume", id, "--approve", &pending(&object)[0], "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let steps = said.json()["trajectory"].clone();
    let ran = json!({"exit_code": 0, "stdout": "made\n", "stderr": ""});
    assert_eq!(steps[1]["observation"], ran);
    assert_eq!(steps[2]["observation"], json!({"notes": ["remember me"]}));
}

#[test]
fn a_page_is_read_only_from_an_allowed_host() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap().to_string();
    let url = format!("http://{at}/page");
    let answering = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 16];
        stream.read_exact(&mut head).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 14\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        stream.write_all(b"<h1>Hello</h1>").unwrap();
        assert_eq!(&head, b"GET /page HTTP/1");
        // Until the other side has read it all.
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let models = TestServer::start_blocking([
        Turn::call("http_get", json!({"url": url})),
        Turn::call("http_get", json!({"url": "http://other.example/"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let args = [
        "run",
        "task -> answer",
        "task=?",
        "--json",
        "--tools=http_get",
        "--allow-private",
    ];
    let said = asking(&models, args.into_iter().chain(["--allow-host", &at])).said();
    assert_eq!(said.code, 0, "{said:?}");
    let steps = said.json()["trajectory"].clone();
    answering.join().unwrap();
    assert_eq!(steps[0]["observation"]["text"], "Hello");
    let refused = steps[1]["observation"].as_str().unwrap();
    assert!(
        refused.contains("`other.example` with port 80 is not allowed"),
        "{refused}"
    );
}
