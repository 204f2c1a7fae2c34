//! `enact eval`.

mod compare;
mod files;
mod progress;
mod settings;
mod table;

use std::path::Path;

use enact::Signature;
use enact_eval::dataset::{Column, Columns, Dataset, Problem, Reading};
use enact_eval::results::{Results, ResultsError};
use enact_eval::{Evaluator, Judge, Report, Trial, Tried, html, percent};
use futures_util::StreamExt as _;

use self::progress::Progress;
use crate::args::{EvalArgs, EvalCommand};
use crate::exit::{Exit, Failure};
use crate::models::Probing;
use crate::run::Setup;
use crate::view::{Screen, Stream, text};
use crate::{agent, interrupt};

/// The maximum number of dataset problems to report.
const TOLD: usize = 20;

/// Evaluates an agent on a dataset, or compares two reports.
pub(crate) async fn execute(args: &EvalArgs) -> Result<Exit, Failure> {
    match &args.command {
        Some(EvalCommand::Compare(args)) => compare::compare(args),
        None => evaluate(args).await,
    }
}

async fn evaluate(args: &EvalArgs) -> Result<Exit, Failure> {
    let Some(path) = &args.dataset else {
        return Err(Failure::usage("dataset", "name a dataset"));
    };
    let file = agent::file(args.agent.file.as_deref(), args.signature.is_some());
    let signature = match &file {
        Some(_) => None,
        None => Some(args.signature.clone().unwrap_or_else(|| usual(args))),
    };
    let agent = agent::of_args(file.as_deref(), signature.as_deref())?;
    // Before any model is asked.
    let dataset = read_dataset(path, &agent.signature, args)?;
    let setup = Setup::new(agent, &args.agent, Probing::PATIENCE).await?;
    let prices = setup.plan.prices.clone();
    let judge = judge(args, &setup)?;
    let settings = settings::of(args, &setup)?;
    let results_path = match &args.results {
        Some(path) => path.clone(),
        None => path.with_extension("results.jsonl"),
    };
    for output in [&args.json, &args.html].into_iter().flatten() {
        files::check_writable(output, &[path, &results_path])?;
    }
    let Results {
        heading,
        known,
        mut writer,
    } = if args.fresh {
        Results::fresh(&results_path, settings)?
    } else {
        Results::open(&results_path, settings)?
    };

    let interrupted = interrupt::watch();
    let mut evaluator = Evaluator::new(&setup.agent)
        .with_history(setup.history.clone())
        .with_notes(setup.notes.clone())
        .interrupt_with(interrupted.clone());
    if let Some(store) = &setup.store {
        evaluator = evaluator.with_store(store.clone());
    }
    if let Some(judge) = judge {
        evaluator = evaluator.with_judge(judge);
    }
    let count = dataset.examples().len();
    let mut progress = Progress::new(count, args.quiet);
    let mut found: Vec<Option<Trial>> = vec![None; count];
    {
        let concurrency = usize::from(args.concurrency);
        let tried = evaluator.trials(&dataset, &heading, |id| known.get(id), concurrency);
        let mut tried = std::pin::pin!(tried);
        while let Some((index, tried)) = tried.next().await {
            match tried {
                Tried::Now(trial) => {
                    writer.append(&trial)?;
                    progress.tell(&trial);
                    found[index] = Some(trial);
                }
                Tried::Before(trial) => {
                    progress.skip(&trial);
                    found[index] = Some(trial);
                }
                Tried::Interrupted => {}
            }
        }
    }
    progress.end();
    setup.servers.shutdown().await;

    let trials: Vec<Trial> = found.into_iter().flatten().collect();
    let name = path.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let report = Report::new(&heading, name, count, trials, prices.as_ref());
    let screen = Screen::new(Stream::Stdout);
    table::show(&screen, &report, &setup.plan);
    if let Some(path) = &args.json {
        files::write(path, &files::json(&report)?)?;
    }
    if let Some(path) = &args.html {
        files::write(path, &html::report(&report))?;
    }
    if report.counts.untried > 0 {
        let untried = report.counts.untried;
        screen.line("");
        screen.line(&format!(
            "interrupted: {untried} of {count} examples left; run the same command to continue"
        ));
        return Ok(Exit::Paused);
    }
    Ok(verdict(args, &report))
}

/// The default signature: the named columns, or a question and an
/// answer.
fn usual(args: &EvalArgs) -> String {
    let side = |columns: &[Column], usual: &str| match columns {
        [] => usual.to_owned(),
        columns => {
            let fields = columns.iter().map(|column| column.field.as_str());
            fields.collect::<Vec<_>>().join(", ")
        }
    };
    let (inputs, outputs) = (
        side(&args.inputs, "question"),
        side(&args.outputs, "answer"),
    );
    format!("{inputs} -> {outputs}")
}

/// Whether enough answers are correct, if a minimum is set.
fn verdict(args: &EvalArgs, report: &Report) -> Exit {
    let Some(least) = args.min_accuracy else {
        return Exit::Success;
    };
    let accuracy = report.accuracy.map_or(0.0, |accuracy| accuracy.value);
    if accuracy >= least {
        return Exit::Success;
    }
    let (accuracy, least) = (percent(accuracy), percent(least));
    let message = format!("the accuracy is {accuracy}, below the minimum of {least}");
    Failure::failed("accuracy", message).end()
}

fn read_dataset(path: &Path, signature: &Signature, args: &EvalArgs) -> Result<Dataset, Failure> {
    let text = files::read(path, "the dataset")?;
    let columns = Columns {
        inputs: args.inputs.clone(),
        outputs: args.outputs.clone(),
    };
    let reading = Reading {
        signature,
        metric: &args.metric,
        has_judge: args.judge.is_some(),
        columns: &columns,
    };
    let is_csv = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
    let dataset = match is_csv {
        true => Dataset::read_csv(&text, &reading),
        false => Dataset::read(&text, &reading),
    };
    let dataset = dataset.map_err(|problems| wrong_lines(path, &problems))?;
    let is_scored = dataset.examples().iter().any(|one| one.expected.is_some());
    if args.min_accuracy.is_some() && !is_scored {
        let message = "`--min-accuracy` needs examples with `expected`, and there are none";
        return Err(Failure::usage("dataset", message));
    }
    Ok(dataset)
}

/// Reports the problems line by line.
fn wrong_lines(path: &Path, problems: &[Problem]) -> Failure {
    let screen = Screen::new(Stream::Stderr);
    for problem in problems.iter().take(TOLD) {
        screen.line(&text::one_line(&problem.to_string()));
    }
    if problems.len() > TOLD {
        screen.line(&format!("… and {} more", problems.len() - TOLD));
    }
    let path = path.display();
    let count = text::counted(problems.len(), "problem");
    Failure::usage(
        "dataset",
        format!("the dataset `{path}` has {count}: correct it; nothing was run"),
    )
}

fn judge(args: &EvalArgs, setup: &Setup) -> Result<Option<Judge>, Failure> {
    let Some(name) = &args.judge else {
        return Ok(None);
    };
    if name.trim().is_empty() {
        return Err(Failure::usage("judge", "`--judge` is empty: name a model"));
    }
    let model = setup.another(name.trim())?;
    let judge = Judge::new(model).map_err(|error| Failure::from(&error))?;
    Ok(Some(judge))
}

impl From<ResultsError> for Failure {
    fn from(error: ResultsError) -> Self {
        match &error {
            ResultsError::Io { .. } => Self::failed("results", error.to_string()),
            _ => Self::usage("results", error.to_string()),
        }
    }
}
