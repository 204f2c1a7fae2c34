//! Agents that do a part of the work of a run: its extraction and its compaction.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use crate::agent::{asked, run, write};
use crate::command::enact;
use crate::place::{Place, pending};

const EXTRACT: &str = r#"
signature = "question -> answer"
instructions = "Say what was found."
model = "of-the-extraction"
temperature = 0.25
"#;

const AGENT: &str = r#"
signature = "question -> answer"
model = "of-the-agent"
completion = "finish"
extraction = "extract.toml"
"#;

fn finishing() -> TestServer {
    TestServer::start_blocking([
        Turn::call("finish", json!({})),
        Turn::text(json!({"answer": "found"}).to_string()),
    ])
}

#[test]
fn the_extraction_is_an_agent_file_by_key_or_flag() {
    for by_flag in [false, true] {
        let (place, server) = (Place::new(), finishing());
        let extract = write(&place, "extract.toml", EXTRACT);
        let text = match by_flag {
            true => AGENT.replace("extraction = \"extract.toml\"", ""),
            false => AGENT.to_owned(),
        };
        let path = write(&place, "agent.toml", &text);
        let said = enact(["check", &path]).said();
        assert_eq!(said.code, 0, "{said:?}");
        let mut command = run(&place, &server, &path).args(["question=q"]);
        if by_flag {
            command = command.args(["--extraction", &extract]);
        }
        let said = command.said();
        assert_eq!(said.code, 0, "{said:?}");
        let object = said.json();
        assert_eq!(object["outputs"]["answer"], "found");
        let request = asked(&server, 1);
        assert_eq!(request["model"], "of-the-extraction");
        assert_eq!(request["temperature"], 0.25);
        let text = request["messages"].to_string();
        assert!(
            text.contains("Say what was found.") && text.contains("trajectory"),
            "{text}"
        );
        server.assert_complete();
        // The requests of the agent itself, and not those of the extraction.
        let run_id = object["run_id"].as_str().unwrap();
        let said = place.enact(["show", run_id, "--as", "prompts"]).said();
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.contains("== request 1 (step)"), "{said:?}");
        assert!(!said.stdout.contains("== request 2"), "{said:?}");
    }
}

#[test]
fn the_extraction_of_a_run_that_is_resumed_is_the_one_that_it_began_with() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a", "content": "x"})),
        Turn::call("finish", json!({})),
        Turn::text(json!({"answer": "found"}).to_string()),
    ]);
    let extract = write(&place, "extract.toml", EXTRACT);
    let text = format!("{AGENT}files = \".\"\ntools = [\"write_file\"]\n");
    let path = write(&place, "agent.toml", &text);
    let object = run(&place, &server, &path)
        .args(["question=q"])
        .said()
        .json();
    let id = pending(&object).remove(0);
    std::fs::remove_file(extract).unwrap();
    let run_id = object["run_id"].as_str().unwrap();
    let said = place
        .enact(["resume", run_id, "--approve", &id, "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(asked(&server, 2)["model"], "of-the-extraction");
}

#[test]
fn the_compaction_is_an_agent_file() {
    let place = Place::new();
    let call = || {
        Turn::call(
            "write_file",
            json!({"path": "a", "content": "x".repeat(4_000)}),
        )
    };
    let too_long = || {
        let error = json!({"error": {"message": "too long", "code": "context_length_exceeded"}});
        Turn::status(400).body(error.to_string())
    };
    let server = TestServer::start_blocking([
        call(),
        call(),
        call(),
        too_long(),
        Turn::text(json!({"summary": "It wrote a file."}).to_string()),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let summarise = "signature = \"transcript -> summary\"\nmodel = \"of-the-summary\"\n";
    write(&place, "summarise.toml", summarise);
    let text = "signature = \"question -> answer\"\nmodel = \"m\"\nfiles = \".\"\n\
                tools = [\"write_file\"]\ncompaction = \"summarise.toml\"\n\n\
                [approval]\nwrite_file = \"never\"\n";
    let path = write(&place, "agent.toml", text);
    let said = run(&place, &server, &path).args(["question=q"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(asked(&server, 4)["model"], "of-the-summary");
    let next = asked(&server, 5)["messages"].to_string();
    assert!(next.contains("It wrote a file."), "{next}");
}

#[test]
fn check_tells_where_a_part_does_not_fit() {
    for (file, text, problem) in [
        (
            "extract.toml",
            "signature = \"question -> result\"",
            "it does not give `answer`",
        ),
        (
            "extract.toml",
            "signature = \"topic -> answer\"",
            "it takes `topic`, which it is not given",
        ),
        (
            "extract.toml",
            "signature = \"question -> answer\"\ntools = [\"calculator\"]",
            "leave `tools` out of its file",
        ),
        (
            "extract.toml",
            "signature = \"question -> answer\"\n[limits]\nmax_iterations = 3",
            "leave `limits` out of its file",
        ),
        ("other.toml", "", "cannot be read"),
    ] {
        let place = Place::new();
        write(&place, file, text);
        let path = write(&place, "agent.toml", AGENT);
        let said = enact(["check", &path]).said();
        assert_eq!(said.code, 2, "{said:?}");
        let line = said.stderr.lines().next().unwrap();
        assert!(
            line.starts_with(&format!("{path}:5:14: ")),
            "{text}: {line}"
        );
        assert!(line.contains(problem), "{text}: {line}");
    }
    let (place, server) = (Place::new(), TestServer::start_blocking([]));
    let extract = write(&place, "extract.toml", "signature = \"topic -> answer\"");
    let path = write(&place, "agent.toml", "signature = \"question -> answer\"");
    let said = run(&place, &server, &path)
        .args(["question=q", "--extraction", &extract])
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("`--extraction`: "), "{said:?}");
}
