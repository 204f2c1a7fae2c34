//! A program that scores answers: a JSON object on its standard input, a score on its standard
//! output or in its exit code.

use std::process::Stdio;
use std::time::Duration;

use enact_core::Values;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::Score;
use crate::error::MetricError;

/// The minimum score to pass.
const PASSES_FROM: f64 = 0.5;
/// The maximum number of characters to quote from a program.
const TOLD: usize = 300;

/// A program that scores answers. It is started directly, without a shell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The program.
    pub program: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The time limit.
    #[serde(default = "default_seconds")]
    pub timeout_seconds: u64,
}

fn default_seconds() -> u64 {
    60
}

impl Program {
    pub(super) fn check(self) -> Result<Self, String> {
        if self.program.trim().is_empty() {
            return Err("the metric `command`: the name of the program is empty".to_owned());
        }
        if self.timeout_seconds == 0 {
            return Err("the metric `command`: `timeout_seconds` is 1 or more".to_owned());
        }
        Ok(self)
    }

    /// Runs the program. It is killed when its time is up.
    pub(crate) async fn judge(
        &self,
        inputs: &Values,
        expected: &Values,
        outputs: &Values,
    ) -> Result<Score, MetricError> {
        let told = json!({"inputs": inputs, "expected": expected, "outputs": outputs});
        let name = &self.program;
        let mut child = tokio::process::Command::new(name)
            .args(&self.args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| failure(format!("`{name}` cannot be started: {error}")))?;
        let stdin = child.stdin.take();
        let tell = async {
            if let Some(mut stdin) = stdin {
                // A program doesn't have to read its input.
                let _ = stdin.write_all(format!("{told}\n").as_bytes()).await;
            }
        };
        let work = async { tokio::join!(tell, child.wait_with_output()).1 };
        let limit = Duration::from_secs(self.timeout_seconds);
        let output = match tokio::time::timeout(limit, work).await {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => return Err(failure(format!("`{name}`: {error}"))),
            Err(_) => {
                let seconds = self.timeout_seconds;
                let message = format!("`{name}` took longer than {seconds} seconds");
                return Err(failure(message));
            }
        };
        let said = String::from_utf8_lossy(&output.stdout);
        match (output.status.code(), said.trim()) {
            (Some(0), "") => Ok(Score::whole(true, None)),
            (Some(1), "") => Ok(Score::whole(false, None)),
            (Some(0 | 1), said) => read(said).map_err(|problem| {
                failure(format!("what `{name}` printed is no score: {problem}"))
            }),
            _ => {
                let complaint = String::from_utf8_lossy(&output.stderr);
                let complaint: String = complaint.trim().chars().take(TOLD).collect();
                let status = output.status;
                Err(failure(format!("`{name}` failed ({status}): {complaint}")))
            }
        }
    }
}

/// Parses a score: true or false, a number from 0 to 1, or an object with `passed`, `score` and
/// `reason`.
fn read(said: &str) -> Result<Score, String> {
    let shown = || said.chars().take(TOLD).collect::<String>();
    let value: Value = serde_json::from_str(said).map_err(|_| shown())?;
    match &value {
        Value::Bool(passed) => Ok(Score::whole(*passed, None)),
        Value::Number(_) => number(&value).map(|value| Score {
            passed: value >= PASSES_FROM,
            value,
            reason: None,
        }),
        Value::Object(map) => {
            let reason = map.get("reason").and_then(Value::as_str);
            let reason = reason.map(str::to_owned);
            match (map.get("passed").and_then(Value::as_bool), map.get("score")) {
                (Some(passed), None) => Ok(Score::whole(passed, reason)),
                (passed, Some(score)) => number(score).map(|value| Score {
                    passed: passed.unwrap_or(value >= PASSES_FROM),
                    value,
                    reason,
                }),
                (None, None) => Err(shown()),
            }
        }
        _ => Err(shown()),
    }
}

fn number(value: &Value) -> Result<f64, String> {
    match value.as_f64() {
        Some(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err(format!("{value} is not a number from 0 to 1")),
    }
}

fn failure(message: String) -> MetricError {
    MetricError::new("command", message)
}

#[cfg(all(test, unix))]
mod tests {
    use enact_core::values;

    use super::*;

    fn shell(script: &str) -> Program {
        Program {
            program: "sh".to_owned(),
            args: vec!["-c".to_owned(), script.to_owned()],
            timeout_seconds: 20,
        }
    }

    async fn judged(program: Program) -> Result<Score, String> {
        let inputs = values! { question: "6 * 7?" };
        let expected = values! { answer: 42 };
        let outputs = values! { answer: 41 };
        let judged = program.judge(&inputs, &expected, &outputs).await;
        judged.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn scores_come_by_exit_code_or_in_words() {
        for (script, passed, value) in [
            ("exit 0", true, 1.0),
            ("exit 1", false, 0.0),
            ("echo true", true, 1.0),
            ("echo 0.25", false, 0.25),
            ("echo 0.5", true, 0.5),
            (r#"echo '{"passed": true, "score": 0.1}'"#, true, 0.1),
            (r#"echo '{"passed": false}'; exit 1"#, false, 0.0),
        ] {
            let score = judged(shell(script)).await.unwrap();
            assert_eq!((score.passed, score.value), (passed, value), "{script}");
        }
        let score = judged(shell(r#"echo '{"score": 0, "reason": "no"}'"#)).await;
        assert_eq!(score.unwrap().reason.as_deref(), Some("no"));
    }

    #[tokio::test]
    async fn the_program_is_told_all() {
        let echo = r#"read line; printf '{"passed": true, "reason": "%s"}' "$(echo "$line" | tr '"' "'")""#;
        let score = judged(shell(echo)).await.unwrap();
        assert_eq!(
            score.reason.as_deref(),
            Some(
                "{'inputs':{'question':'6 * 7?'},'expected':{'answer':42},'outputs':{'answer':41}}"
            )
        );
    }

    #[tokio::test]
    async fn what_goes_wrong_is_said() {
        for (program, words) in [
            (shell("echo broken >&2; exit 3"), "broken"),
            (shell("echo 7"), "from 0 to 1"),
            (shell("echo well"), "no score: well"),
            (shell("kill -9 $$"), "failed"),
            (
                Program {
                    timeout_seconds: 1,
                    ..shell("sleep 30")
                },
                "longer than 1 seconds",
            ),
            (
                Program {
                    program: "no-such-program-here".to_owned(),
                    ..shell("")
                },
                "cannot be started",
            ),
        ] {
            let error = judged(program).await.unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
