//! Whatever the form of a reply: if it holds all declared outputs, the run ends with them.

mod values;
mod written;

use enact::adapter::{AdapterChoice, Completion};
use enact::model::{Capabilities, ScriptStep, ScriptedModel, call, say};
use enact::run::TerminationReason;
use enact::{ChainOfThought, Predict, Signature, Values, values};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use self::values::{Outputs, outputs};
use self::written::Form;
use super::submitting::{self, adapters};
use crate::{agent, search_and_add};

/// What the reply answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    /// The first request of a run.
    First,
    /// A step after a call.
    Step,
    /// The demand to submit, where no steps are left.
    Limit,
    /// The extraction after a demand that brought nothing.
    Extraction,
    /// The extraction after `finish`.
    Finish,
    Predict,
    ChainOfThought,
}

impl At {
    fn is_agent(self) -> bool {
        !matches!(self, Self::Predict | Self::ChainOfThought)
    }

    fn reason(self) -> TerminationReason {
        match self {
            Self::Limit | Self::Extraction => TerminationReason::MaxIterations,
            _ => TerminationReason::Success,
        }
    }
}

/// What stands beside the outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    Thinking,
    Label,
    Words,
    Reasoning,
}

#[derive(Debug, Clone)]
struct Case {
    adapter: AdapterChoice,
    capabilities: Capabilities,
    at: At,
    completion: Completion,
    beside: Beside,
    form: Form,
    outputs: Outputs,
    /// What the model calls the tool that ends the task.
    name: &'static str,
}

impl Case {
    /// Whether this is an accepted form there, beyond doubt.
    fn is_accepted(&self) -> bool {
        let Self {
            form,
            at,
            outputs,
            beside,
            ..
        } = self;
        let is_text = outputs.is_one_text();
        let texts: Vec<&str> = outputs.values.values().filter_map(Value::as_str).collect();
        let has = |mark: &str| texts.iter().any(|text| text.contains(mark));
        let is_xml = self.adapter.name() == "xml";
        let is_own = match self.adapter.resolve(self.capabilities).name() {
            "json" => matches!(
                form,
                Form::Object | Form::ObjectWithReasoning | Form::Fenced
            ),
            "chat" => *form == Form::Markers,
            "xml" => *form == Form::Tags,
            "tagged" => matches!(form, Form::Labels),
            _ => false,
        };
        let stands = match beside {
            Beside::Label | Beside::Words if *form == Form::Bare => false,
            // It may belong to the only text.
            Beside::Label | Beside::Words if is_text => {
                (form.is_call() && at.is_agent()) || (is_own && *form != Form::Labels)
            }
            _ => true,
        };
        let fits = match form {
            Form::Bare => match outputs.only() {
                Some(("str", _)) => false,
                Some((ty, value)) => !ty.contains("str") && !value.is_null(),
                None => false,
            },
            Form::FinalAnswer => outputs.only().is_some() && self.completion == Completion::Submit,
            Form::NativeCall => at.is_agent(),
            // Nobody else has a tool to name.
            Form::CallObject | Form::ToolCallTags => {
                at.is_agent() || !outputs.values.contains_key("name")
            }
            Form::Bullets => !has("\n"),
            Form::CData => !has("]]>"),
            // There is no way to quote.
            Form::Invoke => outputs.typed().all(|(_, ty, value)| match value.as_str() {
                Some(text) => {
                    let is_json = || serde_json::from_str::<Value>(text).is_ok();
                    !text.is_empty() && text.trim() == text && (ty == "str" || !is_json())
                }
                None => true,
            }),
            // Entities are those of one adapter.
            Form::TaggedStep => {
                let all = Value::Object(outputs.values.clone()).to_string();
                (is_xml && at.is_agent()) || !all.contains(['<', '>', '&'])
            }
            Form::BoldLabels => !texts.iter().any(|text| text.starts_with('*')),
            _ => true,
        };
        stands && fits
    }

    fn reply(&self) -> ScriptStep {
        let text = written::written(self.form, &self.outputs, self.name);
        let before = match self.beside {
            Beside::Nothing | Beside::Reasoning => "",
            Beside::Thinking => "<think>\nI looked it up.\n</think>\n\n",
            Beside::Label => "Thought: I looked it up.\n",
            Beside::Words => "I looked it up, and this is what I found.\n\n",
        };
        let text = format!("{before}{text}");
        let reply = match self.form {
            Form::NativeCall => {
                call(self.name, Value::Object(self.outputs.values.clone())).thinking(text)
            }
            _ => say(text),
        };
        match self.beside {
            Beside::Reasoning => reply.reasoning("I looked it up."),
            _ => reply,
        }
    }

    fn script(&self) -> Vec<ScriptStep> {
        let adapter = self
            .adapter
            .resolve(self.capabilities)
            .name()
            .parse()
            .unwrap();
        let search = || submitting::written(&adapter, "search", &json!({"query": "x"}));
        let mut script = match (self.at, self.completion) {
            (At::First | At::Predict | At::ChainOfThought, _) => vec![],
            (At::Step, _) => vec![search()],
            (At::Limit, _) | (At::Extraction, Completion::Finish) => vec![search(), search()],
            (At::Extraction, _) => vec![search(), search(), search()],
            (At::Finish, _) => vec![
                search(),
                submitting::written(&adapter, "finish", &json!({})),
            ],
        };
        script.push(self.reply());
        script
    }

    /// What the run came to, why it ended, and how many replies were left over.
    async fn played(&self) -> Result<(Values, TerminationReason, usize), String> {
        let script = self.script();
        let length = script.len();
        let model = ScriptedModel::new(script).with_capabilities(self.capabilities);
        let model = std::sync::Arc::new(model);
        let inputs = values! { question: "q" };
        let signature = Signature::parse(&self.outputs.arrow).unwrap();
        let outcome = match self.at {
            At::Predict => {
                let module = Predict::builder(signature).model(model.clone());
                let module = module.adapter(self.adapter.clone()).build().unwrap();
                module.call(inputs).await
            }
            At::ChainOfThought => {
                let module = ChainOfThought::builder(signature).model(model.clone());
                let module = module.adapter(self.adapter.clone()).build().unwrap();
                module.call(inputs).await
            }
            _ => {
                let played = agent(&self.outputs.arrow, search_and_add(), []).map(|agent| {
                    let steps = match self.at {
                        At::Limit | At::Extraction => 2,
                        _ => 10,
                    };
                    let agent = agent.model(model.clone()).completion(self.completion);
                    agent.adapter(self.adapter.clone()).max_iterations(steps)
                });
                played.agent.call(inputs).await
            }
        };
        let left_over = length - model.requests().len().min(length);
        model.abandon();
        let done = outcome.map_err(|error| error.to_string())?;
        let done = done.finished().map_err(|error| error.to_string())?;
        let mut outputs = done.outputs.clone();
        outputs.retain(|name, _| self.outputs.values.contains_key(name));
        Ok((outputs, done.termination, left_over))
    }
}

fn case() -> impl Strategy<Value = Case> {
    let capabilities = select(vec![
        Capabilities::FULL,
        Capabilities::FULL.with_tools(false),
        Capabilities::TEXT,
    ]);
    let places = vec![
        At::First,
        At::Step,
        At::Limit,
        At::Extraction,
        At::Finish,
        At::Predict,
        At::ChainOfThought,
    ];
    let besides = vec![
        Beside::Nothing,
        Beside::Thinking,
        Beside::Label,
        Beside::Words,
        Beside::Reasoning,
    ];
    (
        select(adapters().to_vec()),
        capabilities,
        select(places),
        any::<bool>(),
        select(besides),
        any::<Index>(),
        outputs(),
        select(vec!["submit", "finish", "final_answer"]),
    )
        .prop_map(
            |(adapter, capabilities, at, finishes, beside, form, outputs, name)| {
                let is_auto = matches!(adapter, AdapterChoice::Auto);
                let mut case = Case {
                    // What the model is known to do matters to `auto` alone.
                    capabilities: match is_auto {
                        true => capabilities,
                        false => Capabilities::FULL,
                    },
                    completion: match finishes || at == At::Finish {
                        true => Completion::Finish,
                        false => Completion::Submit,
                    },
                    adapter,
                    at,
                    beside,
                    form: Form::Object,
                    outputs,
                    name,
                };
                let is_accepted = |form: &Form| {
                    Case {
                        form: *form,
                        ..case.clone()
                    }
                    .is_accepted()
                };
                let accepted: Vec<Form> = Form::ALL.into_iter().filter(is_accepted).collect();
                match accepted.is_empty() {
                    true => case.beside = Beside::Nothing,
                    false => case.form = *form.get(&accepted),
                }
                case
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn truth_any_reply_with_all_outputs_is_the_answer(case in case()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let expected = (case.outputs.values.clone(), case.at.reason(), 0);
        prop_assert_eq!(runtime.block_on(case.played()), Ok(expected), "{:?}", case.reply());
    }
}
