//! After calls: what a call gave is kept, replaced, or not shown because the command failed.

use serde_json::json;

use super::{free, keeping, observed, script, told, writing};
use crate::place::Place;

#[test]
fn a_command_sees_what_a_call_gave_and_replaces_it() {
    let (place, server) = (Place::new(), writing());
    let redact = keeping(
        &place,
        "redact.sh",
        r#"echo '{"observation": {"seen": 1}}'"#,
    );
    let said = free(&place, &server, ["--after-call", &redact]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a").as_deref(), Some("x"));
    let object = said.json();
    assert_eq!(observed(&object)["value"], json!({"seen": 1}));
    // Outputs are no call that gives something.
    let told = told(&place);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["hook"], "after_call");
    assert_eq!(told[0]["run_id"], object["run_id"]);
    assert_eq!(told[0]["tool"], "write_file");
    assert_eq!(
        (&told[0]["step"], &told[0]["is_error"]),
        (&json!(1), &json!(false))
    );
    assert!(told[0]["observation"].is_string(), "{told:?}");
}

#[test]
fn a_command_that_says_nothing_keeps_what_a_call_gave() {
    let (place, server) = (Place::new(), writing());
    let keep = keeping(&place, "keep.sh", "");
    let object = free(&place, &server, ["--after-call", &keep]).said().json();
    assert_eq!(observed(&object)["value"], told(&place)[0]["observation"]);
}

#[test]
fn truth_what_a_call_gave_is_not_shown_if_the_command_fails() {
    for answer in ["exit 1", "exit 9", "echo fine", "sleep 60"] {
        let (place, server) = (Place::new(), writing());
        let redact = script(&place, "redact.sh", &format!("cat > /dev/null\n{answer}"));
        let flags = ["--after-call", &redact, "--hook-timeout", "300ms"];
        let said = free(&place, &server, flags).said();
        let object = said.json();
        assert_eq!(
            observed(&object)["value"],
            "write_file was executed, but the hook `after_call` failed, so its result is not shown",
            "{answer}"
        );
        assert!(
            said.stderr
                .starts_with("warning: the hook `after_call` failed"),
            "{answer}: {said:?}"
        );
        // The model is told the same, and not what the tool said.
        assert_eq!(place.written("a").as_deref(), Some("x"));
    }
}
