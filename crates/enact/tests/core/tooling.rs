//! What tools may do and give.

use enact::model::{Image, Message, Part, call, calls};
use enact::{FnTool, Module, ToolError, ToolOutput, Tools, values};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{agent, failing};

#[derive(Deserialize, JsonSchema)]
struct Event {
    name: String,
    date: Date,
    #[serde(default)]
    guests: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Date {
    year: u32,
    month: u8,
}

#[tokio::test]
async fn dspy_tool_calling_with_nested_object_arguments() {
    let invite = FnTool::new(
        "invite",
        "Writes an invitation.",
        |event: Event, _| async move {
            let Event { name, date, guests } = event;
            Ok::<_, ToolError>(format!(
                "{name} on {}-{} with {}",
                date.year,
                date.month,
                guests.len()
            ))
        },
    );
    let played = agent(
        "participant -> letter",
        Tools::new().with(invite),
        [
            // The nested object comes as text, the year too: both are mended without loss.
            call(
                "invite",
                json!({"name": "fair", "date": "{\"year\": \"2026\", \"month\": 5}"}),
            ),
            call("submit", json!({"letter": "come"})),
        ],
    );
    let done = played.call(values! { participant: "Ada" }).await;
    assert_eq!(
        done.trajectory().steps()[0].observation,
        "fair on 2026-5 with 0"
    );
    assert_eq!(done.trajectory().steps()[0].tool_args["date"]["year"], 2026);
}

#[tokio::test]
async fn dspy_tool_observation_preserves_images() {
    let photo = FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "photo",
            "Takes photos.",
            json!({"type": "object", "properties": {}}),
        ),
        |_, _| async {
            let images = vec![
                Image::from_base64("AAAA", "image/png"),
                Image::from_url("https://example.com/b.png", "image/png"),
            ];
            Ok::<_, ToolError>(ToolOutput::images("two photos", images))
        },
    );
    for adapter in ["native", "chat", "json", "xml", "tagged"] {
        let played = agent(
            "question -> answer",
            Tools::new().with(photo_clone(&photo)),
            [call("photo", json!({}))],
        );
        let choice: enact::AdapterChoice = adapter.parse().unwrap();
        let task = played.agent.predictors()[0].1.task().clone();
        let words = choice.resolve(enact::model::Capabilities::FULL);
        let entry = enact::run::Entry::Results {
            results: vec![enact::run::ToolResult::new(
                "c",
                "photo",
                enact::run::Observation::value("two photos").with_images(vec![
                    Image::from_base64("AAAA", "image/png"),
                    Image::from_url("https://example.com/b.png", "image/png"),
                ]),
            )],
        };
        let images: usize = words
            .render(&task, &entry)
            .iter()
            .map(|message| match message {
                Message::User { parts } | Message::Tool { parts, .. } => parts
                    .iter()
                    .filter(|part| matches!(part, Part::Image(_)))
                    .count(),
                _ => 0,
            })
            .sum();
        assert_eq!(images, 2, "{adapter}");
        played.model.abandon();
    }
}

fn photo_clone(_: &FnTool) -> FnTool {
    FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "photo",
            "Takes photos.",
            json!({"type": "object", "properties": {}}),
        ),
        |_, _| async { Ok::<_, ToolError>(1) },
    )
}

#[tokio::test]
async fn lesson_errors_show_no_paths_and_no_backtraces() {
    let panics = FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "panics",
            "Panics.",
            json!({"type": "object", "properties": {}}),
        ),
        |_, _| async {
            if true {
                panic!("out of cheese");
            }
            Ok::<_, ToolError>(())
        },
    );
    let opens = FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "opens",
            "Opens.",
            json!({"type": "object", "properties": {}}),
        ),
        |_, _| async {
            let file = std::fs::File::open("/secret/place/that/is/not/there")?;
            Ok::<_, ToolError>(file.metadata()?.len())
        },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(panics).with(opens).with(failing()),
        [
            calls([
                ("panics", json!({})),
                ("opens", json!({})),
                ("failing_tool", json!({})),
            ]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let trajectory = done.trajectory();
    let texts: Vec<&str> = trajectory
        .steps()
        .iter()
        .map(|step| step.observation.as_str().unwrap())
        .collect();
    assert_eq!(
        texts[0],
        "Error executing panics: the tool panicked: out of cheese"
    );
    assert!(
        texts[1].starts_with("Error executing opens: No such file"),
        "{}",
        texts[1]
    );
    assert_eq!(texts[2], "Error executing failing_tool: tool error");
    for text in texts {
        assert!(!text.contains("/secret") && !text.contains(".rs") && !text.contains("backtrace"));
    }
}

#[tokio::test]
async fn dspy_any_serialisable_result_keeps_its_type() {
    let typed = FnTool::from_spec(
        enact::tool::ToolSpec::new("typed", "x", json!({"type": "object", "properties": {}})),
        |_, _| async { Ok::<_, ToolError>(json!({"n": 1, "list": [true, null]})) },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(typed),
        [
            call("typed", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(
        done.trajectory().steps()[0].observation,
        json!({"n": 1, "list": [true, null]})
    );
}
