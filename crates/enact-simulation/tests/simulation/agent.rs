//! Random agents: tools of every sort, limits, and a model that says what its dice tell it.

use std::sync::Arc;
use std::time::Duration;

use enact::model::{Capabilities, ModelError, ModelErrorKind, RawCall, Reply};
use enact::react::{CallCheck, Program, Verdict, Wording};
use enact::run::{AgentSpec, Call, Event, PredictorName, Started};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{AdapterChoice, Completion, FnTool, Run, Signature, ToolError, Tools, Values, values};
use serde_json::{Value, json};

use crate::dice::Dice;

/// A tool of the simulation.
#[derive(Debug)]
pub struct Kind {
    pub name: String,
    pub effect: Effect,
    /// How many questions it asks before it does anything.
    pub asks: usize,
    pub fails: bool,
    /// Whether the person, once asked, allows it for the whole run.
    pub is_allowed_for_good: bool,
}

#[derive(Debug)]
pub struct Agent {
    pub kinds: Vec<Kind>,
    pub program: Arc<Program>,
    pub wording: Wording,
    spec: AgentSpec,
    is_native: bool,
    is_unattended: bool,
    max_steps: u64,
    /// After how many steps its tools change: each time, if they do.
    changes_after: Option<usize>,
}

impl Agent {
    pub fn random(dice: Dice) -> Self {
        let count = 2 + dice.roll("tools", 3);
        let mut tools = Tools::new();
        let mut kinds = Vec::new();
        for index in 0..count {
            let effect = match dice.roll(("effect", index), 4) {
                0 => Effect::ReadOnly,
                1 => Effect::Idempotent,
                _ => Effect::Effectful,
            };
            let confirmation = match dice.roll(("confirmation", index), 4) {
                0 => Confirmation::Always,
                1 => Confirmation::When,
                _ => Confirmation::Never,
            };
            let kind = Kind {
                name: format!("tool_{index}"),
                effect,
                asks: [0, 0, 0, 1, 2][dice.roll(("asks", index), 5) as usize],
                // What failed in doubt would come back as a success from the person.
                fails: effect != Effect::Effectful && dice.percent(("fails", index), 15),
                is_allowed_for_good: dice.percent(("allowed", index), 20),
            };
            let parameters = json!({
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "required": ["n"],
            });
            let mut spec = ToolSpec::new(&kind.name, "Does something.", parameters)
                .with_effect(effect)
                .with_confirmation(confirmation);
            if dice.percent(("serial", index), 20) {
                spec = spec.serial();
            }
            // The engine runs calls itself.
            tools = tools.with(FnTool::from_spec(spec, |_, _| async {
                Ok::<_, ToolError>(Value::Null)
            }));
            kinds.push(kind);
        }
        let completion = if dice.percent("finish", 30) {
            Completion::Finish
        } else {
            Completion::Submit
        };
        let signature = if dice.percent("two outputs", 50) {
            "question -> answer, count: int"
        } else {
            "question -> answer"
        };
        let signature = Signature::parse(signature).unwrap();
        let mut program = Program::react(signature.clone(), &tools, completion).unwrap();
        program.limits.max_iterations = 2 + dice.roll("iterations", 6) as u32;
        program.limits.max_repairs = dice.roll("repairs", 4) as u32;
        if dice.percent("expiry", 40) {
            program.limits.answer_within = Some(Duration::from_secs(3_600));
        }
        program.has_condition = dice.percent("condition", 30);
        program.rules.judges = dice.percent("judges", 20);
        if dice.percent("condenses", 20) {
            program.rules.condenses = true;
            program.limits.max_observation_tokens = 1;
        }
        // A run that is taken up lists its tools before it summarises what the last call gave, so a
        // change at that moment moves the request to another place of the log.
        let changes = dice.percent("changes", 40) && !program.rules.condenses;
        let changes_after = changes.then(|| 1 + dice.roll("changes after", 2) as usize);
        let is_native = dice.percent("native", 70);
        let named = |name: &str| -> AdapterChoice { name.parse().unwrap() };
        let step = match (is_native, dice.percent("auto", 50)) {
            (true, true) => AdapterChoice::Auto,
            (true, false) => named("native"),
            (false, _) => named("json"),
        };
        let wording = Wording::new(&named("json"), Capabilities::FULL).with(
            PredictorName::Step,
            &step,
            Capabilities::FULL,
        );
        let mut spec = AgentSpec::new(signature, "model", "json");
        spec.step_adapter = Some(if is_native { "native" } else { "json" }.to_owned());
        spec.completion = completion;
        spec.tools = program.tool_specs().cloned().collect();
        Self {
            kinds,
            program: Arc::new(program),
            wording,
            spec,
            is_native,
            is_unattended: dice.percent("unattended", 10),
            max_steps: 1 + dice.roll("steps", 5),
            changes_after,
        }
    }

    pub fn kind(&self, name: &str) -> &Kind {
        self.kinds.iter().find(|kind| kind.name == name).unwrap()
    }

    pub fn is_unattended(&self) -> bool {
        self.is_unattended
    }

    pub fn started(&self) -> Started {
        let inputs = values! { question: "q" };
        let mut started = Started::new("run", self.spec.clone(), inputs);
        started.limits = self.program.limits;
        started.rules = self.program.rules.clone();
        started.is_unattended = self.is_unattended;
        started
    }

    /// What the rules of the tools say about calls: those that ask about some ask about even numbers.
    pub fn check(&self, calls: &[&Call]) -> Vec<CallCheck> {
        let said = calls.iter().map(|call| {
            let asks = call.args["n"].as_i64().is_some_and(|n| n % 2 == 0);
            CallCheck::new(asks, Verdict::Allow)
        });
        said.collect()
    }

    /// The tools as they are now, if they change: the last one is first described anew, then gone. They
    /// change between steps, so that the same happens whenever the process dies.
    pub fn tools(&self, run: &Run) -> Option<Vec<ToolSpec>> {
        let over = run.steps().iter().filter(|step| !step.is_open()).count();
        let mut tools = self.spec.tools.clone();
        match over / self.changes_after? {
            0 => {}
            1 => tools.last_mut()?.description = "Does something else.".to_owned(),
            _ => {
                tools.pop();
            }
        }
        Some(tools)
    }

    /// What the model says next: a function of what it has said before and of what it sees.
    pub fn model(
        &self,
        dice: Dice,
        run: &Run,
        predictor: PredictorName,
    ) -> Result<Reply, ModelError> {
        let nth = outcomes(run);
        let seen = run.trajectory().to_string();
        let answer = format!("{:x}", dice.roll(("answer", &seen), u64::MAX));
        if dice.percent(("fails", nth), 4) {
            let kind = match dice.roll(("failure", nth), 2) {
                0 => ModelErrorKind::ContextLength,
                _ => ModelErrorKind::RateLimit,
            };
            return Err(ModelError::new(kind, "not now"));
        }
        match predictor {
            PredictorName::Extract => {
                let outputs = json!({"reasoning": "r", "answer": answer, "count": 3});
                Ok(Reply::text(outputs.to_string()))
            }
            PredictorName::Summarise | PredictorName::Condense => {
                if dice.percent(("mumbles", nth), 10) {
                    return Ok(Reply::text("Hm."));
                }
                let summary = json!({"summary": format!("s {answer}")});
                Ok(Reply::text(summary.to_string()))
            }
            PredictorName::Judge => {
                let standing = match dice.roll(("standing", nth), 10) {
                    0 => "done",
                    1 => "impossible",
                    2 => "?",
                    _ => "open",
                };
                let judged = json!({"why": "w", "standing": standing});
                Ok(Reply::text(judged.to_string()))
            }
            _ => Ok(self.step(dice, nth, &answer)),
        }
    }

    fn step(&self, dice: Dice, nth: u64, answer: &str) -> Reply {
        if nth >= self.max_steps {
            return self.calls(nth, vec![self.completing(answer)]);
        }
        match dice.roll(("oddity", nth), 20) {
            0 => return Reply::text("I do not know what to do."),
            1 => return self.calls(nth, vec![("tool_x".to_owned(), json!({"n": 1}))]),
            2 => return self.calls(nth, vec![("tool_0".to_owned(), json!({"n": "many"}))]),
            3 => return self.calls(nth, vec![("submit".to_owned(), json!({"answer": 7.5}))]),
            _ => {}
        }
        let count = if self.is_native {
            1 + dice.roll(("calls", nth), 3)
        } else {
            1
        };
        let mut calls: Vec<(String, Value)> = (0..count)
            .map(|index| {
                let tool = dice.roll(("tool", nth, index), self.kinds.len() as u64);
                let n = dice.roll(("n", nth, index), 6);
                (format!("tool_{tool}"), json!({"n": n}))
            })
            .collect();
        if self.is_native && dice.percent(("submits too", nth), 5) {
            calls.push(self.completing(answer));
        }
        self.calls(nth, calls)
    }

    fn completing(&self, answer: &str) -> (String, Value) {
        let outputs = match self.program.completion {
            Completion::Submit => json!({"answer": answer, "count": 3}),
            _ => json!({}),
        };
        let mut outputs: Values = serde_json::from_value(outputs).unwrap();
        let declared = &self.program.declared;
        outputs.retain(|name, _| declared.outputs().iter().any(|field| field.name == *name));
        let name = match self.program.completion {
            Completion::Submit => "submit",
            _ => "finish",
        };
        (name.to_owned(), Value::Object(outputs))
    }

    fn calls(&self, nth: u64, calls: Vec<(String, Value)>) -> Reply {
        if !self.is_native {
            let (name, args) = &calls[0];
            return Reply::text(
                json!({"next_thought": "t", "next_tool_name": name, "next_tool_args": args})
                    .to_string(),
            );
        }
        let mut reply = Reply::text(format!("thought {nth}"));
        for (index, (name, args)) in calls.into_iter().enumerate() {
            reply.calls.push(RawCall {
                // Some models number the calls of each reply anew.
                id: Some(format!("call_{index}")),
                name,
                arguments: args.to_string(),
            });
        }
        reply
    }
}

/// How often a model was asked, as the log knows it.
fn outcomes(run: &Run) -> u64 {
    run.events().filter(|event| is_outcome(event)).count() as u64
}

/// Whether the event is what came of a request.
pub fn is_outcome(event: &Event) -> bool {
    matches!(event, Event::Replied(_) | Event::ModelFailed { .. })
}
