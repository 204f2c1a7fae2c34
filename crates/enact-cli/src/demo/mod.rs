//! `enact demo`: watch an agent work, without a model or key.

mod folder;
mod recorded;

use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use enact::tool::builtin::{Files, calculator};
use enact::{Outcome, ReAct, Tool as _, ToolContext};

use self::recorded::Recorded;
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::person::Person;
use crate::view::{Ink, Narrator, Outputs, Screen, Stream, text};

const SIGNATURE: &str = "task: str -> total: float, unpaid: list[str], report: Optional[str]";
const TASK: &str = "Add up the invoices, say who has not paid, and write a short report.";
/// How long a recorded reply takes if a person watches.
const PACE: Duration = Duration::from_millis(900);
/// The maximum number of lines to show of the written file.
const FILE_LINES: usize = 20;

const OWN_MODEL: &str = r#"With your own model:

  export OPENAI_API_KEY=…
  enact run "question -> answer: float" question="What is 17% of 2340?" \
      --model gpt-4o-mini --tools calculator

With a local server that speaks the same protocol:

  enact run "question -> answer" question="What day is it in Tokyo?" \
      --base-url http://localhost:11434/v1 --model qwen3 --tools current_time

Over your own files, which it cannot leave, and asking before it writes:

  enact run "task -> summary, open_points: list[str]" task="Sum up my notes." \
      --model gpt-4o-mini --files ./notes"#;

/// Runs the demo.
pub(crate) async fn execute() -> Result<Exit, Failure> {
    let played = play().await;
    played.map_err(|error| Failure::failed("demo", format!("{error:#}")))
}

async fn play() -> anyhow::Result<Exit> {
    let folder = tempfile::Builder::new()
        .prefix("enact-demo-")
        .tempdir()
        .context("no throw-away folder can be made: set TMPDIR to one that can be written")?;
    folder::fill(folder.path()).context("the throw-away folder cannot be filled")?;

    let narrator = Arc::new(Narrator::new(
        Screen::new(Stream::Stdout),
        "the recorded model",
    ));
    let screen = narrator.screen();
    let pace = if screen.is_terminal() {
        PACE
    } else {
        Duration::ZERO
    };
    let files = Files::open(folder.path())?;
    let tools = files.tools().with(calculator());
    introduce(screen, &tools.names().collect::<Vec<_>>().join(", "));

    let agent = ReAct::builder(SIGNATURE)
        .tools(tools)
        .model(Recorded::new(pace))
        .build()?;
    let person = if std::io::stdin().is_terminal() && screen.is_terminal() {
        Person::Watching
    } else {
        Person::Pipe
    };
    let interrupted = interrupt::watch();
    let call = agent.call(enact::values! { task: TASK });
    let prediction = match drive(&agent, call, &narrator, &person, &interrupted, None).await? {
        Outcome::Finished(prediction) => prediction,
        Outcome::Paused(_) => {
            screen.line("\nThere was no answer, so the demo ends here: nothing was written.");
            return Ok(Exit::Paused);
        }
    };

    screen.line("");
    Outputs::below(screen).show(prediction.values());
    narrator.summary(prediction.run(), "done", Ink::Good);
    match prediction
        .values()
        .get("report")
        .and_then(|path| path.as_str())
    {
        Some(path) => show_file(screen, &files, path).await,
        None => screen.line("\nNo file was written."),
    }
    screen.line(&format!("\n{OWN_MODEL}"));
    Ok(Exit::Success)
}

fn introduce(screen: &Screen, tools: &str) {
    let title = screen.paint(Ink::Strong, "enact demo");
    screen.line(&format!(
        "{title}: watch an agent work, without a model or key.\n"
    ));
    screen.line(
        "The replies of the model are recorded. Everything else is real: the tools, the files in a",
    );
    screen
        .line("temporary directory, the check of every call, and the question it will ask you.\n");
    for (label, value) in [("signature", SIGNATURE), ("task", TASK), ("tools", tools)] {
        let label = screen.paint(Ink::Quiet, &format!("{label:<10}"));
        screen.line(&format!("{label}{value}"));
    }
    screen.line("");
}

/// Shows a file through the tool, which can't leave the directory: a person may have chosen the name.
async fn show_file(screen: &Screen, files: &Files, path: &str) {
    let shown = text::one_line(path);
    let args = enact::values! { path: path };
    let read = files
        .read_file()
        .call(args, ToolContext::detached("shown"))
        .await;
    let content = read.map(|output| output.value);
    let Some(content) = content.as_ref().ok().and_then(|value| value.as_str()) else {
        screen.line(&format!("\nThe file {shown} cannot be shown."));
        return;
    };
    screen.line(&format!("\nThe written file, {shown}:\n"));
    for line in text::first_lines(content, screen.room(4), FILE_LINES) {
        screen.line(&format!("  {} {line}", screen.paint(Ink::Quiet, "│")));
    }
}
