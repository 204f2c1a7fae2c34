//! `enact resume`.

use std::sync::Arc;

use enact::run::store::Store as _;
use enact::{Decision, Run};
use serde_json::Value;

use crate::args::ResumeArgs;
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::person::Person;
use crate::report;
use crate::run::{Setup, print_ending, print_refusal, stream};
use crate::trust::{self, Consent};
use crate::view::{Narrator, Screen};
use crate::{interrupt, store};

/// Goes on with a run that is kept.
pub(crate) async fn resume(args: &ResumeArgs) -> Result<Exit, Failure> {
    let ended = resumed(args).await;
    ended.or_else(|failure| Ok(report::fail(None, &failure, args.json)))
}

async fn resumed(args: &ResumeArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.one.store).await?;
    let id = store::find(&store, &args.one.run).await?;
    let stored = store::load(&store, &id).await?;
    if let Some(parent) = &stored.run.started().parent {
        let message = format!(
            "the run works for another one, and goes on with it: `enact resume {}`",
            parent.run_id
        );
        return Err(Failure::usage("run", message));
    }
    let decisions = match decisions(args, &stored.run) {
        Ok(decisions) => decisions,
        Err(failure) => {
            // Whoever is at work on the run may have answered it just now: then that is to be told.
            store.acquire(&id).await?;
            let narrator = Narrator::new(Screen::new(stream(args.json)), "");
            return Ok(print_refusal(args.json, &narrator, &stored.run, &failure));
        }
    };
    let key = trust::key();
    let consent = match (args.trust, args.json) {
        (true, _) => Consent::Given,
        (false, true) => Consent::Refuse,
        (false, false) => Consent::Ask,
    };
    let narrator = Narrator::new(Screen::new(stream(args.json)), "");
    trust::check(&stored.run, key.as_ref(), consent, &narrator).await?;
    let (agent, model, servers) = Setup::rebuild(&stored.run, &store, args, key).await?;
    let narrator = Arc::new(Narrator::new(Screen::new(stream(args.json)), model));
    // What was done so far: nobody can decide about a call without it.
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
    Ok(print_ending(args.json, &narrator, &ended, Some(&store)))
}

/// What was decided on the command line. Ids may be given by their beginning.
fn decisions(args: &ResumeArgs, run: &Run) -> Result<Vec<(String, Decision)>, Failure> {
    let questions = run.open_questions();
    let whole = |given: &str| {
        let mut alike = questions
            .iter()
            .filter(|question| question.confirmation_id.starts_with(given));
        match (alike.next(), alike.next()) {
            (Some(only), None) if !given.is_empty() => Ok(only),
            _ => Err(Failure::usage(
                "answer",
                format!("no open question has the id `{given}`: `enact show` tells them"),
            )),
        }
    };
    let mut decided = Vec::new();
    let reject = Decision::Reject(args.message.clone());
    for (ids, decision) in [
        (&args.approve, Decision::Approve),
        (&args.always, Decision::ApproveAlways),
        (&args.reject, reject),
    ] {
        for id in ids {
            decided.push((whole(id)?.confirmation_id.clone(), decision.clone()));
        }
    }
    for pair in args.edit.chunks_exact(2) {
        let question = whole(&pair[0])?;
        let edit: Value = serde_json::from_str(&pair[1])
            .map_err(|error| Failure::usage("answer", format!("the edit is not JSON: {error}")))?;
        let text = serde_json::json!({ "edit": edit }).to_string();
        match question.read(&text) {
            Ok(edit @ Decision::Edit { .. }) => {
                decided.push((question.confirmation_id.clone(), edit));
            }
            _ => {
                let message = "this edit cannot be read: write it as {\"args\": {…}}, with \"name\" \
                               for another tool";
                return Err(Failure::usage("answer", message));
            }
        }
    }
    for (pairs, decision) in [
        (&args.feedback, Decision::Feedback as fn(String) -> Decision),
        (&args.answer, Decision::Answer),
    ] {
        for pair in pairs.chunks_exact(2) {
            let id = whole(&pair[0])?.confirmation_id.clone();
            decided.push((id, decision(pair[1].clone())));
        }
    }
    Ok(decided)
}
