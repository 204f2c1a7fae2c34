//! Thousands of runs against a server that answers with mutated real replies: repeated and empty
//! ids, endless text, half calls, refusals. Every run ends within its limits, and memory is bounded.
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use enact::adapter::AdapterChoice;
use enact::model::OpenAi;
use enact::run::Event;
use enact::{ErrorKind, FnTool, ReAct, Run, ToolError, Tools, values};
use enact_test_server::{TestServer, Turn};
use serde_json::json;

const RUNS: u64 = 5_000;
/// A server keeps what it was asked, so it is not kept for long.
const RUNS_OF_A_SERVER: u64 = 200;

/// As real models wrote them.
const TEXTS: [&str; 22] = [
    r#"{"next_thought": "I need the number.", "next_tool_name": "look", "next_tool_args": {"text": "oak"}}"#,
    r#"{"next_thought": "I write it down.", "next_tool_name": "write", "next_tool_args": {"text": "oak"}}"#,
    r#"{"next_thought": "I know it.", "next_tool_name": "submit", "next_tool_args": {"answer": "5"}}"#,
    r#"{"name": "look", "arguments": {"text": "elm"}}"#,
    "```json\n{\"name\": \"write\", \"arguments\": {\"text\": \"elm\"}}\n```",
    "<tool_call>\n{\"name\": \"look\", \"arguments\": {\"text\": \"ash\"}}\n</tool_call>",
    "<tool_response>\n{\"result\": 5}\n</tool_response>",
    "Thought: I have to look.\nAction: look[oak]\nObservation: five\nThought: done",
    "Thought: I know.\nAction: Finish[5]",
    "Final Answer: 5",
    "[[ ## next_thought ## ]]\nI look.\n\n[[ ## next_tool_name ## ]]\nlook\n\n[[ ## next_tool_args ## ]]\n{\"text\": \"oak\"}\n\n[[ ## completed ## ]]",
    "<next_thought>I look.</next_thought>\n<next_tool_name>look</next_tool_name>\n<next_tool_args>{\"text\": \"oak\"}</next_tool_args>",
    "<answer>5</answer>",
    "Answer: 5",
    r#"{"answer": "5"}"#,
    "The answer is 5.",
    "I will now use the look tool to find out.",
    "```tool_code\nprint(look(text=\"oak\"))\n```",
    "[look(text='oak'), write(text='elm')]",
    "<think>I wonder whether</think>\n{\"answer\": \"5\"}",
    "",
    "{",
];

#[derive(Clone, Copy)]
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }
}

/// A real reply with something wrong about it, often enough.
fn reply(mut dice: Dice) -> Turn {
    let text = |dice: &mut Dice| dice.pick(&TEXTS).to_owned();
    let cut = |text: &str, dice: &mut Dice| -> String {
        let length = text.chars().count();
        text.chars().take(dice.below(length + 1)).collect()
    };
    match dice.below(16) {
        0..4 => Turn::text(text(&mut dice)),
        4..8 => {
            let ids = ["call_0_1", "call_0_0", "", " ", "same", "call_1"];
            let count = 1 + dice.below(3);
            let calls: Vec<_> = (0..count)
                .map(|_| {
                    let name = dice.pick(&["look", "write", "submit", "Look", "no_such_tool", ""]);
                    let word = dice.pick(&["oak", "elm", "ash", "fir"]);
                    let args = match (name, dice.below(5)) {
                        (_, 0) => json!(cut(r#"{"text": "oak"}"#, &mut dice)),
                        ("submit", _) => json!({"answer": word}),
                        _ => json!({"text": word}),
                    };
                    (name, args)
                })
                .collect();
            let ids: Vec<&str> = (0..count).map(|_| dice.pick(&ids)).collect();
            Turn::calls(calls).with_ids(ids).thinking(text(&mut dice))
        }
        8 | 9 => {
            let whole = text(&mut dice);
            Turn::text(cut(&whole, &mut dice))
        }
        10 => Turn::text(cut(&text(&mut dice), &mut dice)).finish_reason("length"),
        11 => {
            let unit = dice.pick(&[
                "a",
                "the same again. ",
                "{\"name\": ",
                "\n",
                "[",
                "look(",
                "&",
            ]);
            Turn::text(unit.repeat(20_000 / unit.len()))
        }
        12 => {
            let junk = dice.pick(&["\u{0}", "</think>", "```", "]]", "[[ ## ", "\u{202e}", "\\"]);
            let (one, two) = (text(&mut dice), text(&mut dice));
            Turn::text(format!("{one}{junk}{two}"))
        }
        13 => Turn::status(400).body(
            json!({"error": {"message": dice.pick(&[
                "this model does not support tools",
                "response_format is not supported",
                "something else",
            ])}})
            .to_string(),
        ),
        14 => Turn::text(text(&mut dice)).then_cut(),
        _ => Turn::text(String::new()).reasoning(text(&mut dice)),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn tools(written: &Arc<AtomicUsize>) -> Tools {
    let written = written.clone();
    Tools::new()
        .with(
            FnTool::new("look", "Looks up.", |args: Text, _| async move {
                Ok::<_, ToolError>(format!("about {}", args.text))
            })
            .read_only(),
        )
        .with(FnTool::new("write", "Writes.", move |args: Text, _| {
            written.fetch_add(1, Ordering::SeqCst);
            async move {
                match args.text.as_str() {
                    "fir" => Err(ToolError::new("the disk is full")),
                    _ => Ok("written"),
                }
            }
        }))
}

fn check(run: &Run, steps: u32, written: usize, seed: u64) {
    let trace = run.trace();
    assert!(trace.steps.len() <= steps as usize, "seed {seed}");
    // Three bad replies in a row are borne, for each step and for the answer.
    let most = u64::from(steps) * 4 + 12;
    assert!(
        run.usage().requests <= most,
        "seed {seed}: {}",
        run.usage().requests
    );
    assert!(
        run.records().len() < 600,
        "seed {seed}: {}",
        run.records().len()
    );
    let started = run.events().filter_map(|event| match event {
        Event::ToolStarted { call_id } => Some(call_id),
        _ => None,
    });
    let writes = trace.steps.iter().flat_map(|step| &step.actions);
    let writes = writes.filter(|action| action.call.name == "write" && action.attempts > 0);
    assert_eq!(writes.count(), written, "seed {seed}");
    let mut ids: Vec<&String> = started.collect();
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "seed {seed}: a call ran twice");
}

/// What the process holds, in MiB.
fn memory() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096 / (1 << 20))
}

#[test]
fn truth_every_run_ends_within_its_limits() {
    let seed = std::env::var("ENACT_SOAK_SEED").ok();
    let seed: u64 = seed
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(20_261_118);
    println!("ENACT_SOAK_SEED={seed}");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (mut answered, mut failed) = (0, 0);
    let mut before = None;
    for first in (0..RUNS).step_by(RUNS_OF_A_SERVER as usize) {
        let asked = Arc::new(AtomicU64::new(seed.wrapping_add(first << 32)));
        let server = TestServer::answering_blocking(move |_| {
            reply(Dice(asked.fetch_add(1, Ordering::SeqCst)))
        });
        let model = OpenAi::new("m")
            .with_base_url(server.base_url())
            .unwrap()
            .with_replies_streamed();
        for number in first..first + RUNS_OF_A_SERVER {
            let mut dice = Dice(seed.wrapping_add(number));
            let written = Arc::new(AtomicUsize::new(0));
            let steps = 1 + dice.below(10) as u32;
            let adapter = dice.pick(&["auto", "auto", "native", "json", "chat", "xml", "tagged"]);
            let adapter: AdapterChoice = adapter.parse().unwrap();
            let agent = ReAct::builder("question -> answer")
                .tools(tools(&written))
                .model(model.clone())
                .adapter(adapter)
                .max_iterations(steps)
                .build()
                .unwrap();
            let outcome = runtime.block_on(async { agent.call(values! { question: "q" }).await });
            let count = || written.load(Ordering::SeqCst);
            match outcome {
                Ok(outcome) => {
                    check(outcome.run(), steps, count(), number);
                    answered += 1;
                }
                Err(error) => {
                    let kind = error.kind();
                    let is_named = matches!(kind, ErrorKind::Model(_) | ErrorKind::NoAnswer);
                    assert!(is_named, "seed {number}: {error}");
                    check(error.run().unwrap(), steps, count(), number);
                    assert!(!error.to_string().contains("defect of enact"), "{error}");
                    failed += 1;
                }
            }
        }
        // The first servers warm up caches.
        if first >= RUNS / 5 {
            before = before.or_else(memory);
        }
    }
    println!("{answered} answered, {failed} failed");
    assert!(
        answered > RUNS / 2,
        "only {answered} of {RUNS} runs were answered"
    );
    if let (Some(before), Some(after)) = (before, memory()) {
        assert!(after < before + 100, "from {before} to {after} MiB");
    }
}
