//! `enact runs`.

use std::collections::HashMap;
use std::time::Duration;

use enact::run::store::{RunFilter, RunStatus, RunSummary, Store as _, StoreErrorKind};
use enact::{Run, Timestamp};
use enact_sqlite::SqliteStore;
use serde_json::{Value, json};

use super::table::Table;
use crate::args::RunsArgs;
use crate::exit::{Exit, Failure};
use crate::run::{about, agent_name, asked_in_short, first_input};
use crate::view::{Ink, Screen, Stream, text};
use crate::{interrupt, report, store};

/// How often a watched list is updated.
const PERIOD: Duration = Duration::from_secs(1);
/// The maximum length of a model name.
const MODEL: usize = 24;

/// Lists stored runs.
pub(crate) async fn list(args: &RunsArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.store).await?;
    let screen = Screen::new(Stream::Stdout);
    let mut lists = Lists::default();
    if args.watch {
        return watch(args, &store, &screen, &mut lists).await;
    }
    let listed = lists.read(args, &store).await?;
    if args.json {
        report::print(&listed.iter().map(object).collect());
        return Ok(Exit::Success);
    }
    for line in lines(args, &store, &listed, &screen) {
        screen.line(&line);
    }
    Ok(Exit::Success)
}

/// Updates the list until Ctrl-C.
async fn watch(
    args: &RunsArgs,
    store: &SqliteStore,
    screen: &Screen,
    lists: &mut Lists,
) -> Result<Exit, Failure> {
    let Some(height) = screen.height().filter(|_| screen.moves()) else {
        let message = "`--watch` needs a terminal: leave it out to list the runs once";
        return Err(Failure::usage("terminal", message));
    };
    let interrupted = interrupt::watch();
    loop {
        let listed = lists.read(args, store).await?;
        let mut lines = lines(args, store, &listed, screen);
        lines.truncate(height.saturating_sub(2));
        lines.push(screen.paint(Ink::Quiet, "Ctrl-C quits"));
        screen.redraw(&lines);
        tokio::select! {
            () = interrupted.cancelled() => return Ok(Exit::Success),
            () = tokio::time::sleep(PERIOD) => {}
        }
    }
}

/// A run in the list.
#[derive(Debug, Clone)]
struct Listed {
    summary: RunSummary,
    /// `None` if it cannot be read.
    run: Option<Run>,
}

/// The runs listed before, so that only changed runs are read again.
#[derive(Debug, Default)]
struct Lists(HashMap<String, Listed>);

impl Lists {
    async fn read(&mut self, args: &RunsArgs, store: &SqliteStore) -> Result<Vec<Listed>, Failure> {
        let limit = args.limit as usize;
        let mut filter = RunFilter::all();
        filter.status = args.status;
        // Only the runs themselves contain their agent.
        if args.agent.is_none() {
            filter.limit = Some(args.limit);
        }
        let mut listed = Vec::new();
        for summary in store.list(&filter).await? {
            if listed.len() >= limit {
                break;
            }
            let one = self.one(store, summary).await?;
            let name = one.run.as_ref().and_then(agent_name);
            if args.agent.is_none() || args.agent.as_deref() == name {
                listed.push(one);
            }
        }
        Ok(listed)
    }

    async fn one(&mut self, store: &SqliteStore, summary: RunSummary) -> Result<Listed, Failure> {
        let known = self.0.remove(&summary.run_id);
        let run = match known {
            Some(known) if known.summary.records == summary.records => known.run,
            _ => match store.load(&summary.run_id).await {
                Ok(stored) => Some(stored.run),
                Err(error) if error.kind() == StoreErrorKind::Corrupt => None,
                // It has been deleted meanwhile.
                Err(error) if error.kind() == StoreErrorKind::NotFound => None,
                Err(error) => return Err(error.into()),
            },
        };
        let listed = Listed { summary, run };
        let id = listed.summary.run_id.clone();
        self.0.insert(id, listed.clone());
        Ok(listed)
    }
}

fn lines(args: &RunsArgs, store: &SqliteStore, listed: &[Listed], screen: &Screen) -> Vec<String> {
    if listed.is_empty() {
        let is_filtered = args.status.is_some() || args.agent.is_some();
        let none = if is_filtered {
            "no matching runs"
        } else {
            "no runs"
        };
        return vec![none.to_owned()];
    }
    let now = Timestamp::now();
    let has_cost = listed.iter().any(|one| cost(one).is_some());
    let mut table = Table::new([
        "RUN",
        "STATUS",
        "AGE",
        "STEPS",
        if has_cost { "COST" } else { "" },
        "MODEL",
        "AGENT OR INPUT",
    ]);
    for one in listed {
        let summary = &one.summary;
        let cost = cost(one).map(|cost| format!("{cost:.4}"));
        let plain = |text: String| (Ink::Plain, text);
        let model = text::one_line(&summary.model);
        table.row(
            [
                plain(text::one_line(store::short(&summary.run_id))),
                (ink(summary.status), summary.status.as_str().to_owned()),
                plain(age(now.since(summary.started))),
                plain(summary.steps.to_string()),
                plain(cost.unwrap_or_default()),
                plain(text::ends(&model, MODEL).into_owned()),
                plain(one.run.as_ref().map(about).unwrap_or_default()),
            ],
            below(one, store),
        );
    }
    table.lines(screen)
}

/// What a run is waiting for, in short.
fn below(one: &Listed, store: &SqliteStore) -> Option<String> {
    let run = one.run.as_ref()?;
    let parent = run.started().parent.as_ref();
    let id = parent.map_or(run.id(), |parent| &parent.run_id);
    let line = store::resume_line(store, id, &[]);
    match one.summary.status {
        RunStatus::Paused => {
            let questions = run.open_questions();
            let (first, others) = questions.split_first()?;
            let more = match others.len() {
                0 => String::new(),
                more => format!(" and {}", text::counted(more, "more question")),
            };
            let asked = asked_in_short(first);
            let id = text::one_line(&first.confirmation_id);
            let asked = text::ends(&asked, 50);
            Some(format!("{asked}{more} · {line} · question {id}"))
        }
        RunStatus::Interrupted => Some(line),
        _ => None,
    }
}

fn ink(status: RunStatus) -> Ink {
    match status {
        RunStatus::Finished => Ink::Good,
        RunStatus::Failed | RunStatus::Damaged => Ink::Bad,
        RunStatus::Paused | RunStatus::Interrupted => Ink::Question,
        RunStatus::Running => Ink::Tool,
        _ => Ink::Quiet,
    }
}

/// The cost of a run; none if it is unknown.
fn cost(one: &Listed) -> Option<f64> {
    let run = one.run.as_ref()?;
    // No model was asked, so no price is needed.
    run.cost().filter(|cost| *cost > 0.0)
}

/// A duration as one number: `45s`, `12m`, `3h`, `20d`.
fn age(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

fn object(one: &Listed) -> Value {
    let summary = &one.summary;
    let run = one.run.as_ref();
    json!({
        "run_id": summary.run_id,
        "status": summary.status,
        "agent": run.and_then(agent_name),
        "input": run.and_then(first_input),
        "signature": summary.signature,
        "model": summary.model,
        "started": summary.started,
        "updated": summary.updated,
        "steps": summary.steps,
        "cost": cost(one),
        "open_questions": summary.open_questions,
        "termination_reason": summary.termination_reason,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_one_number() {
        for (seconds, shown) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3_599, "59m"),
            (86_399, "23h"),
            (172_800, "2d"),
        ] {
            assert_eq!(age(Duration::from_secs(seconds)), shown);
        }
    }
}
