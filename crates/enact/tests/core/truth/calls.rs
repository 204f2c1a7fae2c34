//! Calls in the forms of other models are read where they are plain, and are never the answer.

use enact::adapter::{AdapterChoice, Json, Native};
use enact::model::{call, say};
use enact::tool::ToolSpec;
use enact::{FnTool, ToolError, Tools, Values, values};
use serde_json::json;

use crate::{agent, search_and_add};

fn submit(adapter: &AdapterChoice) -> enact::model::ScriptStep {
    match adapter.name() {
        "json" => say(r#"{"next_tool_name": "submit", "next_tool_args": {"answer": "5"}}"#),
        _ => call("submit", json!({"answer": "5"})),
    }
}

#[tokio::test]
async fn truth_calls_in_special_tokens_are_read() {
    for said in [
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>add\n```json\n{\"a\": 2, \"b\": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>add<｜tool▁sep｜>{\"a\": 2, \"b\": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "<|channel|>commentary to=functions.add <|constrain|>json<|message|>{\"a\": 2, \"b\": 3}<|call|>",
        "<|channel|>analysis<|message|>I add.<|end|><|start|>assistant<|channel|>commentary to=functions.add <|constrain|>json<|message|>{\"a\": 2, \"b\": 3}<|call|>",
        "```python\nresult = add(a=2, b=3)\nprint(result)\n```",
        "{\"function_call\": {\"name\": \"add\", \"arguments\": \"{\\\"a\\\": 2, \\\"b\\\": 3}\"}}",
        "{\"add\": {\"a\": 2, \"b\": 3}}",
        "<add><a>2</a><b>3</b></add>",
        "<tool name=\"add\">{\"a\": 2, \"b\": 3}</tool>",
        "@add(a=2, b=3)",
        "<|tool_call_start|>[add(a=2, b=3)]<|tool_call_end|>",
        "```tool_code\nprint(default_api.add(a=2, b=3))\n```",
        "default_api.add(a=2, b=3)",
        "<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>2</arg_value>\n<arg_key>b</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
        "I add.\n<function_calls>\n<invoke name=\"add\">\n<parameter name=\"a\">2</parameter>\n<parameter name=\"b\">3</parameter>\n</invoke>\n</function_calls>",
        "[TOOL_CALLS]add[ARGS]{\"a\": 2, \"b\": 3}",
        "<|python_tag|>add.call(a=2, b=3)",
    ] {
        for adapter in [AdapterChoice::Auto, Native.into(), Json.into()] {
            let played = agent(
                "question -> answer",
                search_and_add(),
                [say(said), submit(&adapter)],
            )
            .map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            let trajectory = done.trajectory();
            let first = &trajectory.steps()[0];
            assert_eq!(first.tool_name, "add", "{adapter}: {said}");
            assert_eq!(first.observation, 5, "{adapter}: {said}");
        }
    }
}

#[tokio::test]
async fn truth_what_is_meant_for_a_tool_is_no_answer() {
    for said in [
        "{\"query\": \"2+3\"}",
        "null",
        "{}",
        "```json\n{}\n```",
        "[web_search(query='2+3')]",
        "search: 2+3",
        "/search 2+3",
        "@search 2+3",
        "<search>2+3</search>",
        "<tool_call>{\"name\": \"search\", \"arguments\": {\"query\":",
        "<｜tool▁calls▁begin｜>search",
        "{\"name\": \"web_search\", \"arguments\": {\"q\": \"2+3\"}}",
        "result = search(\"2+3\"",
    ] {
        for adapter in [AdapterChoice::Auto, Native.into()] {
            let script = [say(said), submit(&adapter)];
            let played = agent("question -> answer", search_and_add(), script)
                .map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            assert_eq!(done.outputs["answer"], "5", "{adapter}: {said}");
            let trajectory = done.trajectory();
            let calls = trajectory
                .steps()
                .iter()
                .filter(|step| step.tool_name == "search");
            assert_eq!(calls.count(), 0, "{adapter}: {said}");
        }
    }
}

#[tokio::test]
async fn truth_answers_that_are_json_code_or_tags_stay_answers() {
    for said in [
        "{\"name\": \"Ann\", \"age\": 3}",
        "[1, 2, 3]",
        "```python\nprint(sum([2, 3]))\n```",
        "<p>It is 5.</p>",
        "The add tool gave 5, and search: nothing.",
        "Use @search on the site.",
        "Search: nothing was found, and that took two lines.\nSo it is 5.",
        "f(x) = x + 1",
    ] {
        let played = agent("question -> answer", search_and_add(), [say(said)])
            .map(|agent| agent.adapter(Native));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], said);
    }
}

#[tokio::test]
async fn truth_labelled_answers_are_read_without_their_labels() {
    for said in [
        "Final Answer: partial",
        "**Final Answer:** partial",
        "Thought: I know.\nFinal Answer: partial",
        "- answer: partial",
        "* **answer**: partial",
        "**answer:** partial",
        "Answer: partial",
    ] {
        for adapter in crate::truth::submitting::adapters() {
            let script = [
                crate::truth::submitting::written(&adapter, "search", &json!({"query": "x"})),
                say(said),
            ];
            let played = agent("question -> answer", search_and_add(), script)
                .map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            assert_eq!(done.outputs["answer"], "partial", "{adapter}: {said}");
        }
    }
    let script = [say("- **total**: 3\n- **unit**: m")];
    let played = agent(
        "question -> total: int, unit: str",
        search_and_add(),
        script,
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs, values! { total: 3, unit: "m" });
}

#[tokio::test]
async fn truth_a_format_of_an_argument_is_the_tools_to_judge() {
    let spec = ToolSpec::new(
        "remind",
        "Reminds.",
        json!({
            "type": "object",
            "properties": {"when": {"type": "string", "format": "date"}},
            "required": ["when"],
        }),
    );
    let tool = FnTool::from_spec(spec, |args: Values, _| async move {
        Ok::<_, ToolError>(args["when"].clone())
    });
    let played = agent(
        "question -> day: date",
        Tools::new().with(tool),
        [
            call("remind", json!({"when": "tomorrow"})),
            call("submit", json!({"day": "tomorrow"})),
            call("submit", json!({"day": "2026-11-20"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.trajectory().steps()[0].observation, "tomorrow");
    assert_eq!(done.outputs["day"], "2026-11-20");
}
