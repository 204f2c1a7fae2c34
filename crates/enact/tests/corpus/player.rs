//! Plays a scene: model, tools, person and clock around the pure core, the same each time.

use std::sync::Arc;
use std::time::Duration;

use enact::Timestamp;
use enact::model::{Capabilities, FinishReason, ModelError, ModelErrorKind, RawCall, Reply, Usage};
use enact::react::{CallCheck, Next, Program, RunState, Verdict, Wording};
use enact::run::{AgentSpec, Call, Event, Observation, PredictorName, Record, Started};
use enact::tool::ToolSpec;
use enact::{
    AdapterChoice, Completion, Decision, FnTool, Run, Signature, TerminationReason, ToolError,
    Tools, Values,
};
use serde_json::Value;

/// 2026-01-15T09:30:00Z.
const BEGIN: i64 = 1_768_469_400;

/// The program that goes on with a run: what the log says of its agent.
pub fn program_of(started: &Started) -> Arc<Program> {
    let agent = &started.agent;
    let signature = agent.signature.clone();
    let program = if agent.step_adapter.is_some() {
        let mut tools = Tools::new();
        for spec in &agent.tools {
            tools = tools.with(FnTool::from_spec(spec.clone(), |_, _| async {
                Err::<Value, _>(ToolError::new("no tool is called here"))
            }));
        }
        Program::react(signature, &tools, agent.completion)
    } else if agent.notes.contains_key("reasons") {
        Program::chain_of_thought(signature)
    } else {
        Program::predict(signature)
    };
    Arc::new(program.unwrap())
}

/// The words of a run, from the adapters that its log names.
pub fn wording_of(started: &Started) -> Wording {
    let adapter = |name: &str| -> AdapterChoice { name.parse().unwrap() };
    let agent = &started.agent;
    let step = agent.step_adapter.as_deref().unwrap_or(&agent.adapter);
    Wording::new(&adapter(&agent.adapter), Capabilities::FULL).with(
        PredictorName::Step,
        &adapter(step),
        Capabilities::FULL,
    )
}

/// How a scene begins.
pub fn opening(run_id: &str, arrow: &str, adapter: &str, inputs: Values) -> Started {
    let signature = Signature::parse(arrow).unwrap();
    Started::new(
        run_id,
        AgentSpec::new(signature, "scripted", adapter),
        inputs,
    )
}

/// The same, as an agent with these tools.
pub fn agent(
    run_id: &str,
    arrow: &str,
    adapter: &str,
    inputs: Values,
    tools: impl IntoIterator<Item = ToolSpec>,
) -> Started {
    let mut started = opening(run_id, arrow, adapter, inputs);
    started.agent.step_adapter = Some(adapter.to_owned());
    started.agent.tools = tools.into_iter().collect();
    started
}

/// The same, with another way to the outputs.
pub fn finishing(mut started: Started) -> Started {
    started.agent.completion = Completion::Finish;
    started
}

/// A reply that says this.
pub fn said(text: &str) -> Reply {
    let mut reply = Reply::text(text);
    reply.usage = Usage::of_request(100, 10);
    reply
}

/// The same, with calls: name, arguments as text.
pub fn called<'a>(text: &str, calls: impl IntoIterator<Item = (&'a str, &'a str)>) -> Reply {
    let mut reply = said(text);
    reply.finish = FinishReason::ToolCalls;
    for (name, arguments) in calls {
        reply.calls.push(RawCall {
            id: None,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
    }
    reply
}

/// What the rules of the tools say about a call: the one that asks about some asks about large amounts.
fn by_rule(call: &Call) -> CallCheck {
    let asks = call.args["amount"].as_f64() > Some(100.0);
    CallCheck::new(asks, Verdict::Allow)
}

/// A run that is being played.
pub struct Player {
    state: RunState,
    seconds: i64,
}

impl Player {
    pub fn begin(started: Started) -> Self {
        let (program, wording) = (program_of(&started), wording_of(&started));
        let record = Record {
            position: 0,
            at: Timestamp::from_second(BEGIN).unwrap(),
            event: Event::Started(Arc::new(started)),
        };
        let mut player = Self {
            state: RunState::begin(program, wording, record).unwrap(),
            seconds: BEGIN,
        };
        player.settle();
        player
    }

    pub fn run(self) -> Run {
        self.state.into_run()
    }

    fn write(&mut self, event: Event) {
        self.seconds += 1;
        let position = self.state.run().records().len() as u64;
        let at = Timestamp::from_nanosecond(i128::from(self.seconds) * 1_000_000_000 + 250_000_000)
            .unwrap();
        self.state.apply(Record {
            position,
            at,
            event,
        });
        self.settle();
    }

    /// Writes what follows by itself.
    fn settle(&mut self) {
        if let Next::Record(event) = self.state.decide() {
            self.write(event);
        }
    }

    /// Who asks a model.
    #[track_caller]
    fn asking(&mut self) -> PredictorName {
        match self.state.decide() {
            Next::Model(call) => call.predictor,
            next => panic!("no model is asked: {next:?}"),
        }
    }

    /// The model answers.
    #[track_caller]
    pub fn model(mut self, reply: Reply) -> Self {
        let predictor = self.asking();
        let read = self
            .state
            .read(predictor, Ok(reply), Duration::from_millis(700));
        let said: Vec<CallCheck> = read.unchecked().into_iter().map(by_rule).collect();
        let event = read.event(&self.state, said);
        self.write(event);
        self
    }

    /// The model cannot be asked.
    #[track_caller]
    pub fn model_fails(mut self, kind: ModelErrorKind) -> Self {
        let predictor = self.asking();
        let error = ModelError::new(kind, format!("the request failed: {}", kind.as_str()));
        let read = self
            .state
            .read(predictor, Err(&error), Duration::from_millis(700));
        let event = read.event(&self.state, []);
        self.write(event);
        self
    }

    /// The calls that may run are started.
    #[track_caller]
    pub fn start(mut self) -> Self {
        let Next::Tools(calls) = self.state.decide() else {
            panic!("nothing may run: {:?}", self.state.decide());
        };
        for call in calls {
            let call_id = call.call.id.clone();
            self.write(Event::ToolStarted { call_id });
        }
        self
    }

    /// A call that runs gives something.
    pub fn gives(mut self, call_id: &str, observation: Observation) -> Self {
        let took = Duration::from_micros(1_500);
        let spent = (Usage::default(), 0.0);
        self.write(Event::tool_finished(call_id, observation, took, spent));
        self
    }

    /// A call that runs asks models of its own, and gives something.
    pub fn spends(mut self, call_id: &str, value: impl Into<Value>) -> Self {
        self = self.start();
        let observation = Observation::value(value);
        let spent = (Usage::of_request(300, 30), 0.015);
        let took = Duration::from_secs(2);
        self.write(Event::tool_finished(call_id, observation, took, spent));
        self
    }

    /// The user's condition says this about the last step.
    pub fn condition(mut self, ends: bool) -> Self {
        self.write(Event::ConditionChecked { ends });
        self
    }

    /// The loop ends from outside the core: the clock.
    pub fn ends(mut self, reason: TerminationReason) -> Self {
        self.write(Event::LoopEnded { reason });
        self
    }

    /// The tools are others from now on.
    pub fn tools(mut self, specs: impl IntoIterator<Item = ToolSpec>) -> Self {
        let tools = specs.into_iter().collect();
        self.write(Event::ToolsChanged { tools });
        self
    }

    /// A call that runs asks something.
    pub fn asks(mut self, call_id: &str, text: &str) -> Self {
        let event = self.state.tool_asks(call_id, text.to_owned());
        self.write(event);
        self
    }

    /// The one call that may run is started, and gives this.
    #[track_caller]
    pub fn runs(self, call_id: &str, value: impl Into<Value>) -> Self {
        self.start().gives(call_id, Observation::value(value))
    }

    #[track_caller]
    fn question(&self, call_id: &str) -> String {
        let mut open = self.state.open_questions();
        let question = open.find(|question| question.tool_call.id == call_id);
        question.expect("an open question").confirmation_id.clone()
    }

    /// The person decides about a call.
    #[track_caller]
    pub fn answers(mut self, call_id: &str, decision: Decision) -> Self {
        let event = self.state.answer(&self.question(call_id), decision);
        self.write(event.unwrap());
        self
    }

    #[track_caller]
    /// The person decides about a call, and takes it back before anything comes of it.
    pub fn wavers(mut self, call_id: &str, decision: Decision) -> Self {
        let confirmation_id = self.question(call_id);
        let event = self.state.answer(&confirmation_id, decision).unwrap();
        // Not `write`: nobody has gone on with the run yet.
        for event in [event, Event::Withdrawn { confirmation_id }] {
            self.seconds += 1;
            self.state.apply(Record {
                position: self.state.run().records().len() as u64,
                at: Timestamp::from_second(self.seconds).unwrap(),
                event,
            });
        }
        self
    }

    /// Nobody answers until all questions have expired.
    pub fn waits(mut self) -> Self {
        self.seconds += 86_400;
        let now = Timestamp::from_second(self.seconds).unwrap();
        for event in self.state.expire(now) {
            self.write(event);
        }
        self
    }

    /// The process ends, and another one goes on with the log.
    pub fn crash(self) -> Self {
        let (program, wording) = {
            let started = self.state.run().started();
            (program_of(started), wording_of(started))
        };
        let mut player = Self {
            state: RunState::resume(program, wording, self.state.into_run()).unwrap(),
            seconds: self.seconds + 60,
        };
        player.settle();
        player
    }

    /// The person ends the run.
    pub fn cancel(mut self) -> Self {
        self.write(Event::Failed {
            reason: TerminationReason::Cancelled,
            message: "the run was cancelled".to_owned(),
        });
        self
    }
}
