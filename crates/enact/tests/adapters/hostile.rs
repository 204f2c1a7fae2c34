//! No reply makes a reader panic or take long.

use std::time::{Duration, Instant};

use enact::adapter::{Adapter, Task};
use enact::model::{Chunk, FinishReason, RawCall, Reply};
use proptest::prelude::*;

use crate::strategies::hostile_text;
use crate::tasks::{adapters, answer_step, finish_step, predict_arrow, report_step, step, weather};

fn tasks() -> Vec<Task> {
    let many = enact::signature::Signature::parse(
        "question: str -> answer: str, k: Optional[int], tags: list[str], mood: Literal[\"a\", \"b\"]",
    )
    .unwrap();
    vec![
        answer_step(),
        finish_step(),
        report_step(),
        step(
            many.clone(),
            vec![weather()],
            enact::adapter::Completion::Submit,
        ),
        crate::tasks::predict(many),
        predict_arrow("question: str -> answer: str"),
        predict_arrow("question: str -> answer: any"),
    ]
}

fn read_everywhere(tasks: &[Task], text: &str) {
    for finish in [FinishReason::Stop, FinishReason::Length] {
        let mut reply = Reply::text(text);
        reply.finish = finish;
        let mut called = reply.clone();
        called.calls = vec![RawCall {
            id: None,
            name: text.chars().take(20).collect(),
            arguments: text.to_owned(),
        }];
        for adapter in adapters() {
            for task in tasks {
                let _ = adapter.parse_outputs(task, &reply);
                let _ = adapter.parse_step(task, &reply);
                let _ = adapter.parse_step(task, &called);
            }
        }
    }
}

/// Replies as models give them, to be damaged.
const REAL: &[&str] = &[
    "[[ ## next_thought ## ]]\nI should look.\n\n[[ ## next_tool_name ## ]]\nweather\n\n[[ ## next_tool_args ## ]]\n{\"city\": \"Paris\"}\n\n[[ ## completed ## ]]",
    "<think>Hm.</think>\n```json\n{\"next_thought\": \"x\", \"next_tool_name\": \"weather\", \"next_tool_args\": {\"city\": \"Paris\",}}\n```",
    "<next_thought>x &lt; y</next_thought>\n<next_tool_name>weather</next_tool_name>\n<next_tool_args>{\"city\": \"Paris\"}</next_tool_args>",
    "Thought 1: I need it.\nAction 1: weather(city='Paris', unit=\"C\")\nObservation 1: mild",
    "Thought: done\nAction: Finish[It is [quite] mild]",
    "Action: convert\nAction Input: {\"value\": 1, \"to\": \"F\"}",
    "I will call it. <tool_call>\n{\"name\": \"weather\", \"arguments\": {\"city\": \"Paris\"}}\n</tool_call>",
    "<function=weather><parameter=city>Paris</parameter></function>",
    "answer: Paris\nk: 3\ntags: [\"a\", 'b',]\nmood: \"A\"",
    "{\"answer\": \"Paris\", \"k\": null, \"tags\": [\"a\"], \"mood\": \"{b}\"}",
];

fn damaged() -> impl Strategy<Value = String> {
    let cut = (
        prop::sample::select(REAL),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        hostile_text(),
    );
    cut.prop_map(|(reply, from, to, junk)| {
        let chars: Vec<char> = reply.chars().collect();
        let (a, b) = (from.index(chars.len()), to.index(chars.len()));
        let (start, end) = (a.min(b), a.max(b));
        let kept = |range: &[char]| range.iter().collect::<String>();
        format!("{}{junk}{}", kept(&chars[..start]), kept(&chars[end..]))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(text in prop_oneof![damaged(), hostile_text(), any::<String>()]) {
        read_everywhere(&tasks(), &text);
    }
}

/// Long runs of what makes careless readers quadratic or recursive.
/// Reads a reply while it comes, a few characters at a time.
fn read_along(adapter: &dyn Adapter, task: &Task, text: &str) {
    let mut live = adapter.live(task);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.char_indices().nth(5).map_or(rest.len(), |(at, _)| at);
        let (chunk, after) = rest.split_at(end);
        live.push(&Chunk::Text(chunk.to_owned()), &mut |_, _| {});
        rest = after;
    }
}

#[test]
fn time_is_bounded() {
    let fill = |piece: &str, size: usize| piece.repeat(size / piece.len());
    let mut texts: Vec<String> = [
        "[",
        "{",
        "}",
        "]",
        "(",
        "\"",
        "'",
        "\\",
        "`",
        "```",
        "```json\n{",
        "<think>",
        "</think>",
        "</think>\n",
        "<think></think>",
        "{\"a\":",
        "{\"a\":[",
        "[[ ## answer ## ]]\n",
        "[[ ## ",
        "\\[[ ##\n",
        "[[ ## next_tool_name ## ]]",
        "<answer>",
        "</answer>",
        "<answer></answer>",
        "<next_tool_name>",
        "<",
        "&",
        "&lt;",
        "<answer ",
        "Thought: ",
        "Thought:\n",
        "Action: x\n",
        "Action: weather(",
        "Action: weather[",
        "Observation:\n",
        "answer:\n",
        "answer: ",
        "Final Answer: ",
        "a=1, ",
        "a='",
        "<tool_call>",
        "<function=",
        "<parameter=a>",
        "<tool_call>{",
        "\n",
        "\r",
        " ",
        "* ",
        "{'a': 'b', ",
        "{\"name\": \"weather\", \"arguments\": {}}\n",
        "[1,",
        "\"a\": ",
        "/*",
        "// x\n",
        "1",
        "-",
        "é",
        "\u{2028}",
        "{\"a\": \"b\" ",
        "\\u0041",
        "None, ",
    ]
    .iter()
    .map(|piece| fill(piece, 100_000))
    .collect();
    for opening in [
        "Action: weather(\"",
        "Action: weather[",
        "Action: weather(city='",
        "Action: submit({\"answer\": ",
        "[[ ## answer ## ]]\n",
        "answer: ",
        "<answer>",
        "{\"answer\": \"",
        "{\"next_thought\": ",
        "{'answer': ",
        "[[ ## next_tool_name ## ]]\nweather\n[[ ## next_tool_args ## ]]\n{",
        "```json\n",
    ] {
        for piece in [
            "a",
            "'",
            "\"",
            "\\",
            "{",
            "[",
            ",",
            "a' ",
            "a\" ",
            "\n",
            "{\"a\": 1,",
            "' , '",
            "b='c ",
        ] {
            texts.push(format!("{opening}{}", fill(piece, 15_000)));
        }
    }
    let tasks = [
        report_step(),
        predict_arrow("question: str -> answer: str, k: list[str]"),
    ];
    let mut slow = Vec::new();
    for text in &texts {
        let mut reply = Reply::text(text.as_str());
        reply.finish = if text.len() % 2 == 0 {
            FinishReason::Stop
        } else {
            FinishReason::Length
        };
        for adapter in adapters() {
            let read = || {
                let started = Instant::now();
                let _ = adapter.parse_step(&tasks[0], &reply);
                let _ = adapter.parse_outputs(&tasks[1], &reply);
                for task in &tasks {
                    read_along(&*adapter, task, text);
                }
                started.elapsed()
            };
            // The machine may have been busy with something else.
            let mut tries = std::iter::repeat_with(read).take(3);
            if tries.all(|taken| taken > Duration::from_millis(1000)) {
                let head: String = text.chars().take(60).collect();
                slow.push(format!("{} {head:?}", adapter.name()));
            }
        }
    }
    assert!(slow.is_empty(), "{}", slow.join("\n"));
}
