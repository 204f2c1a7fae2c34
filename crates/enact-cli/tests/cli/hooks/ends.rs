//! After steps: the loop ends, goes on, or stops because the command failed.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::{free, keeping, script, told, writing};
use crate::place::Place;

#[test]
fn a_command_ends_the_loop_by_its_exit_code() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a", "content": "x"})),
        Turn::call("write_file", json!({"path": "b", "content": "y"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let done = keeping(&place, "done.sh", r#"echo "$input" | grep -q '"b"'"#);
    let said = free(&place, &server, ["--ends-when", &done]).said();
    let object = said.json();
    assert_eq!(object["termination_reason"], "custom", "{said:?}");
    assert_eq!(said.code, 4, "{said:?}");
    let told = told(&place);
    assert_eq!(told.len(), 2, "{told:?}");
    assert_eq!(told[1]["hook"], "ends_when");
    assert_eq!(told[1]["run_id"], object["run_id"]);
    assert_eq!(told[1]["step"], 2);
    assert_eq!(told[1]["actions"][0]["call"]["args"]["path"], "b");
    assert!(told[1]["actions"][0]["observation"].is_object(), "{told:?}");
    server.assert_complete();
}

#[test]
fn truth_a_command_that_fails_stops_the_run_and_it_is_asked_again_on_resume() {
    let (place, server) = (Place::new(), writing());
    let done = script(&place, "done.sh", "echo 'out of order' >&2; exit 2");
    let said = free(&place, &server, ["--ends-when", &done]).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.error_line()
            .contains("the hook `ends_when`: exit status: 2: out of order"),
        "{said:?}"
    );
    let object = said.json();
    assert_eq!(object["error"]["kind"], "hook");
    let run_id = object["run_id"].as_str().unwrap();
    assert_eq!(place.written("a").as_deref(), Some("x"));
    // The step is not lost.
    script(&place, "done.sh", "exit 1");
    let said = place.enact(["resume", run_id, "--json"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    server.assert_complete();
}
