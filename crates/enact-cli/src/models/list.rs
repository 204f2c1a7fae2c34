//! `enact models`.

use std::time::Duration;

use enact_providers::Provider;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::choice;
use super::memory::{Memory, Probe};
use crate::args::ModelsArgs;
use crate::exit::{Exit, Failure};
use crate::local::{self, OnShelf};
use crate::report;
use crate::view::{Ink, Screen, Stream, text};

const PATIENCE: Duration = Duration::from_secs(5);
/// How many names are shown on one line.
const SHOWN: usize = 3;

/// What is known of one provider.
struct Found {
    provider: Provider,
    state: State,
}

enum State {
    /// Its models.
    Reachable(Vec<String>),
    /// Why it does not answer.
    Unreachable(String),
    /// There is no key.
    Unconfigured,
}

/// Lists who can be asked.
pub(crate) async fn execute(args: &ModelsArgs) -> Exit {
    match list(args).await {
        Ok(()) => Exit::Success,
        Err(failure) => {
            failure.print();
            failure.exit
        }
    }
}

async fn list(args: &ModelsArgs) -> Result<(), Failure> {
    if args.provider.as_deref() == Some(local::PROVIDER) {
        let shelf = local::on_shelf();
        return match args.json {
            true => {
                report::print(&json!([shelf_object(&shelf)]));
                Ok(())
            }
            false => shelf_names(&shelf),
        };
    }
    let providers = match &args.provider {
        None => Provider::all(),
        Some(name) => {
            let known = Provider::named(name);
            vec![known.map_err(|error| Failure::usage("provider", error.to_string()))?]
        }
    };
    let found = join_all(providers.into_iter().map(look)).await;
    let probes = Memory::open().map(|memory| memory.list());
    let mut probes = probes.unwrap_or_default();
    if args.json {
        let mut objects: Vec<Value> = Vec::new();
        for one in &found {
            let base_url = one.provider.base_url();
            let its = probes.extract_if(.., |probe| probe.base_url == base_url);
            objects.push(object(one, its.collect()));
        }
        if args.provider.is_none() {
            objects.push(shelf_object(&local::on_shelf()));
            objects.extend(elsewhere(probes));
        }
        report::print(&objects.into());
        return Ok(());
    }
    let screen = Screen::new(Stream::Stdout);
    if args.provider.is_some() {
        return names(&screen, &found);
    }
    show(&screen, &found);
    show_shelf(&screen, &local::on_shelf());
    show_probes(&screen, &probes);
    match choice::at_hand(None).await {
        Ok(choice) => {
            let name = text::one_line(&choice.first.name);
            let line = format!("\nWithout `--model` and ENACT_MODEL: {name}");
            screen.line(&line);
        }
        Err(_) => screen.line("\nNothing can be asked yet: set a key, or start a local server."),
    }
    Ok(())
}

async fn look(provider: Provider) -> Found {
    let state = if !provider.is_configured() {
        State::Unconfigured
    } else {
        match provider.models(PATIENCE).await {
            Ok(models) => State::Reachable(models),
            Err(error) => State::Unreachable(error.to_string()),
        }
    };
    Found { provider, state }
}

/// Those that can be asked or might be, each on a line; the others in one.
fn show(screen: &Screen, found: &[Found]) {
    let mut without_key = Vec::new();
    for Found { provider, state } in found {
        let name = format!("{:<12}", provider.name());
        let line = match state {
            State::Reachable(models) => {
                let (count, some) = some_of(models);
                let count = screen.paint(Ink::Good, &count);
                format!("{name} {count}: {some}")
            }
            State::Unreachable(reason) => {
                let reason = text::one_line(reason);
                format!(
                    "{name} {}: {reason}",
                    screen.paint(Ink::Bad, "not reachable")
                )
            }
            State::Unconfigured => {
                let variable = provider.key_variable().unwrap_or_default();
                without_key.push(format!("{} ({variable})", provider.name()));
                continue;
            }
        };
        screen.line(&line);
    }
    if !without_key.is_empty() {
        let line = format!("\nWithout a key: {}", without_key.join(", "));
        screen.line(&screen.paint(Ink::Quiet, &line));
    }
}

/// The models of one provider, a name on each line.
fn names(screen: &Screen, found: &[Found]) -> Result<(), Failure> {
    for Found { provider, state } in found {
        match state {
            State::Reachable(models) => {
                for model in models {
                    let name = format!("{}::{model}", provider.name());
                    screen.line(&text::one_line(&name));
                }
            }
            State::Unreachable(reason) => {
                return Err(Failure::failed("provider", reason.clone()));
            }
            State::Unconfigured => {
                let variable = provider.key_variable().unwrap_or_default();
                let name = provider.name();
                let message = format!("no key for `{name}` is set: put it into {variable}");
                return Err(Failure::usage("no_key", message));
            }
        }
    }
    Ok(())
}

fn object(found: &Found, probes: Vec<Probe>) -> Value {
    let provider = &found.provider;
    let (is_configured, is_reachable, models, reason) = match &found.state {
        State::Reachable(models) => (true, true, Some(models), None),
        State::Unreachable(reason) => (true, false, None, Some(reason.clone())),
        State::Unconfigured => {
            let variable = provider.key_variable().unwrap_or_default();
            (false, false, None, Some(format!("{variable} is not set")))
        }
    };
    json!({
        "provider": provider.name(),
        "base_url": provider.base_url(),
        "key_variable": provider.key_variable(),
        "address_variable": provider.address_variable(),
        "configured": is_configured,
        "reachable": is_reachable,
        "models": models,
        "usual_model": provider.usual_model(),
        "reason": reason,
        "probed": probes.iter().map(probe_object).collect::<Vec<_>>(),
    })
}

/// What was found out about models at addresses that are not those of a provider now.
fn elsewhere(mut probes: Vec<Probe>) -> Vec<Value> {
    let mut objects = Vec::new();
    while let Some(first) = probes.first() {
        let base_url = first.base_url.clone();
        let its: Vec<Probe> = probes
            .extract_if(.., |probe| probe.base_url == base_url)
            .collect();
        objects.push(json!({
            "provider": null,
            "base_url": base_url,
            "key_variable": null,
            "address_variable": null,
            "configured": true,
            "reachable": null,
            "models": null,
            "usual_model": null,
            "reason": null,
            "probed": its.iter().map(probe_object).collect::<Vec<_>>(),
        }));
    }
    objects
}

fn probe_object(probe: &Probe) -> Value {
    json!({
        "model": probe.model,
        "tools": probe.found.tools,
        "response_schema": probe.found.response_schema,
        "adapter": probe.adapter(),
        "at": probe.at,
    })
}

/// What was found out about models, and when.
fn show_probes(screen: &Screen, probes: &[Probe]) {
    if !probes.is_empty() {
        screen.line("\nProbed, for the adapter `auto` (`--probe` does it again):");
    }
    for probe in probes {
        let day = probe.at.to_zoned(jiff::tz::TimeZone::system()).date();
        let line = format!(
            "{} at {}: {} ({}; {day})",
            probe.model,
            probe.base_url,
            probe.adapter(),
            probe.words()
        );
        screen.line(&format!("  {}", text::one_line(&line)));
    }
}

/// How many there are, and a few of them.
fn some_of(models: &[String]) -> (String, String) {
    let count = match models.len() {
        1 => "1 model".to_owned(),
        count => format!("{count} models"),
    };
    let mut some: Vec<&str> = models.iter().map(String::as_str).take(SHOWN).collect();
    if models.len() > SHOWN {
        some.push("…");
    }
    (count, text::one_line(&some.join(", ")))
}

/// The model files of this machine, if there are any.
fn show_shelf(screen: &Screen, shelf: &OnShelf) {
    let name = format!("{:<12}", local::PROVIDER);
    let (count, some) = some_of(&shelf.models);
    let line = match &shelf.reason {
        None if shelf.models.is_empty() => return,
        None => format!("{name} {}: {some}", screen.paint(Ink::Good, &count)),
        Some(_) if shelf.models.is_empty() && local::OBSTACLE.is_some() => return,
        Some(reason) => {
            let reason = text::one_line(reason);
            format!(
                "{name} {}: {some} ({reason})",
                screen.paint(Ink::Bad, &count)
            )
        }
    };
    screen.line(&line);
}

fn shelf_names(shelf: &OnShelf) -> Result<(), Failure> {
    let screen = Screen::new(Stream::Stdout);
    for model in &shelf.models {
        screen.line(&text::one_line(&format!("{}::{model}", local::PROVIDER)));
    }
    match &shelf.reason {
        None => Ok(()),
        Some(reason) => Err(Failure::failed("provider", reason.clone())),
    }
}

fn shelf_object(shelf: &OnShelf) -> Value {
    json!({
        "provider": local::PROVIDER,
        "base_url": null,
        "key_variable": null,
        "address_variable": null,
        "configured": local::OBSTACLE.is_none(),
        "reachable": shelf.reason.is_none(),
        "models": shelf.models,
        "usual_model": null,
        "reason": shelf.reason,
        "probed": [],
    })
}
