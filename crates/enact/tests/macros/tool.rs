//! `#[tool]`.

#![deny(warnings)]

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Tool, ToolContext, ToolError, ToolOutput, Values, tool, tools, values};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

async fn call(tool: impl Tool, args: Value) -> Result<Value, ToolError> {
    let args = serde_json::from_value(args).unwrap();
    let output = tool.call(args, ToolContext::detached("call-1")).await?;
    Ok(output.value)
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Report {
    celsius: f64,
}

/// Current weather in a city.
///
/// Asks the nearest station.
#[tool(read_only, timeout = "1m30s")]
async fn weather(
    /// City name, such as "Paris".
    city: String,
    /// Hours from now.
    hours: Option<u32>,
) -> Result<Report, ToolError> {
    if city.is_empty() {
        return Err(ToolError::new("which city?"));
    }
    Ok(Report {
        celsius: f64::from(hours.unwrap_or(18)),
    })
}

#[tokio::test]
async fn the_function_stays_and_the_tool_comes_beside_it() {
    assert_eq!(
        weather("Paris".into(), Some(3)).await.unwrap(),
        Report { celsius: 3.0 }
    );
    assert_eq!(
        call(weather {}, json!({"city": "Paris"})).await.unwrap(),
        json!({"celsius": 18.0})
    );
    let error = call(weather {}, json!({"city": ""})).await.unwrap_err();
    assert_eq!(error.to_string(), "which city?");
    let error = call(weather {}, json!({"hours": 1})).await.unwrap_err();
    assert!(
        error.to_string().contains("missing field `city`"),
        "{error}"
    );
}

#[test]
fn docs_become_descriptions() {
    let spec = weather {}.spec().clone();
    assert_eq!(spec.name, "weather");
    assert_eq!(
        spec.description,
        "Current weather in a city.\n\nAsks the nearest station."
    );
    let properties = &spec.parameters["properties"];
    assert_eq!(
        properties["city"],
        json!({"type": "string", "description": "City name, such as \"Paris\"."})
    );
    assert_eq!(properties["hours"]["description"], "Hours from now.");
    assert_eq!(spec.required(), ["city"]);
    assert_eq!(spec.effect, Effect::ReadOnly);
    assert_eq!(spec.timeout, Duration::from_secs(90));
}

#[tool(
    idempotent,
    require_confirmation,
    serial,
    name = "send-mail",
    description = "Sends mail."
)]
async fn send() {}

fn is_large(args: &Values) -> bool {
    args["amount"].as_f64() > Some(100.0)
}

/// Pays.
#[tool(confirm_when = is_large)]
async fn pay(amount: f64, context: &ToolContext) -> Result<String, ToolError> {
    let account = context.ask("From which account?")?;
    Ok(format!("{amount} from {account}"))
}

#[tokio::test]
async fn a_function_of_the_arguments_decides_and_a_tool_can_ask() {
    assert_eq!(pay {}.spec().confirmation, Confirmation::When);
    assert!(pay {}.needs_confirmation(&values! { amount: 250 }));
    assert!(!pay {}.needs_confirmation(&values! { amount: 99 }));
    let context = ToolContext::detached("c");
    let error = pay {}
        .call(values! { amount: 1 }, context.clone())
        .await
        .unwrap_err();
    assert_eq!(error.into_question().unwrap(), "From which account?");
    let told = context.with_answer("From which account?", "savings");
    let output = pay {}.call(values! { amount: 1 }, told).await.unwrap();
    assert_eq!(output.value, "1 from savings");
}

#[tool]
async fn plain() -> u8 {
    7
}

#[tokio::test]
async fn options_become_rules() {
    let spec = send {}.spec().clone();
    let expected = ToolSpec::new("send-mail", "Sends mail.", spec.parameters.clone())
        .with_effect(Effect::Idempotent)
        .with_confirmation(Confirmation::Always)
        .serial();
    assert_eq!(spec, expected);
    assert_eq!(spec.parameters, json!({"type": "object", "properties": {}}));
    assert_eq!(call(send {}, json!({})).await.unwrap(), Value::Null);

    let spec = plain {}.spec().clone();
    assert_eq!(spec, ToolSpec::new("plain", "", spec.parameters.clone()));
    assert_eq!(call(plain {}, json!({})).await.unwrap(), json!(7));
}

/// Joins words.
#[tool]
fn join(words: &[String], separator: &str, report: &Report, mut times: usize) -> String {
    times += 1;
    format!("{} {} {times}", words.join(separator), report.celsius)
}

#[tokio::test]
async fn borrowed_parameters_are_read_as_owned_values() {
    assert_eq!(
        join(&["a".into()], "", &Report { celsius: 1.0 }, 1),
        "a 1 2"
    );
    let args = json!({
        "words": ["a", "b"], "separator": "-", "report": {"celsius": 2.5}, "times": 1,
    });
    assert_eq!(call(join {}, args).await.unwrap(), json!("a-b 2.5 2"));
    assert_eq!(
        join {}.spec().required(),
        ["words", "separator", "report", "times"]
    );
}

#[tool]
async fn borrowed_context(word: &str, context: &ToolContext) -> String {
    tokio::task::yield_now().await;
    format!("{word} {}", context.call_id)
}

#[tool]
fn owned_context(
    /// Not for the model.
    context: ToolContext,
    word: String,
) -> String {
    format!("{word} {}", context.call_id)
}

#[tokio::test]
async fn the_context_is_handed_in_and_unknown_to_the_model() {
    let args = || json!({"word": "in"});
    assert_eq!(
        call(borrowed_context {}, args()).await.unwrap(),
        json!("in call-1")
    );
    assert_eq!(
        call(owned_context {}, args()).await.unwrap(),
        json!("in call-1")
    );
    let names = |spec: &ToolSpec| -> Vec<String> {
        spec.parameters["properties"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect()
    };
    assert_eq!(names(borrowed_context {}.spec()), ["word"]);
    assert_eq!(names(owned_context {}.spec()), ["word"]);
}

#[tool]
fn thread() -> String {
    format!("{:?}", std::thread::current().id())
}

#[tokio::test]
async fn a_function_that_may_block_runs_elsewhere() {
    assert_ne!(call(thread {}, json!({})).await.unwrap(), json!(thread()));
}

/// An error as libraries have them: it displays, and nothing more.
struct Refusal;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if f.alternate() {
            "refused: because"
        } else {
            "refused"
        })
    }
}

#[tool]
fn refusing() -> Result<(), Refusal> {
    Err(Refusal)
}

#[tool]
fn not_send() -> Result<String, Box<dyn std::error::Error>> {
    Ok(std::str::from_utf8(b"ok")?.to_owned())
}

#[tool]
async fn io() -> std::io::Result<BTreeMap<String, bool>> {
    Err(std::io::Error::other("disk is full"))
}

#[tool]
async fn rich() -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::value("rich"))
}

#[tokio::test]
async fn any_error_that_displays_and_any_value_that_serialises() {
    let error = call(refusing {}, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "refused: because");
    assert_eq!(call(not_send {}, json!({})).await.unwrap(), json!("ok"));
    let error = call(io {}, json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "disk is full");
    assert_eq!(call(rich {}, json!({})).await.unwrap(), json!("rich"));
}

fn three() -> i64 {
    3
}

#[tool]
fn attributed(
    #[serde(default = "three")]
    #[schemars(range(min = 1, max = 10))]
    count: i64,
    #[serde(rename = "type")] kind: Option<String>,
    #[allow(unused_variables)] ignored: Option<bool>,
) -> String {
    format!("{count} {kind:?}")
}

#[tokio::test]
async fn attributes_of_serde_and_schemars_apply_to_the_argument() {
    assert_eq!(
        call(attributed {}, json!({"type": "x"})).await.unwrap(),
        json!("3 Some(\"x\")")
    );
    let spec = attributed {}.spec();
    assert_eq!(spec.parameters["properties"]["count"]["maximum"], 10);
    assert!(spec.required().is_empty());
}

mod elsewhere {
    use super::tool;

    /// Raw names are plain names to the model.
    #[tool]
    pub(super) fn r#match(r#type: String) -> String {
        r#type
    }
}

#[tokio::test]
async fn a_set_is_made_by_name_and_by_path() {
    use elsewhere::r#match;
    assert_eq!(r#match("x".into()), "x");
    let set = tools![weather, elsewhere::r#match, send];
    assert_eq!(
        set.names().collect::<Vec<_>>(),
        ["weather", "match", "send-mail"]
    );
    assert!(set.check(&[]).is_ok());
    assert_eq!(
        call(r#match {}, json!({"type": "x"})).await.unwrap(),
        json!("x")
    );
}
