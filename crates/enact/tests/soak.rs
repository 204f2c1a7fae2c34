//! Thousands of runs against a server that answers with mutated real replies: repeated and empty
//! ids, replies without an end, half calls, silence, refusals. Every run ends within its limits and in
//! time, nothing runs twice or unasked, and the process never needs much memory.
#![cfg(feature = "providers")]
#![allow(missing_docs, clippy::unwrap_used, clippy::panic)]

#[path = "soak/dice.rs"]
mod dice;
#[path = "soak/replies.rs"]
mod replies;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use enact::adapter::AdapterChoice;
use enact::model::{Anthropic, LanguageModel, OpenAi, Timeouts};
use enact::run::Event;
use enact::run::store::{MemoryStore, Store as _};
use enact::tool::Confirmation;
use enact::{
    Decision, Error, ErrorKind, FnTool, Outcome, ReAct, Run, ToolError, Tools, Values, values,
};
use enact_test_server::TestServer;

use self::dice::Dice;

const RUNS: u64 = 5_000;
/// A server keeps what it was asked, so it is not kept for long.
const RUNS_OF_A_SERVER: u64 = 200;
/// What a run may take: every request ends in time, and there are not many.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a run may take beyond its own budget, on a busy machine.
const DELAY: Duration = Duration::from_secs(5);
/// What the process may need at its peak, in MiB: the server and its log of requests included.
const PEAK: u64 = 128;

const TIMEOUTS: Timeouts = Timeouts {
    connect: Duration::from_secs(10),
    first_byte: Duration::from_millis(600),
    idle: Duration::from_millis(100),
    total: Duration::from_millis(600),
};
const MAX_REPLY_BYTES: usize = 64 * 1024;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    text: String,
}

fn tools(written: &Arc<AtomicUsize>, confirmation: Confirmation) -> Tools {
    let written = written.clone();
    let look = FnTool::new("look", "Looks up.", |args: Text, _| async move {
        Ok::<_, ToolError>(format!("about {}", args.text))
    });
    let write = FnTool::new("write", "Writes.", move |args: Text, _| {
        written.fetch_add(1, Ordering::SeqCst);
        async move {
            match args.text.as_str() {
                "fir" => Err(ToolError::new("the disk is full")),
                _ => Ok("written"),
            }
        }
    });
    Tools::new()
        .with(look.read_only())
        .with(write.with_confirmation(confirmation))
}

/// What is peculiar to one run.
struct Plan {
    seed: u64,
    dice: Dice,
    steps: u32,
    adapter: AdapterChoice,
    /// Somebody reads along, so that replies are streamed.
    is_watched: bool,
    asks: bool,
    store: Option<MemoryStore>,
    max_tool_calls: Option<u32>,
    token_budget: Option<u64>,
    time_budget: Option<Duration>,
}

impl Plan {
    fn new(seed: u64, number: u64) -> Self {
        let mut dice = Dice(seed.wrapping_add(number));
        let adapters = ["auto", "auto", "native", "json", "chat", "xml", "tagged"];
        Self {
            seed: number,
            steps: 1 + dice.below(10) as u32,
            adapter: dice.pick(&adapters).parse().unwrap(),
            is_watched: dice.once_in(2),
            asks: dice.once_in(3),
            store: dice.once_in(3).then(MemoryStore::new),
            max_tool_calls: dice.once_in(4).then(|| dice.below(4) as u32),
            token_budget: dice.once_in(4).then(|| 500 + dice.next() % 4_000),
            time_budget: dice
                .once_in(4)
                .then(|| Duration::from_millis(1 + dice.next() % 400)),
            dice,
        }
    }

    /// How long the run may take.
    fn allowed(&self) -> Duration {
        match self.time_budget {
            Some(budget) => budget + DELAY,
            None => PATIENCE,
        }
    }

    fn agent(&self, model: &Arc<dyn LanguageModel>, written: &Arc<AtomicUsize>) -> ReAct {
        let confirmation = match self.asks {
            true => Confirmation::Always,
            false => Confirmation::Never,
        };
        ReAct::builder("question -> answer")
            .tools(tools(written, confirmation))
            .model(model.clone())
            .adapter(self.adapter.clone())
            .max_iterations(self.steps)
            .limits(|limits| {
                limits.max_tool_calls = self.max_tool_calls;
                limits.token_budget = self.token_budget;
                limits.time_budget = self.time_budget;
            })
            .build()
            .unwrap()
    }

    /// Plays a run to its end, and says how many calls were approved.
    async fn play(&mut self, agent: &ReAct) -> (Result<Outcome<Values>, Error>, usize) {
        let mut call = agent.call(values! { question: "q" });
        if self.is_watched {
            call = call.on_update(|_| {});
        }
        let mut outcome = match &self.store {
            Some(store) => call.store(store.clone()).await,
            None => call.await,
        };
        let (mut approved, mut pauses) = (0, 0);
        while let Ok(Outcome::Paused(paused)) = outcome {
            pauses += 1;
            assert!(pauses <= 4 * self.steps, "seed {}", self.seed);
            let mut call = agent.resume(paused.run().clone());
            if self.is_watched {
                call = call.on_update(|_| {});
            }
            for question in paused.questions() {
                let decision = match self.dice.below(3) {
                    0 => Decision::Reject(None),
                    _ => {
                        approved += 1;
                        Decision::Approve
                    }
                };
                call = call.answer(&question.confirmation_id, decision);
            }
            outcome = match &self.store {
                Some(store) => call.store(store.clone()).await,
                None => call.await,
            };
        }
        (outcome, approved)
    }

    async fn check(&self, run: &Run, written: usize, approved: usize) {
        let seed = self.seed;
        let trace = run.trace();
        assert!(trace.steps.len() <= self.steps as usize, "seed {seed}");
        // Three bad replies in a row are borne, for each step and for the answer.
        let most = u64::from(self.steps) * 4 + 12;
        let usage = run.usage();
        assert!(usage.requests <= most, "seed {seed}: {}", usage.requests);
        let records = run.records().len();
        assert!(records < 600, "seed {seed}: {records}");

        let writes = trace.steps.iter().flat_map(|step| &step.actions);
        let writes = writes.filter(|action| action.call.name == "write" && action.attempts > 0);
        assert_eq!(writes.count(), written, "seed {seed}");
        assert!(
            !self.asks || written <= approved,
            "seed {seed}: ran unasked"
        );
        let mut ids: Vec<&String> = started(run).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all, "seed {seed}: a call ran twice");

        if let Some(most) = self.max_tool_calls {
            assert!(all <= most as usize, "seed {seed}: {all} of {most} calls");
        }
        if let Some(budget) = self.token_budget {
            // This server does not care how long a reply may be, so the last one may be too long.
            let spent: Vec<u64> = spent(run).collect();
            let before = spent[..spent.len().saturating_sub(1)].iter().sum::<u64>();
            assert!(before <= budget, "seed {seed}: {spent:?} of {budget}");
        }
        if let Some(store) = &self.store {
            let kept = store.load(run.id()).await.unwrap().run;
            assert_eq!(kept, *run, "seed {seed}");
        }
    }
}

fn started(run: &Run) -> impl Iterator<Item = &String> {
    run.events().filter_map(|event| match event {
        Event::ToolStarted { call_id } => Some(call_id),
        _ => None,
    })
}

/// The tokens of each reply.
fn spent(run: &Run) -> impl Iterator<Item = u64> {
    run.events().filter_map(|event| match event {
        Event::Replied(replied) => {
            let usage = &replied.reply.usage;
            Some(usage.input_tokens + usage.output_tokens)
        }
        _ => None,
    })
}

/// The most that the process has needed so far, in MiB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1024)
}

/// OpenAI's protocol with streamed replies and with whole ones, and Anthropic's.
fn models(server: &TestServer) -> [Arc<dyn LanguageModel>; 3] {
    let openai = OpenAi::new("m").with_base_url(server.base_url()).unwrap();
    let openai = openai
        .with_timeouts(TIMEOUTS)
        .with_max_reply_bytes(MAX_REPLY_BYTES);
    let anthropic = Anthropic::new("m")
        .with_base_url(server.base_url())
        .unwrap();
    let anthropic = anthropic
        .with_timeouts(TIMEOUTS)
        .with_max_reply_bytes(MAX_REPLY_BYTES);
    [
        Arc::new(openai.clone().with_replies_streamed()),
        Arc::new(openai),
        Arc::new(anthropic),
    ]
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
    let (mut answered, mut failed, mut longest) = (0, 0, Duration::ZERO);
    for first in (0..RUNS).step_by(RUNS_OF_A_SERVER as usize) {
        let asked = Arc::new(AtomicU64::new(seed.wrapping_add(first << 32)));
        let server = TestServer::answering_anywhere(move |received| {
            replies::answer(received, Dice(asked.fetch_add(1, Ordering::SeqCst)))
        });
        let models = models(&server);
        for number in first..first + RUNS_OF_A_SERVER {
            let mut plan = Plan::new(seed, number);
            let written = Arc::new(AtomicUsize::new(0));
            let model = &models[plan.dice.below(models.len())];
            let agent = plan.agent(model, &written);
            let began = Instant::now();
            let allowed = plan.allowed();
            let played =
                runtime.block_on(async { tokio::time::timeout(allowed, plan.play(&agent)).await });
            let Ok((outcome, approved)) = played else {
                panic!("seed {number}: still going after {allowed:?}");
            };
            longest = longest.max(began.elapsed());
            let run = match &outcome {
                Ok(outcome) => outcome.run(),
                Err(error) => error.run().unwrap(),
            };
            runtime.block_on(plan.check(run, written.load(Ordering::SeqCst), approved));
            match &outcome {
                Ok(_) => answered += 1,
                Err(error) => {
                    let kind = error.kind();
                    let is_named = matches!(kind, ErrorKind::Model(_) | ErrorKind::NoAnswer);
                    assert!(is_named, "seed {number}: {error}");
                    assert!(!error.to_string().contains("defect of enact"), "{error}");
                    failed += 1;
                }
            }
        }
    }
    println!("{answered} answered, {failed} failed, the longest took {longest:?}");
    println!("at most {:?} MiB", peak());
    assert!(
        answered > RUNS / 2,
        "only {answered} of {RUNS} runs were answered"
    );
    if let Some(peak) = peak() {
        assert!(peak < PEAK, "{peak} MiB");
    }
}
