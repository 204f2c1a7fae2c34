//! Logs of long runs, made by the core itself.

use std::sync::Arc;
use std::time::Duration;

use enact::model::{Capabilities, ModelError, ModelErrorKind, RawCall, Reply, Usage};
use enact::react::{Next, Program, RunState, Wording};
use enact::run::{
    AgentSpec, Event, Observation, PredictorName, Reading, Record, Started, ThoughtsInContext,
};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{
    AdapterChoice, Completion, Decision, FnTool, Run, Signature, ToolError, Tools, values,
};
use serde_json::{Value, json};

/// What sort of run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// Steps of one call each.
    Plain,
    /// The same, and a person approves each call.
    Approved,
    /// Steps of a hundred calls each.
    Parallel,
    /// As `Plain`, and halfway the transcript is summarised.
    Summarised,
    /// As `Plain`, and prompts show the last three thoughts only.
    Trimmed,
}

impl Shape {
    pub const ALL: [Self; 5] = [
        Self::Plain,
        Self::Approved,
        Self::Parallel,
        Self::Summarised,
        Self::Trimmed,
    ];

    pub fn describe(self) -> &'static str {
        match self {
            Self::Plain => "steps of one call",
            Self::Approved => "each call approved",
            Self::Parallel => "steps of 100 calls",
            Self::Summarised => "one summary halfway",
            Self::Trimmed => "last thoughts only",
        }
    }

    fn calls(self) -> usize {
        match self {
            Self::Parallel => 100,
            _ => 1,
        }
    }

    pub fn program(self) -> Arc<Program> {
        let parameters = json!({
            "type": "object",
            "properties": {"query": {"type": "string"}},
            "required": ["query"],
        });
        let confirmation = match self {
            Self::Approved => Confirmation::Always,
            _ => Confirmation::Never,
        };
        let spec = ToolSpec::new("search", "Looks something up.", parameters)
            .with_effect(Effect::ReadOnly)
            .with_confirmation(confirmation);
        let search = FnTool::from_spec(spec, |_, _| async { Ok::<_, ToolError>(Value::Null) });
        let signature = Signature::parse("question -> answer").unwrap();
        let tools = Tools::new().with(search);
        let mut program = Program::react(signature, &tools, Completion::Submit).unwrap();
        program.limits.max_iterations = u32::MAX;
        Arc::new(program)
    }

    /// The log of a run with at least so many events, which would ask the model next.
    pub fn log(self, run_id: &str, events: usize) -> Run {
        let program = self.program();
        let mut writer = Writer {
            state: begin(&program, run_id),
            shape: self,
        };
        while writer.length() < events || !matches!(writer.state.decide(), Next::Model(_)) {
            writer.go_on(events / 2);
        }
        let mut run = writer.state.into_run();
        if self == Self::Trimmed {
            run = trimmed(run);
        }
        run
    }
}

/// The same run, with prompts that show the last three thoughts only. To play it so would take
/// long: its prompt is made anew in each step.
fn trimmed(run: Run) -> Run {
    let mut records = Vec::from(run);
    if let Event::Started(started) = &mut records[0].event {
        Arc::make_mut(started).rules.thoughts_in_context = ThoughtsInContext::Last(3);
    }
    Run::try_from(records).unwrap()
}

pub fn wording() -> Wording {
    let native = "native".parse::<AdapterChoice>().unwrap();
    Wording::new(&native, Capabilities::FULL)
}

fn begin(program: &Arc<Program>, run_id: &str) -> RunState {
    let mut agent = AgentSpec::new(program.declared.clone(), "model", "native");
    agent.step_adapter = Some("native".to_owned());
    agent.tools = program.tool_specs().cloned().collect();
    let inputs = values! { question: "Which of these towns has had the most rain this year?" };
    let mut started = Started::new(run_id, agent, inputs);
    started.limits = program.limits;
    started.rules = program.rules.clone();
    let record = Record::now(0, Event::Started(Arc::new(started)));
    RunState::begin(program.clone(), wording(), record).unwrap()
}

/// Plays model, tools and person.
struct Writer {
    state: RunState,
    shape: Shape,
}

impl Writer {
    fn length(&self) -> usize {
        self.state.run().records().len()
    }

    fn write(&mut self, event: Event) {
        let record = Record::now(self.length() as u64, event);
        self.state.apply(record);
    }

    fn go_on(&mut self, half: usize) {
        match self.state.decide() {
            Next::Record(event) => self.write(event),
            Next::Model(call) => {
                let reply = self.reply(call.predictor, half);
                let reply = reply.as_ref().cloned();
                let read = self
                    .state
                    .read(call.predictor, reply, Duration::from_millis(1_234));
                let event = read.event(&self.state, []);
                self.write(event);
            }
            Next::Tools(calls) => {
                let ids: Vec<String> = calls.into_iter().map(|call| call.call.id.clone()).collect();
                for call_id in ids.clone() {
                    self.write(Event::ToolStarted { call_id });
                }
                for call_id in ids {
                    let observation = observation(self.length());
                    let took = Duration::from_millis(56);
                    let spent = Default::default();
                    self.write(Event::tool_finished(call_id, observation, took, spent));
                }
            }
            Next::Human(questions) => {
                for question in questions {
                    let answer = self
                        .state
                        .answer(&question.confirmation_id, Decision::Approve);
                    self.write(answer.unwrap());
                }
            }
            next => panic!("the run is over: {next:?}"),
        }
    }

    fn reply(&self, predictor: PredictorName, half: usize) -> Result<Reply, ModelError> {
        if predictor == PredictorName::Summarise {
            return Ok(Reply::text("All towns but two have been looked at."));
        }
        let events = self.state.run().events();
        let was_shortened = events
            .rev()
            .filter_map(|event| event.reply())
            .any(|replied| matches!(replied.read, Reading::Summary { .. }));
        if self.shape == Shape::Summarised && self.length() > half && !was_shortened {
            return Err(ModelError::new(ModelErrorKind::ContextLength, "too long"));
        }
        // About 100 bytes.
        let number = self.length();
        let mut reply = Reply::text(format!(
            "I know the rain of {number} towns so far, and go on with the next one of the long list I was given."
        ));
        reply.usage = Usage::of_request(1_000, 40);
        for index in 0..self.shape.calls() {
            reply.calls.push(RawCall {
                id: Some(format!("call_{number}_{index}")),
                name: "search".to_owned(),
                arguments: json!({"query": query(number + index)}).to_string(),
            });
        }
        Ok(reply)
    }
}

/// Like no other, and unlike its neighbours: an agent that repeats itself would be stopped.
fn query(number: usize) -> String {
    const SYLLABLES: [&str; 16] = [
        "bra", "chen", "dor", "el", "fing", "gau", "hau", "ing", "kirch", "lau", "mün", "nord",
        "ost", "pfaf", "ried", "stein",
    ];
    let town = |seed: usize| -> String {
        let mixed = seed.wrapping_mul(0x9e37_79b9) >> 7;
        (0..4)
            .map(|place| SYLLABLES[mixed >> (4 * place) & 15])
            .collect()
    };
    format!("rain in {} and {}", town(number), town(number + 50_000))
}

/// Between 200 bytes and 1 KiB.
fn observation(number: usize) -> Observation {
    let length = 200 + number * 37 % 825;
    let text = "Rain fell on a third of the days, most of it in spring.\n";
    Observation::value(text.repeat(length / text.len() + 1)[..length].to_owned())
}
