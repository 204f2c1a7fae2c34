//! `enact resume`.

use std::sync::Arc;

use enact::run::store::Store as _;
use enact::run::store::{RunFilter, RunStatus};
use enact::{Outcome, Prediction, Run, Values};
use enact_sqlite::SqliteStore;

use super::decisions::{Wrong, decisions};
use crate::args::ResumeArgs;
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::person::Person;
use crate::report;
use crate::report::Status;
use crate::run::{Setup, about, print_ending, print_refusal};
use crate::trust::{self, Consent};
use crate::view::{Ink, Narrator, text};
use crate::{interrupt, store};

/// What to do with a run from somewhere else where nobody can be asked.
const WAY_OUT: &str = "resume it in a terminal without `--json`, or pass `--trust` if you trust \
                       whoever made it";

/// Goes on with a run that is kept.
pub(crate) async fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let ended = resumed(args).await;
    ended.or_else(|failure| Ok(report::fail(None, &failure, args.output.json)))
}

async fn resumed(args: &ResumeArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.store).await?;
    let id = match &args.run {
        Some(given) => store::find(&store, given).await?,
        None => waiting(&store).await?,
    };
    let stored = store::load(&store, &id).await?;
    let narrator = Narrator::new(args.output.steps(), "");
    if args.run.is_none() {
        let name = text::one_line(store::short(&id));
        let chosen = format!("resuming {name}: {}", about(&stored.run));
        let chosen = narrator.screen().paint(Ink::Quiet, &chosen);
        narrator.screen().line(&chosen);
    }
    if let Some(parent) = &stored.run.started().parent {
        let message = format!(
            "this run belongs to another run; resume that one: `enact resume {}`",
            parent.run_id
        );
        return Err(Failure::usage("run", message));
    }
    let decisions = match decisions(args, &stored.run) {
        Ok(decisions) => decisions,
        Err(Wrong::Command(failure)) => {
            if args.output.json {
                let open = stored.run.open_questions();
                let status = Status::Refused(&open, &failure);
                report::print(&report::object(Some(&stored.run), status));
            }
            return Ok(failure.end());
        }
        Err(Wrong::Answer(failure)) => {
            // Another process may have just answered the question: report that instead.
            store.acquire(&id).await?;
            let refused = (&stored.run, &failure);
            return Ok(print_refusal(args.output, &narrator, refused, Some(&store)));
        }
    };
    if stored.run.termination().is_some() && stored.damage.is_none() {
        return Ok(over(args, stored.run, &store));
    }
    let key = trust::key();
    let consent = match (args.trust, args.output.json) {
        (true, _) => Consent::Given,
        (false, true) => Consent::Refuse,
        (false, false) => Consent::Ask,
    };
    trust::check(&stored.run, key.as_ref(), consent, WAY_OUT, &narrator).await?;
    let (agent, model, servers) = Setup::rebuild(&stored.run, &store, args, key).await?;
    let narrator = Arc::new(Narrator::new(args.output.steps(), model));
    // A decision about a call needs the steps before it.
    for record in stored.run.records() {
        narrator.follow(record);
    }
    narrator.screen().idle();
    let person = Person::here(&narrator);
    let interrupted = interrupt::watch();
    let mut call = agent.resume_stored(store.clone(), &id);
    if args.despite_damage {
        call = call.despite_damage();
    }
    for (confirmation_id, decision) in decisions {
        call = call.answer(confirmation_id, decision);
    }
    let ended = drive(&agent, call, &narrator, &person, &interrupted, Some(&store)).await;
    servers.shutdown().await;
    Ok(print_ending(args.output, &narrator, &ended, Some(&store)))
}

/// The newest paused run.
async fn waiting(store: &SqliteStore) -> Result<String, Failure> {
    let paused = RunFilter::all().with_status(RunStatus::Paused);
    if let Some(id) = store::newest(store, paused, |_| true).await? {
        return Ok(id);
    }
    let interrupted = RunFilter::all().with_status(RunStatus::Interrupted);
    let message = match store::newest(store, interrupted, |_| true).await? {
        Some(id) => format!(
            "no run waits for an answer; `enact resume {}` resumes the newest interrupted \
             run",
            store::short(&id)
        ),
        None => "no run waits for an answer: `enact runs` lists runs".to_owned(),
    };
    Err(Failure::usage("run_not_found", message))
}

/// Shows the result of a run that is over. That needs neither its servers nor its model.
fn over(args: &ResumeArgs, run: Run, store: &SqliteStore) -> Exit {
    let model = run.started().agent.model.clone();
    let narrator = Narrator::new(args.output.steps(), model);
    for record in run.records() {
        narrator.follow(record);
    }
    let ended = Prediction::<Values>::try_from(run).map(Outcome::Finished);
    print_ending(args.output, &narrator, &ended, Some(store))
}
