//! What the model says, step by step, in the form that a contender reads.

use std::str::FromStr;

use anyhow::bail;

const THOUGHT: &str = "I look up the next item.";
const DONE: &str = "I know enough.";
const ANSWER: &str = "forty-two";

/// One reply of the model.
pub(crate) enum Said {
    /// Text alone.
    Text(String),
    /// A thought and a tool call; the arguments are JSON.
    Call {
        thought: &'static str,
        tool: &'static str,
        arguments: String,
    },
}

/// In which form steps and the final answer are told.
#[derive(Clone, Copy)]
pub(crate) enum Script {
    /// Tool calls, then a text.
    Text,
    /// Tool calls, then one of `submit` with the outputs.
    Submit,
    /// Tool calls, then one of `publish`, which a person has to approve.
    Publish,
    /// Texts for the adapters of enact without tool calls.
    Json,
    Chat,
    Xml,
    Tagged,
    /// Texts for DSPy's ReAct and udspy's: `finish` ends the loop, and one more request asks for
    /// the outputs.
    Dspy,
    Udspy,
}

impl FromStr for Script {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        Ok(match name {
            "text" => Self::Text,
            "submit" => Self::Submit,
            "publish" => Self::Publish,
            "json" => Self::Json,
            "chat" => Self::Chat,
            "xml" => Self::Xml,
            "tagged" => Self::Tagged,
            "dspy" => Self::Dspy,
            "udspy" => Self::Udspy,
            _ => bail!("no script `{name}`"),
        })
    }
}

impl Script {
    /// The reply to request `number` of a run of so many steps, both from 1.
    pub(crate) fn say(self, number: usize, steps: usize) -> anyhow::Result<Said> {
        let requests = match self {
            Self::Dspy | Self::Udspy => steps + 1,
            _ => steps,
        };
        if number > requests {
            bail!("request {number} of a run of {requests}");
        }
        Ok(match number < steps {
            true => self.look_up(&format!("item-{number}")),
            false => self.end(number > steps),
        })
    }

    /// A step that looks something up.
    fn look_up(self, key: &str) -> Said {
        let arguments = format!(r#"{{"key":"{key}"}}"#);
        match self {
            Self::Text | Self::Submit | Self::Publish => Said::Call {
                thought: THOUGHT,
                tool: "lookup",
                arguments,
            },
            Self::Json | Self::Udspy => json(THOUGHT, "lookup", &arguments),
            Self::Chat | Self::Dspy => chat(THOUGHT, "lookup", &arguments),
            Self::Xml => xml(THOUGHT, "lookup", &arguments),
            Self::Tagged => {
                Said::Text(format!("Thought: {THOUGHT}\nAction: lookup(key=\"{key}\")"))
            }
        }
    }

    /// The last step, or what comes behind it.
    fn end(self, is_extraction: bool) -> Said {
        let outputs = format!(r#"{{"answer":"{ANSWER}"}}"#);
        match self {
            Self::Text => Said::Text(ANSWER.into()),
            Self::Submit => Said::Call {
                thought: DONE,
                tool: "submit",
                arguments: outputs,
            },
            Self::Publish => Said::Call {
                thought: DONE,
                tool: "publish",
                arguments: r#"{"key":"all"}"#.into(),
            },
            Self::Json => json(DONE, "submit", &outputs),
            Self::Chat => chat(DONE, "submit", &outputs),
            Self::Xml => xml(DONE, "submit", &outputs),
            Self::Tagged => Said::Text(format!(
                "Thought: {DONE}\nAction: submit(answer=\"{ANSWER}\")"
            )),
            Self::Dspy if is_extraction => Said::Text(format!(
                "[[ ## reasoning ## ]]\n{DONE}\n\n[[ ## answer ## ]]\n{ANSWER}\n\n\
                 [[ ## completed ## ]]"
            )),
            Self::Udspy if is_extraction => {
                Said::Text(format!(r#"{{"reasoning":"{DONE}","answer":"{ANSWER}"}}"#))
            }
            Self::Dspy => chat(DONE, "finish", "{}"),
            Self::Udspy => json(DONE, "finish", "{}"),
        }
    }
}

fn json(thought: &str, tool: &str, arguments: &str) -> Said {
    Said::Text(format!(
        r#"{{"next_thought":"{thought}","next_tool_name":"{tool}","next_tool_args":{arguments}}}"#
    ))
}

fn chat(thought: &str, tool: &str, arguments: &str) -> Said {
    Said::Text(format!(
        "[[ ## next_thought ## ]]\n{thought}\n\n[[ ## next_tool_name ## ]]\n{tool}\n\n\
         [[ ## next_tool_args ## ]]\n{arguments}\n\n[[ ## completed ## ]]"
    ))
}

fn xml(thought: &str, tool: &str, arguments: &str) -> Said {
    Said::Text(format!(
        "<next_thought>{thought}</next_thought>\n<next_tool_name>{tool}</next_tool_name>\n\
         <next_tool_args>{arguments}</next_tool_args>"
    ))
}
