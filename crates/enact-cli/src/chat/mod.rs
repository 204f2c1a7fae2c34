//! `enact chat`.

mod attached;
mod conversation;
mod lines;
mod said;
mod spent;

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use enact::run::store::RunFilter;
use enact::{Outcome, Run, Signature, Values};

use self::conversation::Conversation;
use self::lines::Lines;
use self::said::{HELP, Said};
use self::spent::Spent;
use crate::args::{ChatArgs, OutputArgs};
use crate::drive::drive;
use crate::exit::{Exit, Failure};
use crate::line::Line;
use crate::models::Probing;
use crate::run::{Setup, picture, print_view, show_ending};
use crate::runs::show_steps;
use crate::tools::show_brief;
use crate::trust::{self, Consent};
use crate::view::{Ink, Narrator, Outputs, Screen, Stream, text};
use crate::{agent, interrupt, store};

/// The default signature.
const USUAL: &str = "question -> answer";
/// The note in runs that are turns of a conversation.
const NOTE: &str = "chat";

/// Runs a conversation.
pub(crate) async fn execute(args: &ChatArgs) -> Result<Exit, Failure> {
    let mut chat = Chat::open(args).await?;
    let exit = chat.hold().await;
    chat.setup.servers.shutdown().await;
    Ok(exit)
}

/// A conversation and its state.
struct Chat {
    setup: Setup,
    conversation: Conversation,
    /// The inputs that are asked for in each turn.
    asked: Vec<String>,
    lines: Lines,
    /// The last turn, even if it didn't finish.
    last: Option<Run>,
    /// The inputs of the last turn, if it was not added to the conversation.
    lost: Option<Values>,
    spent: Spent,
    /// Where the output of commands goes.
    screen: Screen,
    output: OutputArgs,
}

impl Chat {
    async fn open(args: &ChatArgs) -> Result<Self, Failure> {
        let earlier = match args.continues {
            true => Some(earlier(args).await?),
            false => None,
        };
        let agent = match (&earlier, &args.agent.file, &args.signature) {
            (Some(run), None, None) => agent_of(run).await?,
            _ => {
                let file = agent::file(args.agent.file.as_deref(), args.signature.is_some());
                let signature = match &file {
                    Some(_) => None,
                    None => Some(args.signature.as_deref().unwrap_or(USUAL)),
                };
                agent::of_args(file.as_deref(), signature)?
            }
        };
        let asked = asked(&agent.signature)?;
        let arrow = agent.signature.arrow();
        let mut setup = Setup::new(agent, &args.agent, Probing::PATIENCE).await?;
        setup.notes.insert(NOTE.to_owned(), true.into());
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        let (lines, stream) = if is_terminal {
            // The history of typed lines is stored beside the runs.
            let file = store::path(&args.agent.store)?.map(|runs| {
                let mut file = runs.into_os_string();
                file.push(".chat-history");
                file.into()
            });
            (Lines::at_terminal(file)?, Stream::Stdout)
        } else {
            (Lines::Pipe, Stream::Stderr)
        };
        let history = match &earlier {
            Some(run) if run.outputs().is_some() => run.history(),
            // A turn without outputs is not part of the conversation.
            Some(run) => run.started().history.clone(),
            None => setup.history.clone(),
        };
        let conversation = Conversation::from(history);
        let chat = Self {
            setup,
            conversation,
            asked,
            lines,
            last: earlier,
            lost: None,
            spent: Spent::default(),
            screen: args.output().screen(stream),
            output: args.output(),
        };
        if is_terminal {
            chat.greet(&arrow);
        }
        Ok(chat)
    }

    fn greet(&self, arrow: &str) {
        let screen = &self.screen;
        let title = screen.paint(Ink::Strong, "enact chat");
        let model = text::one_line(&self.setup.model);
        screen.line(&format!("{title}: {arrow}, answered by {model}"));
        let turns = self.conversation.turns();
        if turns > 0 {
            screen.line(&format!("Continuing after {}.", counted(turns)));
        }
        let how = "/help lists commands, Ctrl-D quits.";
        screen.line(&format!("{}\n", screen.paint(Ink::Quiet, how)));
    }

    /// Takes turns until the user quits.
    async fn hold(&mut self) -> Exit {
        let mut is_leaving = false;
        loop {
            let line = self.lines.next(&self.screen, &self.prompt(0)).await;
            let said = match line {
                Line::Typed(line) => Said::read(&line),
                Line::End => return Exit::Success,
                Line::Cleared => Said::Nothing,
                Line::Interrupted if !self.lines.is_terminal() => return Exit::Failed,
                Line::Interrupted if is_leaving => return Exit::Success,
                Line::Interrupted => {
                    self.tell("press Ctrl-C again or Ctrl-D to quit");
                    is_leaving = true;
                    continue;
                }
            };
            is_leaving = false;
            if let Some(exit) = self.obey(said).await {
                return exit;
            }
        }
    }

    /// Runs a command. Returns an exit code if it ends the conversation.
    async fn obey(&mut self, said: Said) -> Option<Exit> {
        match said {
            Said::Nothing => {}
            Said::Turn(text) => return self.turn(text).await,
            Said::Help => self.screen.write(HELP),
            Said::Model(None) => self.tell(&format!("answered by {}", self.setup.model)),
            Said::Model(Some(name)) => self.change_model(&name).await,
            Said::Tools if self.setup.agent.tool_set().is_empty() => {
                self.tell("there are no tools")
            }
            Said::Tools => show_brief(&self.screen, self.setup.agent.tool_set()),
            Said::Cost => self.tell(&self.spent.told()),
            Said::Show => self.show(),
            Said::Retry => return self.retry().await,
            Said::Undo => self.undo(),
            Said::New => {
                self.conversation = Conversation::default();
                self.lost = None;
                self.tell("started a new conversation");
            }
            Said::Save { file, replaces } => self.save(&file, replaces).await,
            Said::Quit => return Some(Exit::Success),
            Said::Wrong(problem) => self.complain(&problem),
        }
        None
    }

    /// Takes a turn, which is one run. Returns an exit code if the conversation can't continue.
    async fn turn(&mut self, first: String) -> Option<Exit> {
        let inputs = match self.inputs(first).await {
            Ok(inputs) => inputs,
            Err(exit) => return exit,
        };
        self.take(inputs).await
    }

    /// Runs the agent with these inputs.
    async fn take(&mut self, inputs: Values) -> Option<Exit> {
        self.lost = Some(inputs.clone());
        let store = self.setup.store.as_ref();
        let stream = match self.output.quiet {
            true => Stream::Nowhere,
            false => self.lines.stream_of_steps(),
        };
        let narrator = Arc::new(Narrator::new(self.output.screen(stream), &self.setup.model));
        let person = self.lines.person(&narrator);
        let interrupted = interrupt::watch();
        let call = self.setup.call(inputs, self.conversation.history(), store);
        let agent = &self.setup.agent;
        let ended = drive(agent, call, &narrator, &person, &interrupted, store).await;
        let screen = self.output.screen(Stream::Stdout);
        let form = self.output.form();
        let outputs = Outputs {
            screen: &screen,
            form,
        };
        let exit = print_view(&narrator, outputs, &ended, store);
        let is_stopped = interrupted.is_cancelled();
        let run = match &ended {
            Ok(outcome) => Some(outcome.run()),
            Err(error) => error.run(),
        };
        if let Some(run) = run {
            self.spent.add(run);
            self.last = Some(run.clone());
        }
        match ended {
            Ok(Outcome::Finished(prediction)) => {
                self.lost = None;
                self.conversation = Conversation::from(prediction.history);
            }
            _ if self.lines.is_terminal() => {
                self.tell("this turn was not added to the conversation");
            }
            // Without a user, nobody could fix the problem.
            Ok(Outcome::Paused(_)) => return Some(exit),
            Err(_) if is_stopped => return Some(exit),
            Err(_) => self.tell("this turn was not added to the conversation"),
        }
        if self.lines.is_terminal() {
            self.screen.line("");
        }
        None
    }

    /// The inputs of a turn; further inputs are asked for by name. An error without an exit code means
    /// that the turn was abandoned.
    async fn inputs(&self, first: String) -> Result<Values, Option<Exit>> {
        let mut values = Values::new();
        self.add(&mut values, &self.asked[0], &first)?;
        for (index, name) in self.asked.iter().enumerate().skip(1) {
            if values.contains_key(name) {
                continue;
            }
            let value = match self.lines.next(&self.screen, &self.prompt(index)).await {
                Line::Typed(line) => line.trim().to_owned(),
                Line::End if self.lines.is_terminal() => return Err(None),
                Line::End => {
                    let message = format!("the input ended before a line for `{name}`");
                    return Err(Some(Failure::usage("input", message).end()));
                }
                Line::Interrupted | Line::Cleared if self.lines.is_terminal() => return Err(None),
                Line::Interrupted | Line::Cleared => return Err(Some(Exit::Failed)),
            };
            self.add(&mut values, name, &value)?;
        }
        Ok(values)
    }

    /// Adds a line as this input, with the files that it names. No exit code means that the turn was
    /// given up.
    fn add(&self, values: &mut Values, name: &str, line: &str) -> Result<(), Option<Exit>> {
        let added = self.message(values, name, line);
        added.map_err(|problem| {
            self.complain(&text::one_line(&problem));
            None
        })
    }

    fn message(&self, values: &mut Values, name: &str, line: &str) -> Result<(), String> {
        let signature = &self.setup.plan.signature;
        let inputs = signature.inputs().iter();
        let images = inputs.filter(|field| picture::is_wanted(&field.ty));
        let images: Vec<&str> = images.map(|field| field.name.as_str()).collect();
        let message = attached::read(line)?;
        for (name, characters) in &message.files {
            let name = text::one_line(name);
            let characters = text::grouped(*characters as u64);
            self.tell(&format!("with {name} ({characters} characters)"));
        }
        let mut free = images.iter().filter(|image| !values.contains_key(**image));
        let mut found = Vec::new();
        for (file, image) in message.images {
            // The one that is asked for, or else the first that has none.
            let place = match images.contains(&name) && found.is_empty() {
                true => name,
                false => free.next().ok_or_else(|| no_place(&file, &images))?,
            };
            self.tell(&format!("with {} as `{place}`", text::one_line(&file)));
            found.push((place.to_owned(), image));
        }
        match (images.contains(&name), found.is_empty()) {
            (true, true) => values.insert(name.to_owned(), picture::of_text(name, &message.text)?),
            (true, false) => None,
            (false, _) => values.insert(name.to_owned(), message.text.into()),
        };
        values.extend(found);
        Ok(())
    }

    async fn change_model(&mut self, name: &str) {
        match self.setup.ask_another(name).await {
            Ok(()) => self.tell(&format!("now using {}", self.setup.model)),
            Err(failure) => self.complain(&failure.message),
        }
    }

    /// Shows the last turn, like `enact show`.
    fn show(&self) {
        let Some(run) = &self.last else {
            return self.complain("there is no turn to show");
        };
        let narrator = Narrator::new(Screen::new(self.lines.stream_of_steps()), "");
        show_steps(&narrator, run);
        let store = self.setup.store.as_ref();
        show_ending(
            &narrator,
            Outputs::below(narrator.screen()),
            run,
            store,
            None,
        );
    }

    /// Repeats the last turn.
    async fn retry(&mut self) -> Option<Exit> {
        let inputs = match self.lost.take() {
            Some(inputs) => Some(inputs),
            None => match self.conversation.take_back() {
                Some((said, None)) => {
                    let inputs = [(self.asked[0].clone(), said.into())];
                    Some(Values::from_iter(inputs))
                }
                Some((_, inputs)) => inputs,
                None => None,
            },
        };
        match inputs {
            Some(inputs) => self.take(inputs).await,
            None => {
                self.complain("there is no turn to repeat");
                None
            }
        }
    }

    fn prompt(&self, index: usize) -> String {
        if self.asked.len() == 1 {
            "> ".to_owned()
        } else {
            format!("{}> ", self.asked[index])
        }
    }

    fn undo(&mut self) {
        match self.conversation.undo() {
            Some(forgotten) => {
                let said = text::one_line(&forgotten);
                let said = text::clipped(&said, 60);
                let left = counted(self.conversation.turns());
                self.tell(&format!("forgot \u{201c}{said}\u{201d}: {left} left"));
            }
            None => self.complain("there is no turn to undo"),
        }
    }

    async fn save(&self, file: &Path, replaces: bool) {
        let history = self.conversation.history().clone();
        if history.is_empty() {
            self.complain("there is nothing to save yet");
            return;
        }
        let path = file.to_owned();
        let saving =
            tokio::task::spawn_blocking(move || conversation::save(&history, &path, replaces));
        match saving.await {
            Ok(Ok(place)) => {
                let turns = counted(self.conversation.turns());
                let place = place.display().to_string();
                self.tell(&format!("saved {turns} to {}", text::one_line(&place)));
            }
            Ok(Err(problem)) => self.complain(&problem),
            Err(error) => self.complain(&error.to_string()),
        }
    }

    /// Prints a remark that is not part of the conversation.
    fn tell(&self, remark: &str) {
        self.screen.line(&self.screen.paint(Ink::Quiet, remark));
    }

    fn complain(&self, problem: &str) {
        self.screen.line(&self.screen.paint(Ink::Bad, problem));
    }
}

/// The newest turn of the newest conversation.
async fn earlier(args: &ChatArgs) -> Result<Run, Failure> {
    let store = store::open_existing(&args.agent.store).await?;
    let is_turn =
        |run: Option<&Run>| run.is_some_and(|run| run.started().agent.notes.contains_key(NOTE));
    match store::newest(&store, RunFilter::all(), is_turn).await? {
        Some(id) => Ok(store::load(&store, &id).await?.run),
        None => {
            let message = "there is no conversation to continue: start one with `enact chat`";
            Err(Failure::usage("run_not_found", message))
        }
    }
}

/// The agent of an earlier turn. One from another source is used only with the user's consent.
async fn agent_of(run: &Run) -> Result<agent::Agent, Failure> {
    let narrator = Narrator::new(Screen::new(Stream::Stdout), "");
    let way_out = "continue it in a terminal if you trust whoever made it";
    trust::check(run, trust::key().as_ref(), Consent::Ask, way_out, &narrator).await?;
    agent::Agent::of_run(run.started())
}

/// The inputs to ask for: all required ones or, if there are none, the first.
fn asked(signature: &Signature) -> Result<Vec<String>, Failure> {
    let inputs = signature.inputs();
    let required = inputs.iter().filter(|field| field.is_required());
    let mut names: Vec<String> = required.map(|field| field.name.clone()).collect();
    if names.is_empty() {
        names.extend(inputs.first().map(|field| field.name.clone()));
    }
    if names.is_empty() {
        let message =
            "the signature has no input for the lines that you type: add one before the `->`";
        return Err(Failure::usage("signature", message));
    }
    Ok(names)
}

fn counted(turns: usize) -> String {
    match turns {
        0 => "no turns".to_owned(),
        turns => text::counted(turns, "turn"),
    }
}

/// Why an image cannot be sent.
fn no_place(file: &str, images: &[&str]) -> String {
    match images {
        [] => format!(
            "`{file}` is an image, and the signature has no image input, such as `photo: image`: \
             nothing was sent"
        ),
        _ => format!("`{file}` is one image too many: nothing was sent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_inputs_that_have_to_be_given_are_asked_for() {
        let asked = |arrow| asked(&Signature::parse(arrow).unwrap()).unwrap();
        assert_eq!(asked("question -> answer"), ["question"]);
        assert_eq!(
            asked("k: int = 3, question, text -> answer"),
            ["question", "text"]
        );
        assert_eq!(
            asked("note: Optional[str], question -> answer"),
            ["question"]
        );
        assert_eq!(
            asked("question: str = \"?\", k: int = 3 -> answer"),
            ["question"]
        );
    }
}
