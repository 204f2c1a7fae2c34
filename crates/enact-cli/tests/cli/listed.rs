//! The list of kept runs, their short ids, and their removal.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Said, wait_for_requests};
use crate::place::{Place, pending};

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

fn write() -> Turn {
    Turn::calls([("write_file", json!({"path": "a.txt", "content": "hello"}))])
}

/// The id of a new run that finishes.
fn finished(place: &Place) -> String {
    let server = TestServer::start_blocking([done()]);
    let object = place.run(&server).said().json();
    object["run_id"].as_str().unwrap().to_owned()
}

/// The id of a new run that waits.
fn waiting(place: &Place) -> (String, String) {
    let server = TestServer::start_blocking([write()]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    (run_id, pending(&object).remove(0))
}

fn ending(run_id: &str) -> &str {
    &run_id[run_id.len() - 8..]
}

fn listed(place: &Place, args: &[&str]) -> Said {
    let said = place.enact(["runs"].iter().chain(args).copied()).said();
    assert_eq!(said.code, 0, "{said:?}");
    said
}

/// Changes the database behind the back of the store.
fn damage(place: &Place, statement: &str) {
    let script = "import sqlite3, sys; db = sqlite3.connect(sys.argv[1]); \
                  db.execute(sys.argv[2]); db.commit()";
    let done = std::process::Command::new("python3")
        .args(["-c", script, &place.store(), statement])
        .status();
    assert!(done.unwrap().success());
}

#[test]
fn a_list_has_a_header_and_says_how_to_answer() {
    let place = Place::new();
    let done = finished(&place);
    let (run_id, question) = waiting(&place);
    let said = listed(&place, &[]);
    let lines: Vec<&str> = said.stdout.lines().collect();
    let words = |line: &str| {
        let words = line.split_whitespace().map(str::to_owned);
        words.collect::<Vec<_>>()
    };
    assert_eq!(
        words(lines[0]),
        [
            "RUN", "STATUS", "AGE", "STEPS", "MODEL", "AGENT", "OR", "INPUT"
        ]
    );
    let first = words(lines[1]);
    assert_eq!(first[..2], [ending(&run_id), "paused"]);
    assert_eq!(first[3..], ["1", "test-model", "Write", "it."]);
    assert!(
        first[2].ends_with('s') || first[2].ends_with('m'),
        "{said:?}"
    );
    let how = format!("enact resume {}", ending(&run_id));
    let how = format!("{how} · question {question}");
    assert!(lines[2].contains("may write_file(") && lines[2].ends_with(&how));
    assert_eq!(words(lines[3])[..2], [ending(&done), "finished"]);
    assert_eq!(lines.len(), 4, "{said:?}");
    let said = listed(&place, &["--status", "failed"]);
    assert_eq!(said.stdout, "no matching runs\n");
    assert_eq!(listed(&Place::new(), &[]).stdout, "no runs\n");
    let said = place.enact(["runs", "--watch"]).said();
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said:?}");
    assert!(said.error_line().contains("needs a terminal"));
}

#[test]
fn runs_of_an_agent_file_are_named_and_told_apart() {
    let place = Place::new();
    finished(&place);
    let server = TestServer::start_blocking([done()]);
    let file = place.data.path().join("helper.toml");
    std::fs::write(&file, "signature = \"question -> answer\"\n").unwrap();
    let file = file.to_string_lossy();
    let args = ["--agent", &file, "question=How long is it?", "--json"];
    let said = crate::command::run(&server, args)
        .env("ENACT_STORE", &place.store())
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let said = listed(&place, &["--agent", "helper"]);
    assert_eq!(said.stdout.lines().count(), 2, "{said:?}");
    assert!(
        said.stdout.ends_with("helper: How long is it?\n"),
        "{said:?}"
    );
    let said = listed(&place, &["--agent", "helper", "--json"]);
    let runs: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(runs.len(), 1);
    assert_eq!(runs[0]["agent"], "helper");
    assert_eq!(runs[0]["input"], "How long is it?");
    assert_eq!(
        listed(&place, &["--agent", "other"]).stdout,
        "no matching runs\n"
    );
}

#[test]
fn an_ending_and_last_name_a_run_wherever_an_id_does() {
    let place = Place::new();
    let older = finished(&place);
    let (newer, question) = waiting(&place);
    let show = |given: &str| place.enact(["show", given, "--as", "json"]).said();
    for (given, expected) in [
        (ending(&older), &older),
        (older.as_str(), &older),
        ("last", &newer),
        (ending(&newer), &newer),
    ] {
        let said = show(given);
        assert_eq!(said.json()["run_id"], expected.as_str(), "{given}");
    }
    // A beginning is the time, and no ending.
    let said = show(&older[..30]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("no run `"), "{said:?}");
    // Two ids that end alike are told.
    let place = Place::new();
    let alike: Vec<String> = (0..40).map(|_| finished(&place)).collect();
    let (one, other) = alike
        .iter()
        .enumerate()
        .find_map(|(index, one)| {
            let last = one.chars().last();
            let mut later = alike[index + 1..].iter();
            let other = later.find(|other| other.chars().last() == last)?;
            Some((one, other))
        })
        .unwrap();
    let said = place.enact(["show", &one[one.len() - 1..]]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let told = said.error_line();
    assert!(told.contains("could be ") && told.contains("give more of the id"));
    assert!(told.contains("(finished)"), "{told} {other}");
    assert!(!question.is_empty());
}

#[test]
fn a_run_without_its_process_is_interrupted_and_a_cancelled_one_is_cancelled() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::text("never comes").then_stall()]);
    let mut child = place.run(&server).spawn();
    wait_for_requests(&server, 1);
    assert_eq!(place.runs()[0]["status"], "running");
    let id = place.runs()[0]["run_id"].as_str().unwrap().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(place.runs()[0]["status"], "interrupted");
    let said = listed(&place, &["--status", "running"]);
    assert_eq!(said.stdout, "no matching runs\n");
    let said = listed(&place, &["--status", "interrupted"]);
    let how = format!("enact resume {}", ending(&id));
    assert!(said.stdout.contains(&how), "{said:?}");
    let said = place.enact(["show", "last"]).said();
    assert!(
        said.stdout.contains(&format!("To resume the run: `{how}`")),
        "{said:?}"
    );
    // Nothing waits, but there is something to continue.
    let said = place.enact(["resume"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains(&how), "{said:?}");
    assert_eq!(place.enact(["cancel", "last"]).said().code, 0);
    assert_eq!(place.runs()[0]["status"], "cancelled");
    let said = listed(&place, &["--status", "cancelled"]);
    assert!(said.stdout.contains(ending(&id)), "{said:?}");
}

#[test]
fn truth_a_damaged_run_is_listed_and_named() {
    for statement in [
        "UPDATE events SET body = replace(body, 'inputs', 'inputz') WHERE position = 0",
        "UPDATE agents SET spec = replace(spec, 'native', 'nativ2')",
    ] {
        let place = Place::new();
        let (run_id, _) = waiting(&place);
        damage(&place, statement);
        let said = listed(&place, &[]);
        assert!(said.stdout.contains("damaged"), "{statement}: {said:?}");
        assert!(said.stdout.contains(ending(&run_id)), "{said:?}");
        assert_eq!(place.runs()[0]["status"], "damaged");
        for command in ["show", "resume", "cancel"] {
            for given in [ending(&run_id), "last"] {
                let said = place.enact([command, given]).said();
                assert_eq!(said.code, 1, "{command}: {said:?}");
                assert!(said.error_line().contains("is damaged"), "{said:?}");
            }
        }
        let said = place.enact(["rm", "last"]).said();
        assert_eq!(said.stdout, format!("deleted {run_id} (damaged)\n"));
    }
}

#[test]
fn several_runs_are_removed_when_that_is_agreed() {
    let place = Place::new();
    let ids = [finished(&place), finished(&place), waiting(&place).0];
    let said = place.enact(["rm", ending(&ids[0]), "nowhere"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(place.runs().len(), 3, "nothing is removed by half");
    let said = place.enact(["rm", &ids[0], &ids[1]]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.error_line().contains("2 runs (2 finished)"),
        "{said:?}"
    );
    assert!(said.error_line().contains("`--yes`"), "{said:?}");
    // The same run twice is one run.
    let said = place.enact(["rm", &ids[0], ending(&ids[0])]).said();
    assert_eq!(said.stdout, format!("deleted {} (finished)\n", ids[0]));
    let said = place.enact(["rm", "--older-than", "30d"]).said();
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "no run is that old\n")
    );
    let said = place.enact(["rm", "--older-than", "0d", "--yes"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.stdout,
        format!(
            "deleted {} (paused)\ndeleted {} (finished)\n",
            ids[2], ids[1]
        )
    );
    assert_eq!(place.runs(), Vec::<Value>::new());
    for args in [&["rm"][..], &["rm", "last", "--older-than", "1d"]] {
        assert_eq!(place.enact(args.iter().copied()).said().code, 2);
    }
}

#[cfg(unix)]
#[test]
fn a_list_is_watched_and_removal_is_asked_about_at_a_terminal() {
    use crate::terminal::Terminal;

    let place = Place::new();
    finished(&place);
    let mut terminal = Terminal::at(place.enact(["runs", "--watch"]));
    terminal.see("AGENT OR INPUT");
    terminal.see("finished");
    let (run_id, _) = waiting(&place);
    terminal.see("paused");
    terminal.see(&format!("enact resume {}", ending(&run_id)));
    terminal.control('c');
    terminal.leave();
    let mut terminal = Terminal::at(place.enact(["rm", "--older-than", "0d"]));
    terminal.see("delete 2 runs (1 paused, 1 finished)?");
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminal.enter("n");
    terminal.see("nothing was deleted");
    terminal.wait();
    assert_eq!(place.runs().len(), 2);
}
