//! `enact models`.

use std::time::Duration;

use enact_providers::Provider;
use futures_util::future::join_all;
use serde::Serialize;
use serde_json::{Value, json};

use super::choice;
use super::memory::{Memory, Probe};
use crate::args::ModelsArgs;
use crate::exit::{Exit, Failure};
use crate::local;
use crate::report;
use crate::view::{Ink, Screen, Stream, text};

const PATIENCE: Duration = Duration::from_secs(5);
/// The number of models to show on one line.
const SHOWN: usize = 3;
/// The number of providers without a key to list.
const WITHOUT_KEY: usize = 4;

/// A place with models: a provider, this process, or another address.
#[derive(Default, Serialize)]
struct Place {
    provider: Option<&'static str>,
    base_url: Option<String>,
    key_variable: Option<&'static str>,
    address_variable: Option<String>,
    configured: bool,
    reachable: Option<bool>,
    models: Option<Vec<String>>,
    usual_model: Option<&'static str>,
    /// Why its models can't be used, if they can't.
    reason: Option<String>,
    probed: Vec<Value>,
    /// Whether it is a local server at its usual address.
    #[serde(skip)]
    is_local: bool,
}

/// Lists providers and their models.
pub(crate) async fn execute(args: &ModelsArgs) -> Result<Exit, Failure> {
    let mut places = match args.provider.as_deref() {
        None => join_all(Provider::all().into_iter().map(Place::of)).await,
        Some(local::PROVIDER) => vec![Place::here()],
        Some(name) => {
            let known = Provider::named(name);
            let known = known.map_err(|error| Failure::usage("provider", error.to_string()))?;
            vec![Place::of(known).await]
        }
    };
    let screen = Screen::new(Stream::Stdout);
    if !args.json && args.provider.is_some() {
        places.iter().try_for_each(|place| place.names(&screen))?;
        return Ok(Exit::Success);
    }
    let probes = Memory::open().map(|memory| memory.list());
    let probes = probes.unwrap_or_default();
    if args.json {
        if args.provider.is_none() {
            places.push(Place::here());
        }
        for probe in &probes {
            let is_its = |place: &&mut Place| place.base_url.as_ref() == Some(&probe.base_url);
            match places.iter_mut().find(is_its) {
                Some(place) => place.probed.push(probe_object(probe)),
                None if args.provider.is_none() => places.push(Place::elsewhere(probe)),
                None => {}
            }
        }
        report::print(&json!(places));
        return Ok(Exit::Success);
    }
    let without_key = places.iter().filter_map(|place| place.show(&screen));
    let without_key: Vec<String> = without_key.collect();
    if !without_key.is_empty() {
        let shown = if args.all {
            without_key.len()
        } else {
            WITHOUT_KEY
        };
        let mut line = format!(
            "\nWithout a key: {}",
            without_key[..shown.min(without_key.len())].join(", ")
        );
        if without_key.len() > shown {
            let more = without_key.len() - shown;
            line.push_str(&format!(", and {more} more (`enact models --all`)"));
        }
        screen.line(&screen.paint(Ink::Quiet, &line));
    }
    show_shelf(&screen, &Place::here());
    show_probes(&screen, &probes);
    match choice::at_hand(None).await {
        Ok(choice) => {
            let name = text::one_line(choice.name());
            screen.line(&format!(
                "\nDefault model, without `--model` and ENACT_MODEL: {name}"
            ));
        }
        Err(_) => {
            screen.line("\nNo model can be used yet. One of these is enough:");
            screen.line("  enact keys set anthropic        stores a key; or set ANTHROPIC_API_KEY");
            screen.line("  ollama serve                    a local server needs no key");
            screen.line("  enact run --base-url URL …      any server with OpenAI's API");
        }
    }
    Ok(Exit::Success)
}

impl Place {
    async fn of(provider: Provider) -> Self {
        let mut place = Self {
            provider: Some(provider.name()),
            base_url: Some(provider.base_url()),
            key_variable: provider.key_variable(),
            address_variable: Some(provider.address_variable()),
            configured: provider.is_configured(),
            reachable: Some(false),
            usual_model: provider.usual_model(),
            is_local: provider.is_local(),
            ..Self::default()
        };
        if !place.configured {
            place.reason = Some(format!("{} is not set", place.variable()));
            return place;
        }
        match provider.models(PATIENCE).await {
            Ok(models) => (place.reachable, place.models) = (Some(true), Some(models)),
            Err(error) => place.reason = Some(error.to_string()),
        }
        place
    }

    /// The registered model files.
    fn here() -> Self {
        let (models, reason) = local::on_shelf();
        Self {
            provider: Some(local::PROVIDER),
            configured: local::OBSTACLE.is_none(),
            reachable: Some(reason.is_none()),
            models: Some(models),
            reason,
            ..Self::default()
        }
    }

    /// An address that belongs to no provider, known from a probe.
    fn elsewhere(probe: &Probe) -> Self {
        Self {
            base_url: Some(probe.base_url.clone()),
            configured: true,
            probed: vec![probe_object(probe)],
            ..Self::default()
        }
    }

    fn name(&self) -> &'static str {
        self.provider.unwrap_or_default()
    }

    fn variable(&self) -> &'static str {
        self.key_variable.unwrap_or_default()
    }

    /// Prints its models, one name per line.
    fn names(&self, screen: &Screen) -> Result<(), Failure> {
        let name = self.name();
        if let (false, Some(variable)) = (self.configured, self.key_variable) {
            let message = format!(
                "no key for `{name}`: set {variable}, or store a key with `enact keys set {name}`"
            );
            return Err(Failure::usage("no_key", message));
        }
        for model in self.models.iter().flatten() {
            screen.line(&text::one_line(&format!("{name}::{model}")));
        }
        match &self.reason {
            None => Ok(()),
            Some(reason) => Err(Failure::failed("provider", reason.clone())),
        }
    }

    /// Prints a line about a provider; returns its description instead if it has no key.
    fn show(&self, screen: &Screen) -> Option<String> {
        if !self.configured {
            return Some(format!("{} ({})", self.name(), self.variable()));
        }
        let (state, about) = match &self.reason {
            None => {
                let (count, some) = self.some();
                (screen.paint(Ink::Good, &count), some)
            }
            // Most people run no local server, so this is not an error.
            Some(_) if self.is_local => (
                screen.paint(Ink::Quiet, "not running"),
                text::one_line(self.base_url.as_deref().unwrap_or_default()),
            ),
            Some(reason) => (
                screen.paint(Ink::Bad, "not reachable"),
                text::one_line(reason),
            ),
        };
        screen.line(&format!("{:<12} {state}: {about}", self.name()));
        None
    }

    /// The number of models, and a few names.
    fn some(&self) -> (String, String) {
        let models = self.models.as_deref().unwrap_or_default();
        let mut some: Vec<&str> = models.iter().map(String::as_str).take(SHOWN).collect();
        if models.len() > SHOWN {
            some.push("…");
        }
        let count = text::counted(models.len(), "model");
        (count, text::one_line(&some.join(", ")))
    }
}

fn probe_object(probe: &Probe) -> Value {
    json!({
        "model": probe.model,
        "tools": probe.found.tools,
        "tool_choice": probe.obeys(),
        "response_schema": probe.found.response_schema,
        "adapter": probe.adapter(),
        "at": probe.at,
    })
}

/// Prints the results of probes.
fn show_probes(screen: &Screen, probes: &[Probe]) {
    if !probes.is_empty() {
        screen.line("\nProbed for the adapter `auto` (`--probe` repeats it):");
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

/// Prints the registered model files, if any.
fn show_shelf(screen: &Screen, shelf: &Place) {
    let (count, some) = shelf.some();
    let is_empty = shelf.models.as_ref().is_none_or(Vec::is_empty);
    let (ink, why) = match &shelf.reason {
        None => (Ink::Good, String::new()),
        Some(reason) => (Ink::Bad, format!(" ({})", text::one_line(reason))),
    };
    if !is_empty || (shelf.reason.is_some() && local::OBSTACLE.is_none()) {
        let count = screen.paint(ink, &count);
        screen.line(&format!("{:<12} {count}: {some}{why}", shelf.name()));
    }
}
