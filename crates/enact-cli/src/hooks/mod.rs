//! Commands that have a say in a run: before and after calls, and after steps.

mod answer;
mod program;
mod told;

use std::path::Path;
use std::time::Duration;

use enact::driver::{HookCall, HookStep};
use enact::model::Secrets;
use enact::run::Observation;
use enact::tool::Environment;
use enact::{Builder, ReAct, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::program::{Program, Ready};
use crate::args::{CommandLine, HookArgs, Time};
use crate::exit::Failure;

pub(crate) use self::told::tell;

/// How long a command may take unless it is said.
const TIMEOUT: Duration = Duration::from_secs(30);

const BEFORE_CALL: &str = "before_call";
const AFTER_CALL: &str = "after_call";
const ENDS_WHEN: &str = "ends_when";

/// The commands of an agent, as a run notes them: there are no secrets in them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Hooks {
    #[serde(skip_serializing_if = "Option::is_none")]
    before_call: Option<Program>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_call: Option<Program>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_when: Option<Program>,
    /// The variables that they see beside those that programs need.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Time>,
}

impl Hooks {
    /// The hooks of a file or of flags. Paths are relative to the folder. Errors name the key.
    pub(crate) fn read(
        args: &HookArgs,
        folder: &Path,
        mut wrong: impl FnMut(&'static str, String),
    ) -> Self {
        let mut read = |key: &'static str, line: &Option<CommandLine>| {
            let program = Program::read(line.as_ref()?, folder);
            program.map_err(|problem| wrong(key, problem)).ok()
        };
        let env = args.env.iter().map(|name| name.trim().to_owned());
        Self {
            before_call: read(BEFORE_CALL, &args.before_call),
            after_call: read(AFTER_CALL, &args.after_call),
            ends_when: read(ENDS_WHEN, &args.ends_when),
            env: env.filter(|name| !name.is_empty()).collect(),
            timeout: args.timeout,
        }
    }

    /// The same under what flags say, which wins.
    pub(crate) fn with_flags(self, args: &HookArgs) -> Result<Self, Failure> {
        let unknown = |error: std::io::Error| Failure::failed("hooks", error.to_string());
        let folder = std::env::current_dir().map_err(unknown)?;
        let mut problem = None;
        let flags = Self::read(args, &folder, |key, message| {
            let flag = key.replace('_', "-");
            problem.get_or_insert(format!("`--{flag}`: {message}"));
        });
        if let Some(problem) = problem {
            return Err(Failure::usage("hooks", problem));
        }
        Ok(Self {
            before_call: flags.before_call.or(self.before_call),
            after_call: flags.after_call.or(self.after_call),
            ends_when: flags.ends_when.or(self.ends_when),
            env: match flags.env.is_empty() {
                true => self.env,
                false => flags.env,
            },
            timeout: flags.timeout.or(self.timeout),
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The programs, with what each is for.
    fn programs(&self) -> impl Iterator<Item = (&'static str, &Program)> {
        let all = [
            ("runs before every call", &self.before_call),
            ("runs after every call", &self.after_call),
            ("runs after every step", &self.ends_when),
        ];
        all.into_iter()
            .filter_map(|(when, program)| Some((when, program.as_ref()?)))
    }

    /// What is started when a run of the agent is resumed, and with what.
    pub(crate) fn deeds(&self) -> Vec<(String, String)> {
        let programs = self.programs();
        let mut deeds: Vec<(String, String)> = programs
            .map(|(when, program)| (when.to_owned(), program.to_string()))
            .collect();
        if !deeds.is_empty() && !self.env.is_empty() {
            let what = "hands these commands the variables";
            deeds.push((what.to_owned(), self.env.join(", ")));
        }
        deeds
    }

    /// The secrets with those that the commands read from the environment.
    pub(crate) fn add_secrets(&self, secrets: Secrets) -> Secrets {
        let programs = self.programs();
        programs.fold(secrets, |secrets, (_, program)| {
            program.add_secrets(secrets)
        })
    }

    /// The agent with the commands.
    pub(crate) fn attach(&self, mut builder: Builder<ReAct>) -> Result<Builder<ReAct>, Failure> {
        let environment = Environment::new().allowing(&self.env);
        let timeout = self.timeout.map_or(TIMEOUT, |Time(timeout)| timeout);
        let ready = |name: &'static str, program: &Option<Program>| -> Result<_, Failure> {
            let Some(program) = program else {
                return Ok(None);
            };
            let ready = program.ready(name, &environment, timeout);
            let wrong = |problem| Failure::usage("hooks", format!("the hook `{name}`: {problem}"));
            ready.map(Some).map_err(wrong)
        };
        if let Some(program) = ready(BEFORE_CALL, &self.before_call)? {
            builder = builder.before_call_async(move |asked| before(program.clone(), asked));
        }
        if let Some(program) = ready(AFTER_CALL, &self.after_call)? {
            builder = builder.after_call_async(move |asked, observation| {
                after(program.clone(), asked, observation)
            });
        }
        if let Some(program) = ready(ENDS_WHEN, &self.ends_when)? {
            builder = builder.ending_when_async(move |asked| ends(program.clone(), asked));
        }
        Ok(builder)
    }

    /// An agent that is only read: it has the commands, and starts none.
    pub(crate) fn stand_in(&self, builder: Builder<ReAct>) -> Builder<ReAct> {
        match &self.ends_when {
            Some(_) => builder.ending_when(|_| false),
            None => builder,
        }
    }
}

/// A call as JSON for a command.
fn told(hook: &str, asked: &HookCall) -> Value {
    json!({
        "hook": hook,
        "run_id": asked.run_id,
        "step": asked.step,
        "tool": asked.call.name,
        "args": asked.call.args,
    })
}

async fn before(program: Ready, asked: HookCall) -> Verdict {
    let answered = program.ask(&told(BEFORE_CALL, &asked)).await;
    answered
        .and_then(answer::verdict)
        .unwrap_or_else(|problem| {
            failed(BEFORE_CALL, &asked, &problem);
            let what = match asked.call.name.as_str() {
                "submit" | "finish" => "The outputs were not accepted",
                _ => "This call was not executed",
            };
            Verdict::Veto(format!("{what}: the hook `{BEFORE_CALL}` failed."))
        })
}

async fn after(program: Ready, asked: HookCall, observation: Observation) -> Observation {
    let mut input = told(AFTER_CALL, &asked);
    input["observation"] = observation.value.clone();
    input["is_error"] = observation.is_error.into();
    let answered = program.ask(&input).await;
    let changed = answered.and_then(|said| answer::observation(said, observation));
    changed.unwrap_or_else(|problem| {
        failed(AFTER_CALL, &asked, &problem);
        Observation::error(format!(
            "{} was executed, but the hook `{AFTER_CALL}` failed, so its result is not shown",
            asked.call.name
        ))
    })
}

async fn ends(program: Ready, asked: HookStep) -> Result<bool, String> {
    let step = serde_json::to_value(&asked.step).map_err(|error| error.to_string())?;
    let mut input = json!({
        "hook": ENDS_WHEN,
        "run_id": asked.run_id,
        "step": asked.step.iteration,
    });
    for name in ["thought", "actions", "token_usage", "notices"] {
        input[name] = step[name].clone();
    }
    let answered = program.ask(&input).await;
    let ends = answered.and_then(answer::ends);
    ends.map_err(|problem| format!("the hook `{ENDS_WHEN}`: {problem}"))
}

fn failed(hook: &str, asked: &HookCall, problem: &str) {
    told::failure(&format!(
        "the hook `{hook}` failed for the call of {}: {problem}",
        asked.call.name
    ));
}
