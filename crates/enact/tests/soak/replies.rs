//! Real replies with something wrong about them, in two protocols.

use enact_test_server::{Received, Turn};
use serde_json::{Value, json};

use crate::dice::Dice;

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

/// What a reply says, whatever the protocol.
#[derive(Default)]
struct Said {
    text: String,
    reasoning: String,
    /// Id, name and arguments of each call.
    calls: Vec<(&'static str, &'static str, String)>,
    is_cut: bool,
    ending: Ending,
}

#[derive(Default, Clone, Copy, PartialEq)]
enum Ending {
    #[default]
    Whole,
    /// The connection breaks.
    Broken,
    /// Nothing more comes, and the connection stays.
    Silent,
    /// More comes for ever.
    Endless,
}

fn any_text(dice: &mut Dice) -> String {
    dice.pick(&TEXTS).to_owned()
}

fn cut(text: &str, dice: &mut Dice) -> String {
    let length = text.chars().count();
    text.chars().take(dice.below(length + 1)).collect()
}

fn call(dice: &mut Dice) -> (&'static str, &'static str, String) {
    let id = dice.pick(&["call_0_1", "call_0_0", "", " ", "same", "call_1"]);
    let name = dice.pick(&["look", "write", "submit", "Look", "no_such_tool", ""]);
    let word = dice.pick(&["oak", "elm", "ash", "fir"]);
    let args = match (name, dice.below(5)) {
        (_, 0) => cut(r#"{"text": "oak"}"#, dice),
        ("submit", _) => json!({"answer": word}).to_string(),
        _ => json!({"text": word}).to_string(),
    };
    (id, name, args)
}

/// Something to be said without an end: short, or so long that it does not look like a repetition.
fn unit(dice: &mut Dice) -> String {
    match dice.below(3) {
        0 => (0..6000)
            .map(|_| dice.pick(&["oak ", "elm ", "fir ", "the "]))
            .collect(),
        1 => dice
            .pick(&["{\"name\": ", "\n", "[", "look(", "&"])
            .repeat(200),
        _ => "the same again. ".repeat(20),
    }
}

impl Said {
    /// A real reply with something wrong about it, often enough.
    fn any(dice: &mut Dice) -> Self {
        match dice.below(32) {
            0..8 => Self::text(any_text(dice)),
            8..16 => Self {
                text: any_text(dice),
                calls: (0..1 + dice.below(3)).map(|_| call(dice)).collect(),
                ..Self::default()
            },
            16..20 => {
                let whole = any_text(dice);
                Self::text(cut(&whole, dice))
            }
            20 | 21 => Self {
                is_cut: true,
                ..Self::text(cut(&any_text(dice), dice))
            },
            22 => {
                let unit = dice.pick(&["a", "the same again. ", "{\"name\": ", "\n", "[", "&"]);
                Self::text(unit.repeat(20_000 / unit.len()))
            }
            23 if dice.once_in(4) => Self::text(unit(dice)).ending(Ending::Endless),
            24 | 25 => {
                let junk = ["\u{0}", "</think>", "```", "]]", "[[ ## ", "\u{202e}", "\\"];
                let (one, junk, two) = (any_text(dice), dice.pick(&junk), any_text(dice));
                Self::text(format!("{one}{junk}{two}"))
            }
            26..28 => Self::text(any_text(dice)).ending(Ending::Broken),
            28 if dice.once_in(32) => Self::text(any_text(dice)).ending(Ending::Silent),
            _ => Self {
                reasoning: any_text(dice),
                ..Self::default()
            },
        }
    }

    fn text(text: String) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    fn ending(self, ending: Ending) -> Self {
        Self { ending, ..self }
    }

    fn ended(&self, turn: Turn) -> Turn {
        match self.ending {
            Ending::Whole => turn,
            Ending::Broken => turn.then_cut(),
            Ending::Silent => turn.then_stall(),
            Ending::Endless => turn.then_endless(),
        }
    }

    fn openai(self) -> Turn {
        let calls = self.calls.iter();
        let turn = match self.calls.is_empty() {
            true => Turn::text(&*self.text),
            false => Turn::calls(calls.clone().map(|(_, name, args)| (*name, json!(args))))
                .with_ids(calls.map(|(id, ..)| *id))
                .thinking(&*self.text),
        };
        let turn = turn.reasoning(&*self.reasoning).usage(INPUT, OUTPUT);
        let turn = match self.is_cut {
            true => turn.finish_reason("length"),
            false => turn,
        };
        self.ended(turn)
    }

    fn stop_reason(&self) -> &'static str {
        match (self.is_cut, self.calls.is_empty()) {
            (true, _) => "max_tokens",
            (false, true) => "end_turn",
            (false, false) => "tool_use",
        }
    }

    fn anthropic(self, is_streamed: bool) -> Turn {
        match is_streamed {
            true => self.anthropic_events(),
            false => self.anthropic_whole(),
        }
    }

    fn anthropic_whole(self) -> Turn {
        if self.ending == Ending::Endless {
            return Turn::text(&*self.text).then_endless();
        }
        let args = |args: &str| serde_json::from_str::<Value>(args).unwrap_or_else(|_| json!(args));
        let text = json!({"type": "text", "text": self.text});
        let calls = self.calls.iter().map(|(id, name, given)| {
            json!({"type": "tool_use", "id": id, "name": name, "input": args(given)})
        });
        let content: Vec<Value> = std::iter::once(text).chain(calls).collect();
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "content": content,
            "stop_reason": self.stop_reason(),
            "usage": {"input_tokens": INPUT, "output_tokens": OUTPUT},
        });
        let body = body.to_string();
        let sent = match self.ending {
            Ending::Whole => body.len(),
            // What cannot be parsed has to be borne as well.
            _ => body.len() / 2,
        };
        Turn::status(200).body(body.as_bytes()[..sent].to_vec())
    }

    fn anthropic_events(self) -> Turn {
        let mut list = vec![json!({"type": "message_start", "message": {
            "id": "msg_1", "type": "message", "role": "assistant", "content": [],
            "usage": {"input_tokens": INPUT, "output_tokens": 1},
        }})];
        let mut block = |index: usize, block: Value, delta: Value, is_open: bool| {
            list.push(
                json!({"type": "content_block_start", "index": index, "content_block": block}),
            );
            list.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
            if !is_open {
                list.push(json!({"type": "content_block_stop", "index": index}));
            }
        };
        for (index, (id, name, args)) in self.calls.iter().enumerate() {
            let opening = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
            let delta = json!({"type": "input_json_delta", "partial_json": args});
            block(index + 1, opening, delta, false);
        }
        let is_endless = self.ending == Ending::Endless;
        let text = json!({"type": "text_delta", "text": self.text});
        block(0, json!({"type": "text", "text": ""}), text, is_endless);
        if self.ending == Ending::Whole {
            list.push(json!({
                "type": "message_delta", "delta": {"stop_reason": self.stop_reason()},
                "usage": {"output_tokens": OUTPUT},
            }));
            list.push(json!({"type": "message_stop"}));
        }
        self.ended(Turn::raw_chunks(list.into_iter().map(|event| {
            let kind = event["type"].as_str().unwrap_or_default().to_owned();
            format!("event: {kind}\ndata: {event}\n\n")
        })))
    }
}

/// What each reply is said to have cost.
const INPUT: u64 = 100;
const OUTPUT: u64 = 20;

/// The answer to a request, in its protocol; sometimes a refusal.
pub(crate) fn answer(received: &Received, mut dice: Dice) -> Turn {
    if dice.once_in(16) {
        let message = dice.pick(&[
            "this model does not support tools",
            "response_format is not supported",
            "something else",
        ]);
        return Turn::status(400).body(json!({"error": {"message": message}}).to_string());
    }
    let said = Said::any(&mut dice);
    match received.path.contains("/messages") {
        true => said.anthropic(received.json()["stream"] == true),
        false => said.openai(),
    }
}
