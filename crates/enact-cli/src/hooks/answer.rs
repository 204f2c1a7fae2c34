//! What commands answer: by their exit code, and by JSON on their standard output.

use enact::run::Observation;
use enact::{Values, Verdict};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::view::text;

/// The most characters that are shown of what is no answer.
const SHOWN: usize = 200;

/// What a command said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: i32,
    pub(super) stdout: String,
    /// How it ended and what it said about that, for people.
    pub(super) complaint: String,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case", deny_unknown_fields)]
enum Answer {
    Allow {},
    Veto { reason: String },
    Change { args: Values },
    Ask {},
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    observation: Value,
    is_error: Option<bool>,
}

/// What is to become of a call.
pub(super) fn verdict(said: Said) -> Result<Verdict, String> {
    let stdout = said.stdout.trim();
    let verdict = match (said.code, stdout) {
        (0, "") => Verdict::Allow,
        (0, _) => match read(stdout)? {
            Answer::Allow {} => Verdict::Allow,
            Answer::Veto { reason } => Verdict::Veto(reason),
            Answer::Change { args } => Verdict::Change(args),
            Answer::Ask {} => Verdict::Ask,
        },
        (1, "") => return Err(format!("it gave no reason ({})", said.complaint)),
        (1, _) => match read(stdout) {
            Ok(Answer::Veto { reason }) => Verdict::Veto(reason),
            Ok(_) => return Err("its exit code is that of a veto, and its answer is not".into()),
            Err(_) => Verdict::Veto(stdout.to_owned()),
        },
        _ => return Err(said.complaint),
    };
    match &verdict {
        Verdict::Veto(reason) if reason.trim().is_empty() => {
            Err("it gave no reason for its veto".to_owned())
        }
        _ => Ok(verdict),
    }
}

/// What a call gave, after a command has seen it.
pub(super) fn observation(said: Said, observation: Observation) -> Result<Observation, String> {
    match (said.code, said.stdout.trim()) {
        (0, "") => Ok(observation),
        (0, stdout) => {
            let changed: Changed = read(stdout)?;
            let mut given = Observation::value(changed.observation);
            given.is_error = changed.is_error.unwrap_or(observation.is_error);
            Ok(given)
        }
        _ => Err(said.complaint),
    }
}

/// Whether the loop ends.
pub(super) fn ends(said: Said) -> Result<bool, String> {
    match said.code {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(said.complaint),
    }
}

fn read<T: DeserializeOwned>(stdout: &str) -> Result<T, String> {
    serde_json::from_str(stdout).map_err(|error| {
        let shown = text::one_line(stdout);
        format!(
            "it printed no answer ({error}): {}",
            text::clipped(&shown, SHOWN)
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn said(code: i32, stdout: &str) -> Said {
        Said {
            code,
            stdout: stdout.to_owned(),
            complaint: format!("exit status: {code}"),
        }
    }

    #[test]
    fn verdicts_are_read_from_exit_codes_and_json() {
        let veto = |reason: &str| Verdict::Veto(reason.to_owned());
        let args = json!({"a": 1}).as_object().unwrap().clone();
        for (code, stdout, verdict_is) in [
            (0, "", Verdict::Allow),
            (0, " \n", Verdict::Allow),
            (0, r#"{"verdict": "allow"}"#, Verdict::Allow),
            (0, r#"{"verdict": "veto", "reason": "No."}"#, veto("No.")),
            (0, r#"{"verdict": "ask"}"#, Verdict::Ask),
            (
                0,
                r#"{"verdict": "change", "args": {"a": 1}}"#,
                Verdict::Change(args),
            ),
            (
                1,
                "Only https: is allowed.\n",
                veto("Only https: is allowed."),
            ),
            (1, r#"{"verdict": "veto", "reason": "No."}"#, veto("No.")),
        ] {
            assert_eq!(verdict(said(code, stdout)), Ok(verdict_is), "{stdout}");
        }
    }

    #[test]
    fn what_is_no_verdict_never_allows_a_call() {
        for (code, stdout) in [
            (0, "ok"),
            (0, "true"),
            (0, "{}"),
            (0, "[]"),
            (0, r#"{"verdict": "Allow"}"#),
            (0, r#"{"verdict": "allow", "reason": "fine"}"#),
            (
                0,
                r#"{"verdict": "allow"} {"verdict": "veto", "reason": "No."}"#,
            ),
            (0, r#"{"verdict": "veto"}"#),
            (0, r#"{"verdict": "veto", "reason": " "}"#),
            (0, r#"{"verdict": "change", "args": 1}"#),
            (0, r#"{"verdict": "change"}"#),
            (0, r#"{"verdict": "allow""#),
            (1, ""),
            (1, r#"{"verdict": "allow"}"#),
            (2, ""),
            (2, r#"{"verdict": "allow"}"#),
            (127, ""),
            (-1, ""),
        ] {
            assert!(verdict(said(code, stdout)).is_err(), "{code}: {stdout}");
        }
    }

    #[test]
    fn observations_are_kept_or_replaced_and_errors_show_nothing() {
        let gave = || Observation::error("secret");
        let after = |code, stdout: &str| observation(said(code, stdout), gave());
        assert_eq!(after(0, ""), Ok(gave()));
        let mut expected = Observation::value(json!([1]));
        expected.is_error = true;
        assert_eq!(after(0, r#"{"observation": [1]}"#), Ok(expected));
        assert_eq!(
            after(0, r#"{"observation": null, "is_error": false}"#),
            Ok(Observation::value(Value::Null))
        );
        for (code, stdout) in [(0, "x"), (0, "{}"), (1, ""), (2, r#"{"observation": 1}"#)] {
            assert!(after(code, stdout).is_err(), "{code}: {stdout}");
        }
        assert_eq!(ends(said(0, "")), Ok(true));
        assert_eq!(ends(said(1, "")), Ok(false));
        assert!(ends(said(2, "")).is_err());
    }
}
