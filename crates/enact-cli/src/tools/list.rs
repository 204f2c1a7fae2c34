//! `enact tools`: what could be handed over, and under which rules.

use enact::tool::builtin::{NAMES, SET_UP_TOOL_NAMES};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Tools, Values};
use serde_json::{Value, json};

use super::{Reach, chosen, open_folder, pick};
use crate::args::ToolsArgs;
use crate::exit::{Exit, Failure};
use crate::mcp::{Noted, Servers};
use crate::report;
use crate::view::{Ink, Screen, Stream, text};

/// Lists tools.
pub(crate) async fn execute(args: &ToolsArgs) -> Exit {
    match list(args).await {
        Ok(()) => Exit::Success,
        Err(failure) => {
            failure.print();
            failure.exit
        }
    }
}

/// A tool, and whose it is.
struct Listed {
    spec: ToolSpec,
    source: String,
}

async fn list(args: &ToolsArgs) -> Result<(), Failure> {
    let noted = Noted::of(&args.mcp)?;
    let own = own(args, noted.is_some())?;
    let servers = match &noted {
        Some(noted) => Servers::start(noted).await?,
        None => Servers::default(),
    };
    let listed = ruled(servers.join(own.clone()), args).map(|tools| {
        let sources = std::iter::repeat_n("built-in".to_owned(), own.len());
        let sources = sources.chain(servers.sources());
        let tools = tools.iter().zip(sources);
        let listed = tools.map(|(tool, source)| Listed {
            spec: tool.spec().clone(),
            source,
        });
        listed.collect::<Vec<_>>()
    });
    servers.shutdown().await;
    let listed = listed?;
    if args.json {
        report::print(&listed.iter().map(object).collect());
    } else {
        let screen = Screen::new(Stream::Stdout);
        listed.iter().for_each(|one| show(&screen, one));
    }
    Ok(())
}

/// The built-in tools that were named; all of them, if nothing was.
fn own(args: &ToolsArgs, has_servers: bool) -> Result<Tools, Failure> {
    let reach = Reach::of(&args.reach)?;
    if !args.tools.is_empty() || args.files.is_some() || has_servers {
        return chosen(&args.tools, args.files.as_ref(), &reach);
    }
    // Nothing is done with the folder: it is only described what would be.
    let folder = open_folder(".")?;
    let names = NAMES.iter().chain(SET_UP_TOOL_NAMES).copied().collect();
    pick(names, Some(&folder), &reach.for_listing())
}

fn ruled(mut tools: Tools, args: &ToolsArgs) -> Result<Tools, Failure> {
    let rules = [
        (&args.allow, Confirmation::Never),
        (&args.ask, Confirmation::Always),
    ];
    for (names, rule) in rules {
        for name in names {
            let ruled = tools.with_confirmation(name.trim(), rule.clone());
            tools = ruled.map_err(|error| Failure::usage("tools", error.to_string()))?;
        }
    }
    Ok(tools)
}

fn show(screen: &Screen, listed: &Listed) {
    let Listed { spec, source } = listed;
    let name = screen.paint(Ink::Tool, &text::one_line(&spec.name));
    let asks = match spec.confirmation {
        Confirmation::Never => "runs unasked",
        Confirmation::Always => "asks before every call",
        _ => "asks before some calls",
    };
    let effect = spoken(spec.effect);
    let source = text::one_line(source);
    screen.line(&format!("{name} · {source} · {effect} · {asks}"));
    screen.line(&format!("   {}", text::one_line(&spec.description)));
    for (name, schema) in properties(&spec.parameters).into_iter().flatten() {
        let is_required = spec.required().contains(&name.as_str());
        let mark = if is_required { "" } else { "?" };
        let sort = schema["type"].as_str().unwrap_or("any");
        let about = schema["description"].as_str().unwrap_or_default();
        let line = match about {
            "" => format!("{name}{mark}: {sort}"),
            about => format!("{name}{mark}: {sort}; {about}"),
        };
        let line = text::one_line(&line);
        screen.line(&format!("   {}", screen.paint(Ink::Quiet, &line)));
    }
    screen.line("");
}

fn properties(parameters: &Value) -> Option<&Values> {
    parameters["properties"].as_object()
}

fn spoken(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "changes nothing",
        Effect::Idempotent => "may be repeated",
        Effect::Effectful => "every call counts",
    }
}

fn object(listed: &Listed) -> Value {
    let Listed { spec, source } = listed;
    json!({
        "name": spec.name,
        "description": spec.description,
        "source": source,
        "effect": spec.effect,
        "confirmation": spec.confirmation,
        "volatile": spec.volatile,
        "serial": spec.serial,
        "timeout_s": spec.timeout.as_secs_f64(),
        "parameters": spec.parameters,
    })
}
