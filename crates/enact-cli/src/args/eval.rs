//! The flags of `enact eval`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use enact_eval::Metric;
use enact_eval::dataset::Column;

use super::AgentArgs;

const EVAL_EXAMPLES: &str = "\
DATASET is a `.csv` file whose header names inputs and outputs, or a file with one JSON object per line:
  {\"question\": \"6 * 7?\", \"answer\": \"42\"}
  {\"id\": \"q1\", \"inputs\": {\"question\": \"6 * 7?\"}, \"expected\": {\"answer\": \"42\"},
   \"termination\": \"success\", \"metric\": \"contains\"}
The second form requires only `inputs`, and one of `expected` and `termination`.

Metrics:
  exact, normalised, contains, json_subset, judge
  numeric   also as {\"numeric\": {\"absolute\": 0.5, \"relative\": 0.01}}
  command   as {\"command\": {\"program\": \"python3\", \"args\": [\"score.py\"]}}, only with `--metric`

Examples:
  enact eval questions.jsonl --tools calculator --model llama3.1
  enact eval questions.jsonl --signature \"question -> answer: float\" --metric numeric --html report.html
  enact eval questions.jsonl --agent agent.toml
  enact eval mails.csv --inputs mail=text --outputs label
  enact eval questions.jsonl --metric judge --judge gpt-4o --json new.json
  enact eval compare old.json new.json

Exit codes:
  0  finished, whatever the results     3  interrupted: run the same command to continue
  1  accuracy below `--min-accuracy`    2  the command or the dataset is wrong

OPENAI_API_KEY holds the key, if the server needs one.";

#[derive(Debug, Args)]
#[command(
    after_help = EVAL_EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub(crate) struct EvalArgs {
    #[command(subcommand)]
    pub(crate) command: Option<EvalCommand>,

    /// Dataset: a CSV file, or a file of JSON lines.
    #[arg(required = true)]
    pub(crate) dataset: Option<PathBuf>,

    /// Inputs and outputs of each example [default: "question -> answer"].
    #[arg(long, value_name = "SIGNATURE", conflicts_with = "agent_file")]
    pub(crate) signature: Option<String>,

    /// Input columns of a flat dataset, as NAME or FIELD=COLUMN; other columns are ignored [default:
    /// those named like fields].
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = column)]
    pub(crate) inputs: Vec<Column>,

    /// Columns with expected outputs, in the same format.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = column)]
    pub(crate) outputs: Vec<Column>,

    /// Metric for examples that don't set their own: a name, or a JSON object with a name and its
    /// options.
    #[arg(long, value_name = "METRIC", default_value = "exact", value_parser = metric)]
    pub(crate) metric: Metric,

    /// Model that scores answers for the metric `judge`, and judges whether thoughts connect to
    /// actions; named as for `--model`.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,

    /// Number of examples to run at a time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) concurrency: u16,

    /// File to append results to [default: beside the dataset, and named after it]. Examples with a
    /// result in it are not run again.
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,

    /// Discard earlier results and start over.
    #[arg(long)]
    pub(crate) fresh: bool,

    /// Print only the report, no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Write the report as JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,

    /// Write the report as HTML to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,

    /// Fail if the accuracy is lower, such as 0.9.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) min_accuracy: Option<f64>,

    #[command(flatten)]
    pub(crate) agent: AgentArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EvalCommand {
    /// Compare two reports.
    Compare(CompareArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Report written by `--json`.
    pub(crate) first: PathBuf,

    /// Second report.
    pub(crate) second: PathBuf,

    /// Write the comparison as HTML to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

fn column(text: &str) -> Result<Column, String> {
    let Ok(column) = text.parse::<Column>();
    match column.field.is_empty() || column.column.is_empty() {
        true => Err("give the name of a column, or FIELD=COLUMN".to_owned()),
        false => Ok(column),
    }
}

fn metric(text: &str) -> Result<Metric, String> {
    text.parse()
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("give a number from 0 to 1, such as 0.9".to_owned()),
    }
}
