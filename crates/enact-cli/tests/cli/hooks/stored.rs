//! Commands of runs that are resumed: noted without secrets, and started only by who trusts the run.

use std::path::Path;

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::{free, keeping, left_behind, script, told, writing};
use crate::agent::{run, write};
use crate::command::KEY;
use crate::place::{Place, pending};

/// The commands by a file in another folder than the one that the process works in.
fn file(place: &Place, check: &str) -> String {
    let folder = Path::new(check).parent().unwrap().display().to_string();
    let agent = format!(
        "signature = \"task -> answer\"\nmodel = \"m\"\nfiles = {:?}\n\n[approval]\n\
         write_file = \"never\"\n\n[hooks]\nbefore_call = [\"./check.sh\", \"a b\"]\n\
         after_call = \"./check.sh\"\nenv = [\"ENACT_TEST_SEEN\"]\ntimeout = \"20s\"\n",
        place.files.path()
    );
    let path = format!("{folder}/agent.toml");
    std::fs::write(&path, agent).unwrap();
    path
}

#[test]
fn a_file_says_commands_with_arguments_variables_and_its_folder() {
    let (place, server) = (Place::new(), writing());
    let text = r#"echo "{\"args\": $#, \"first\": \"$1\", \"seen\": \"$ENACT_TEST_SEEN\", \"key\": \"$OPENAI_API_KEY\", \"in\": \"$(pwd -P)\"}" >> told"#;
    let check = script(&place, "check.sh", &format!("cat > /dev/null\n{text}"));
    let path = file(&place, &check);
    let said = enact_check(&path);
    assert_eq!(said.code, 0, "{said:?}");
    let said = run(&place, &server, &path)
        .args(["task=t"])
        .env("ENACT_TEST_SEEN", "yes")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let folder = place.data.path().canonicalize().unwrap();
    let seen = |args: usize, first: &str| json!({"args": args, "first": first, "seen": "yes", "key": "", "in": folder});
    assert_eq!(told(&place), [seen(1, "a b"), seen(0, ""), seen(1, "a b")]);
}

fn enact_check(path: &str) -> crate::command::Said {
    crate::command::enact(["check", path]).said()
}

#[test]
fn check_tells_where_a_command_is_wrong() {
    let place = Place::new();
    let path = write(
        &place,
        "agent.toml",
        "signature = \"task -> answer\"\n\n[hooks]\nbefore_call = \"./missing.sh\"\n\
         after_call = [\"check\", \"--token\", \"abc\"]\nends_when = \"\"\nbefor_call = \"x\"\n",
    );
    let said = enact_check(&path);
    assert!(
        said.stderr.contains(":7:1: unknown key `befor_call`"),
        "{said:?}"
    );
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        text.replace("befor_call = \"x\"\n", "")
            .replace("\"\"", "\" \""),
    )
    .unwrap();
    let said = enact_check(&path);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{said:?}");
    for (line, part) in lines.iter().zip([
        ":4:15: there is no file",
        ":5:14: write a secret as a variable",
        ":6:13: not a command",
    ]) {
        assert!(line.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn commands_work_on_resume_and_decisions_are_not_made_twice() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a", "content": "x"})),
        Turn::call("write_file", json!({"path": "b", "content": "y"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let text = r#"echo "$input" | grep -q '"b"' || exit 0
echo 'Not b.'; exit 1"#;
    let check = keeping(&place, "check.sh", text);
    let said = place.run(&server).args(["--before-call", &check]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let id = pending(&object).remove(0);
    assert_eq!(told(&place).len(), 1);
    let said = place
        .enact(["resume", run_id, "--approve", &id, "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a").as_deref(), Some("x"));
    assert_eq!(place.written("b"), None);
    assert_eq!(told(&place).len(), 3);
}

#[test]
fn truth_a_run_from_somewhere_else_runs_no_command_unasked() {
    let (place, server) = (Place::new(), writing());
    let mark = place.data.path().join("mark");
    let text = format!("touch '{}'\ncat > /dev/null", mark.display());
    let check = script(&place, "check.sh", &text);
    let flags = [
        "--before-call",
        &check,
        "--ends-when",
        &check,
        "--hook-env",
        "ENACT_TEST_SEEN",
    ];
    let said = place.run(&server).args(flags).said();
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let id = pending(&object).remove(0);
    std::fs::remove_file(&mark).unwrap();
    let key = place.data.path().join("elsewhere/seal.key");
    let resume = ["resume", run_id, "--json", "--approve", &id];
    let resume = || {
        place
            .enact(resume)
            .env("ENACT_SEAL_KEY", &key.to_string_lossy())
    };
    let said = resume().said();
    assert_eq!(said.code, 2, "{said:?}");
    for part in [
        "runs before every call: [",
        "runs after every step: [",
        "check.sh",
        "hands these commands the variables: ENACT_TEST_SEEN",
    ] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    assert_eq!(left_behind(&place, "mark"), None);
    resume().args(["--trust"]).said();
    assert!(left_behind(&place, "mark").is_some());
}

#[test]
fn truth_secrets_of_commands_are_not_stored() {
    const SECRET: &str = "hush-hush-0123456789";
    let (place, server) = (Place::new(), writing());
    let check = script(
        &place,
        "check.sh",
        "grep -q submit && exit 0\necho \"no: $2\"; exit 1",
    );
    let command = format!("{check} --token ${{ENACT_TEST_TOKEN}}");
    let said = free(&place, &server, ["--before-call", &command])
        .env("ENACT_TEST_TOKEN", SECRET)
        .said();
    let run_id = place.runs()[0]["run_id"].as_str().unwrap().to_owned();
    let events = place
        .enact(["show", &run_id, "--as", "events"])
        .said()
        .stdout;
    assert!(events.contains("no: [redacted]"), "{events}");
    for text in [&events, &said.stdout, &said.stderr] {
        assert!(!text.contains(SECRET) && !text.contains(KEY), "{text}");
    }
}

#[test]
fn an_agent_that_is_called_has_its_own_commands() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("writer", json!({"task": "w"})),
        Turn::call("write_file", json!({"path": "a", "content": "x"})),
        Turn::call("submit", json!({"answer": "not written"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let text = r#"echo "$input" | grep -q submit || { echo 'Not here.'; exit 1; }"#;
    let check = keeping(&place, "check.sh", text);
    file(&place, &check);
    let outer = "signature = \"task -> answer\"\nmodel = \"m\"\n\n[agents.writer]\n\
                 file = \"agent.toml\"\ndescription = \"Writes.\"\n";
    let path = place.data.path().join("outer.toml");
    std::fs::write(&path, outer).unwrap();
    let said = run(&place, &server, &path.to_string_lossy())
        .args(["task=t"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a"), None);
    let told = told(&place);
    // The call, and the outputs of the agent that is called: not those of its caller.
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1]["args"]["answer"], "not written");
}
