//! `enact runs`.

use enact::run::store::{RunFilter, RunStatus, RunSummary, Store as _};
use serde_json::{Value, json};

use crate::args::RunsArgs;
use crate::exit::{Exit, Failure};
use crate::view::{Ink, Screen, Stream, text};
use crate::{report, store};

/// Lists the runs that are kept.
pub(crate) async fn list(args: &RunsArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.store).await?;
    let mut filter = RunFilter::all().with_limit(args.limit);
    if let Some(status) = args.status {
        filter = filter.with_status(status);
    }
    let runs = store.list(&filter).await?;
    if args.json {
        report::print(&runs.iter().map(object).collect());
        return Ok(Exit::Success);
    }
    let screen = Screen::new(Stream::Stdout);
    if runs.is_empty() {
        screen.line("no runs");
    }
    for run in &runs {
        let status = match run.status {
            RunStatus::Finished => screen.paint(Ink::Good, "finished"),
            RunStatus::Failed => screen.paint(Ink::Bad, "failed  "),
            RunStatus::Paused => screen.paint(Ink::Question, "paused  "),
            RunStatus::Running => "running ".to_owned(),
        };
        let started = run.started.to_minute();
        let steps = match run.steps {
            1 => "  1 step ".to_owned(),
            steps => format!("{steps:>3} steps"),
        };
        let signature = text::one_line(&run.signature);
        screen.line(&format!(
            "{}  {status}  {started}  {steps}  {signature}",
            run.run_id
        ));
    }
    Ok(Exit::Success)
}

fn object(run: &RunSummary) -> Value {
    json!({
        "run_id": run.run_id,
        "status": run.status,
        "signature": run.signature,
        "model": run.model,
        "started": run.started,
        "updated": run.updated,
        "steps": run.steps,
        "open_questions": run.open_questions,
        "termination_reason": run.termination_reason,
    })
}
