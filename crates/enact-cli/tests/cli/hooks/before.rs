//! Before calls: allowed, changed, vetoed, asked about, or blocked because the command failed.

use std::time::{Duration, Instant};

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::{free, keeping, left_behind, observed, script, told, writing};
use crate::place::{Place, pending};

#[test]
fn a_command_sees_every_call_and_the_outputs() {
    let (place, server) = (Place::new(), writing());
    let check = keeping(&place, "check.sh", "");
    let said = free(&place, &server, ["--before-call", &check]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a").as_deref(), Some("x"));
    let run_id = said.json()["run_id"].clone();
    assert_eq!(
        told(&place),
        [
            json!({
                "hook": "before_call", "run_id": run_id, "step": 1, "tool": "write_file",
                "args": {"path": "a", "content": "x"},
            }),
            json!({
                "hook": "before_call", "run_id": run_id, "step": 2, "tool": "submit",
                "args": {"answer": "done"},
            }),
        ]
    );
    server.assert_complete();
}

#[test]
fn a_command_vetoes_and_changes_calls_and_outputs() {
    for (answer, written, gave) in [
        ("echo 'Not on Sundays.'; exit 1", None, "Not on Sundays."),
        (
            r#"echo '{"verdict": "veto", "reason": "Not on Sundays."}'"#,
            None,
            "Not on Sundays.",
        ),
        (
            r#"echo '{"verdict": "change", "args": {"path": "b", "content": "y"}}'"#,
            Some("y"),
            "b",
        ),
    ] {
        let (place, server) = (Place::new(), writing());
        let text = format!("grep -q submit && exit 0\n{answer}");
        let check = script(&place, "check.sh", &text);
        let said = free(&place, &server, ["--before-call", &check]).said();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(place.written("a"), None);
        assert_eq!(place.written("b").as_deref(), written);
        let object = said.json();
        assert!(observed(&object).to_string().contains(gave), "{object}");
    }

    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("submit", json!({"answer": "a"})),
        Turn::call("submit", json!({"answer": "source b"})),
    ]);
    let text = "grep -q source && exit 0\necho 'Name a source.'; exit 1";
    let check = script(&place, "check.sh", text);
    let said = free(&place, &server, ["--before-call", &check]).said();
    assert_eq!(said.json()["outputs"]["answer"], "source b", "{said:?}");
    let asked = server.requests()[1].json().to_string();
    assert!(asked.contains("Name a source."), "{asked}");
}

#[test]
fn a_command_has_a_person_asked_even_about_what_is_allowed() {
    let (place, server) = (Place::new(), writing());
    let text = r#"grep -q submit && exit 0
echo '{"verdict": "ask"}'"#;
    let check = script(&place, "check.sh", text);
    let said = free(&place, &server, ["--before-call", &check]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    assert_eq!(place.written("a"), None);
    let id = pending(&object).remove(0);
    let run_id = object["run_id"].as_str().unwrap();
    let said = place
        .enact(["resume", run_id, "--approve", &id, "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a").as_deref(), Some("x"));
}

#[test]
fn truth_a_command_that_fails_blocks_the_call_and_the_person_is_told() {
    for (answer, problem) in [
        ("exit 3", "exit status: 3"),
        ("echo 'no such module' >&2; exit 1", "no such module"),
        ("kill -9 $$", "signal: 9"),
        ("echo ok", "it printed no answer"),
        (r#"echo '{"verdict": "maybe"}'"#, "maybe"),
        (r#"echo '{"verdict": "allow"}'; exit 2"#, "exit status: 2"),
        ("sleep 60", "no answer within 300ms"),
    ] {
        let (place, server) = (Place::new(), writing());
        let text = format!("grep -q submit && exit 0\n{answer}");
        let check = script(&place, "check.sh", &text);
        let flags = ["--before-call", &check, "--hook-timeout", "300ms"];
        let said = free(&place, &server, flags).said();
        assert_eq!(place.written("a"), None, "{answer}");
        let object = said.json();
        assert_eq!(
            observed(&object)["value"],
            "This call was not executed: the hook `before_call` failed.",
            "{answer}"
        );
        let warnings: Vec<&str> = said.stderr.lines().collect();
        let [warning] = warnings[..] else {
            panic!("{answer}: {said:?}");
        };
        assert!(
            warning
                .starts_with("warning: the hook `before_call` failed for the call of write_file")
                && warning.contains(problem),
            "{answer}: {warning}"
        );
    }
}

#[test]
fn outputs_never_come_out_of_a_run_whose_command_fails() {
    let place = Place::new();
    let server = TestServer::start_blocking(vec![Turn::call("submit", json!({"answer": "a"})); 7]);
    let check = script(&place, "check.sh", "exit 3");
    let flags = ["--before-call", &check, "--max-repairs", "2"];
    let said = free(&place, &server, flags).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.json()["outputs"], json!({}));
}

#[test]
fn what_a_command_starts_ends_with_its_time() {
    let (place, server) = (Place::new(), writing());
    let mark = place.data.path().join("mark");
    let text = format!(
        "grep -q submit && exit 0\n(sleep 2; touch '{}') &\nwait",
        mark.display()
    );
    let check = script(&place, "check.sh", &text);
    let flags = ["--before-call", &check, "--hook-timeout", "200ms"];
    let began = Instant::now();
    let said = free(&place, &server, flags).said();
    assert_eq!(said.code, 0, "{said:?}");
    std::thread::sleep(Duration::from_secs(3).saturating_sub(began.elapsed()));
    assert_eq!(left_behind(&place, "mark"), None);
}

#[test]
fn failures_are_shown_among_the_steps() {
    let (place, server) = (Place::new(), writing());
    let text = "grep -q submit && exit 0\nexit 3";
    let check = script(&place, "check.sh", text);
    let files = place.files.path().to_string_lossy().into_owned();
    let words = ["task -> answer", "task=t", "--files", &files];
    let words = words.iter().copied().chain(["--before-call", &check]);
    let said = crate::command::run(&server, words).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("exit status: 3"), "{said:?}");
    assert!(!said.stderr.contains("warning:"), "{said:?}");
}

#[test]
fn a_command_that_is_none_is_refused_before_anything_is_asked() {
    let (place, server) = (Place::new(), TestServer::start_blocking([]));
    for (command, problem) in [
        ("./missing.sh", "there is no file"),
        ("", "not a command"),
        ("check 'open", "not a command"),
        ("check --token abc", "write a secret as a variable"),
        ("check ${ENACT_TEST_UNSET}", "ENACT_TEST_UNSET is not set"),
    ] {
        let said = free(&place, &server, ["--before-call", command]).said();
        assert_eq!(said.code, 2, "{command}: {said:?}");
        assert!(said.error_line().contains(problem), "{command}: {said:?}");
    }
}
