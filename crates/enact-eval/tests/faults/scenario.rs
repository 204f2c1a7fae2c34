//! A scenario: a scripted agent, what goes wrong around it, and how it truly ends.

use std::time::Duration;

use enact::model::{ModelErrorKind, Usage};
use enact::run::{Event, PredictorName};
use enact::{Builder, Decision, ErrorKind, ReAct, TerminationReason, Tools, Values, values};
use serde_json::{Value, json};

use crate::tools::search;

/// A scripted agent, what goes wrong around it, and how it truly ends.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) adapter: &'static str,
    pub(crate) signature: &'static str,
    /// What the model says, in order.
    pub(crate) script: Vec<Turn>,
    /// Made anew for each play, because some of them count.
    pub(crate) tools: Box<dyn Fn() -> Tools>,
    pub(crate) setup: Box<dyn Fn(Builder<ReAct>) -> Builder<ReAct>>,
    /// Whether requests that fail for a passing reason are made again.
    pub(crate) retries: bool,
    pub(crate) stop: Option<Stop>,
    /// What people do about the questions, in the order in which they come up.
    pub(crate) people: Vec<Person>,
    /// How often the caller goes on with a run that an error left open.
    pub(crate) resumes: usize,
    pub(crate) expect: Expect,
}

/// How a scenario truly ends.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expect {
    /// Why the run ends; none if it is not over.
    pub(crate) reason: Option<TerminationReason>,
    pub(crate) success: bool,
    /// The outputs, partial ones included.
    pub(crate) outputs: Option<Values>,
    /// The error that the last call gives.
    pub(crate) error: Option<ErrorKind>,
    /// How many calls of tools fail.
    pub(crate) tool_errors: u64,
    /// Whether the agent succeeds after a tool failed; none if none did, or the run is not over.
    pub(crate) recovers: Option<bool>,
    /// What calls gave, in order, where the scenario is about that: texts that stand in it.
    pub(crate) observations: Option<Vec<&'static str>>,
}

/// Something from outside that stops the run.
#[derive(Clone, Copy)]
pub(crate) enum Stop {
    Cancel(When),
    Interrupt(When),
}

/// At which point.
#[derive(Clone, Copy)]
pub(crate) enum When {
    AtOnce,
    /// While the model answers a request of this predictor, counted from 1.
    Asking(PredictorName, usize),
    /// While a tool runs: when it reports progress.
    InTool,
    /// When the first such event was written down.
    After(fn(&Event) -> bool),
}

/// What a person does about a question.
#[derive(Debug, Clone)]
pub(crate) enum Person {
    Says(&'static str),
    Decides(Decision),
    Cancels,
    Leaves,
}

/// One turn of the model.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) said: Said,
    /// How long it takes.
    pub(crate) takes: Duration,
    pub(crate) usage: Usage,
    pub(crate) is_cut: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Said {
    Step {
        thought: String,
        calls: Vec<(String, Value)>,
    },
    Outputs(Values),
    Summary(String),
    Text(String),
    Fails(ModelErrorKind),
}

pub(crate) fn scenario(name: impl Into<String>, expect: Expect) -> Scenario {
    Scenario {
        name: name.into(),
        adapter: "native",
        signature: "question -> answer",
        script: Vec::new(),
        tools: Box::new(|| Tools::new().with(search())),
        setup: Box::new(|agent| agent),
        retries: false,
        stop: None,
        people: Vec::new(),
        resumes: 0,
        expect,
    }
}

impl Scenario {
    pub(crate) fn script(mut self, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.script = turns.into_iter().collect();
        self
    }

    pub(crate) fn tools(mut self, tools: impl Fn() -> Tools + 'static) -> Self {
        self.tools = Box::new(tools);
        self
    }

    pub(crate) fn setup(
        mut self,
        setup: impl Fn(Builder<ReAct>) -> Builder<ReAct> + 'static,
    ) -> Self {
        self.setup = Box::new(setup);
        self
    }

    pub(crate) fn signature(mut self, signature: &'static str) -> Self {
        self.signature = signature;
        self
    }

    /// The same in the words of another adapter.
    pub(crate) fn under(mut self, adapter: &'static str) -> Self {
        self.name = format!("{} ({adapter})", self.name);
        self.adapter = adapter;
        self
    }

    pub(crate) fn retrying(mut self) -> Self {
        self.retries = true;
        self
    }

    pub(crate) fn stopped_by(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    pub(crate) fn people(mut self, people: impl IntoIterator<Item = Person>) -> Self {
        self.people = people.into_iter().collect();
        self
    }

    pub(crate) fn resumed(mut self, times: usize) -> Self {
        self.resumes = times;
        self
    }
}

fn ended(reason: TerminationReason, outputs: Option<Values>) -> Expect {
    Expect {
        reason: Some(reason),
        success: reason == TerminationReason::Success,
        outputs,
        error: None,
        tool_errors: 0,
        recovers: None,
        observations: None,
    }
}

/// The agent comes to its answer by itself.
pub(crate) fn succeeds(answer: impl Into<Value>) -> Expect {
    let answer: Value = answer.into();
    ended(TerminationReason::Success, Some(values! { answer: answer }))
}

/// The agent has to answer from what it has.
pub(crate) fn partial(reason: TerminationReason) -> Expect {
    ended(reason, Some(values! { answer: "partial" }))
}

/// The run ends without an answer.
pub(crate) fn fails(reason: TerminationReason, error: ErrorKind) -> Expect {
    Expect {
        error: Some(error),
        ..ended(reason, None)
    }
}

/// An error leaves the run open.
pub(crate) fn stays_open(error: ErrorKind) -> Expect {
    Expect {
        reason: None,
        ..fails(TerminationReason::Failure, error)
    }
}

/// The run waits for a person.
pub(crate) fn waits() -> Expect {
    Expect {
        error: None,
        ..stays_open(ErrorKind::Paused)
    }
}

impl Expect {
    pub(crate) fn recovers_from(mut self, tool_errors: u64) -> Self {
        (self.tool_errors, self.recovers) = (tool_errors, Some(true));
        self
    }

    pub(crate) fn does_not_recover_from(mut self, tool_errors: u64) -> Self {
        (self.tool_errors, self.recovers) = (tool_errors, Some(false));
        self
    }

    pub(crate) fn observing<const N: usize>(mut self, texts: [&'static str; N]) -> Self {
        self.observations = Some(texts.to_vec());
        self
    }
}

fn turn(said: Said) -> Turn {
    Turn {
        said,
        takes: Duration::from_millis(100),
        usage: Usage::of_request(100, 10),
        is_cut: false,
    }
}

/// The model thinks and calls tools.
pub(crate) fn acts<const N: usize>(thought: &str, calls: [(&str, Value); N]) -> Turn {
    turn(Said::Step {
        thought: thought.to_owned(),
        calls: calls
            .into_iter()
            .map(|(name, args)| (name.to_owned(), args))
            .collect(),
    })
}

/// The model calls a tool with a query.
pub(crate) fn uses(tool: &str, query: &str) -> Turn {
    let thought = format!("{tool} should know of {query}.");
    acts(&thought, [(tool, json!({"query": query}))])
}

/// The model searches.
pub(crate) fn looks(query: &str) -> Turn {
    uses("search", query)
}

/// The model commits its answer.
pub(crate) fn submits(answer: impl Into<Value>) -> Turn {
    let answer: Value = answer.into();
    acts("Now I know.", [("submit", json!({"answer": answer}))])
}

/// The answer when the model has to answer from what it has.
pub(crate) fn answers() -> Turn {
    answers_with("partial")
}

/// The same with another answer.
pub(crate) fn answers_with(answer: impl Into<Value>) -> Turn {
    let answer: Value = answer.into();
    let values = values! { reasoning: "from what there is", answer: answer };
    turn(Said::Outputs(values))
}

/// The summary of a transcript that no longer fits.
pub(crate) fn summarises() -> Turn {
    turn(Said::Summary("Trees were looked for.".to_owned()))
}

/// The model says just this.
pub(crate) fn says(text: impl Into<String>) -> Turn {
    turn(Said::Text(text.into()))
}

/// The request fails.
pub(crate) fn request_fails(kind: ModelErrorKind) -> Turn {
    turn(Said::Fails(kind))
}

impl Turn {
    pub(crate) fn thinking(mut self, text: &str) -> Self {
        if let Said::Step { thought, .. } = &mut self.said {
            text.clone_into(thought);
        }
        self
    }

    pub(crate) fn taking(mut self, seconds: u64) -> Self {
        self.takes = Duration::from_secs(seconds);
        self
    }

    pub(crate) fn costing(mut self, read: u64, written: u64) -> Self {
        self.usage = Usage::of_request(read, written);
        self
    }

    pub(crate) fn cut_off(mut self) -> Self {
        self.is_cut = true;
        self
    }
}
