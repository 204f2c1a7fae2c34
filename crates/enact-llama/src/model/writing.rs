//! Writes a reply token by token in the required form.

use enact_core::model::{
    Chunk, FinishReason, Function, ModelError, ModelErrorKind, Request, Usage,
};
use llama_cpp_2::token::LlamaToken;

use super::engine::{Engine, Picker, Stopped};
use super::form::{self, Form};
use super::prompt::{self, CALL, CALL_ARGUMENTS, CALL_NAME, Template};
use super::text::{Found, Pieces};

/// The default maximum number of tokens of a reply: a model that repeats itself never ends.
const USUAL_REPLY: u32 = 2048;

/// The channel for the chunks of a reply.
pub(crate) trait Sink {
    /// Whether the receiver still exists.
    fn is_wanted(&self) -> bool;
    /// Sends a chunk.
    fn send(&self, chunk: Chunk);
}

/// Processes a request.
pub(crate) fn reply(
    engine: &mut Engine<'_>,
    template: &Template,
    request: &Request,
    sink: &dyn Sink,
) -> Result<(), Stopped> {
    if !request.options.extra.is_empty() {
        let message = "embedded models take no extra options: empty `ModelOptions::extra`";
        return Err(ModelError::new(ModelErrorKind::InvalidRequest, message).into());
    }
    let form = Form::of(request)?;
    let prompt = template.tokens(engine.model, &prompt::turns(request)?)?;
    // There must be room for at least one token.
    if prompt.len() >= engine.size() {
        return Err(too_long(prompt.len(), engine.size()).into());
    }
    let kept = engine.begin(&prompt, &|| sink.is_wanted())?;
    let most = request.options.max_tokens.unwrap_or(USUAL_REPLY);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let mut writing = Writing {
        left: most.min(engine.room()),
        written: 0,
        picker: Picker::new(&request.options),
        engine,
        sink,
    };
    let finish = match &form {
        Form::Text => writing.text(&stops(request, None))?.finish(),
        Form::Json(grammar) => writing.json(grammar, &Chunk::Text)?,
        Form::Call(tools) => match writing.force(CALL)? {
            Some(cut) => cut,
            None => writing.call(tools)?,
        },
        Form::TextOrCall(tools) => match writing.text(&stops(request, Some(CALL)))? {
            Ending::Call => writing.call(tools)?,
            other => other.finish(),
        },
    };
    let count = |tokens: usize| u64::try_from(tokens).unwrap_or(u64::MAX);
    let mut usage = Usage::of_request(count(prompt.len()), count(writing.written));
    usage.cached_input_tokens = count(kept);
    sink.send(Chunk::Usage(usage));
    sink.send(Chunk::Finish(finish));
    Ok(())
}

fn too_long(prompt: usize, context: usize) -> ModelError {
    let message = format!(
        "the prompt has {prompt} tokens, and the context of the model holds {context}: shorten \
         it, or load the model with a larger context"
    );
    ModelError::new(ModelErrorKind::ContextLength, message)
}

/// The marks that end free text: that of a call first, if calls are allowed.
fn stops<'a>(request: &'a Request, call: Option<&'a str>) -> Vec<&'a str> {
    let stops = request.stop.iter().map(String::as_str);
    call.into_iter().chain(stops).collect()
}

/// How free text ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// At its end, or at a mark.
    Done,
    /// At the start of a call.
    Call,
    /// At the length limit.
    Cut,
}

impl Ending {
    fn finish(self) -> FinishReason {
        match self {
            Self::Cut => FinishReason::Length,
            Self::Done | Self::Call => FinishReason::Stop,
        }
    }
}

struct Writing<'w, 'm> {
    engine: &'w mut Engine<'m>,
    sink: &'w dyn Sink,
    picker: Picker,
    /// The remaining number of tokens.
    left: usize,
    written: usize,
}

impl Writing<'_, '_> {
    fn push(&mut self, tokens: &[LlamaToken]) -> Result<(), Stopped> {
        self.left = self.left.saturating_sub(tokens.len());
        self.written += tokens.len();
        let sink = self.sink;
        self.engine.push(tokens, &|| sink.is_wanted())
    }

    fn tokens(&self, text: &[u8]) -> Vec<LlamaToken> {
        // Some models have single tokens for the marks of calls.
        self.engine.model.vocab().tokenize(text, false, true)
    }

    /// Writes fixed text. Returns whether there was room for it.
    fn force(&mut self, text: &str) -> Result<Option<FinishReason>, Stopped> {
        let tokens = self.tokens(text.as_bytes());
        if tokens.len() >= self.left {
            return Ok(Some(FinishReason::Length));
        }
        self.push(&tokens)?;
        Ok(None)
    }

    /// Writes freely, until the model ends or writes one of the marks.
    fn text(&mut self, marks: &[&str]) -> Result<Ending, Stopped> {
        let may_call = marks.first() == Some(&CALL);
        let mut pieces = Pieces::new(marks);
        let ending = loop {
            if self.left == 0 {
                break Ending::Cut;
            }
            let token = self.picker.pick(self.engine)?;
            let vocab = self.engine.model.vocab();
            let piece = vocab.token_to_piece(token, true, None);
            // A control token would start another turn, unless it is the mark of a call.
            let is_turn = vocab.is_control(token) && piece != CALL.as_bytes();
            if vocab.is_eog(token) || is_turn {
                break Ending::Done;
            }
            match pieces.push(&piece) {
                Found::Text(text) => self.say(text),
                Found::Mark { text, mark, behind } => {
                    self.say(text);
                    if !may_call || mark > 0 {
                        self.written += 1;
                        return Ok(Ending::Done);
                    }
                    // The part of the token after the mark is discarded.
                    if behind == 0 {
                        self.push(&[token])?;
                    } else {
                        let tokens = self.tokens(&piece[..piece.len() - behind]);
                        self.push(&tokens)?;
                    }
                    return Ok(Ending::Call);
                }
            }
            self.push(&[token])?;
        };
        self.say(pieces.rest());
        Ok(ending)
    }

    fn say(&self, text: String) {
        if !text.is_empty() {
            self.sink.send(Chunk::Text(text));
        }
    }

    /// Writes a call of one of the tools after its mark.
    fn call(&mut self, tools: &[Function]) -> Result<FinishReason, Stopped> {
        if let Some(cut) = self.force(CALL_NAME)? {
            return Ok(cut);
        }
        let Some(tool) = self.name(tools)? else {
            return Ok(FinishReason::Length);
        };
        let arguments = |text| Chunk::Call {
            index: 0,
            id: None,
            name: None,
            arguments: text,
        };
        self.sink.send(Chunk::Call {
            index: 0,
            id: None,
            name: Some(tool.name.clone()),
            arguments: String::new(),
        });
        // The name was written with its closing quotation mark.
        if let Some(cut) = self.force(&CALL_ARGUMENTS[1..])? {
            return Ok(cut);
        }
        let grammar = form::grammar(&tool.name, &tool.parameters)?;
        Ok(match self.json(&grammar, &arguments)? {
            FinishReason::Length => FinishReason::Length,
            _ => FinishReason::ToolCalls,
        })
    }

    /// Lets the model choose a tool. `None` if there was no room for the name.
    fn name<'t>(&mut self, tools: &'t [Function]) -> Result<Option<&'t Function>, Stopped> {
        let mut grammar = self.engine.held_to(&form::names(tools))?;
        let mut name = Vec::new();
        loop {
            if self.left == 0 {
                return Ok(None);
            }
            let token = self.picker.pick_allowed(self.engine, &mut grammar)?;
            grammar.try_accept(token).map_err(broken)?;
            let piece = self.engine.model.vocab().token_to_piece(token, true, None);
            name.extend(piece);
            self.push(&[token])?;
            if let Some(chosen) = name.strip_suffix(b"\"") {
                let tool = tools.iter().find(|tool| tool.name.as_bytes() == chosen);
                return match tool {
                    Some(tool) => Ok(Some(tool)),
                    None => Err(broken_form().into()),
                };
            }
        }
    }

    /// Writes JSON according to a grammar, until nothing can follow.
    fn json(
        &mut self,
        grammar: &str,
        chunk: &dyn Fn(String) -> Chunk,
    ) -> Result<FinishReason, Stopped> {
        let mut grammar = self.engine.held_to(grammar)?;
        let mut pieces = Pieces::new(&[]);
        let mut is_begun = false;
        loop {
            if self.left == 0 {
                return Ok(FinishReason::Length);
            }
            let token = self.picker.pick_allowed(self.engine, &mut grammar)?;
            if self.engine.model.vocab().is_eog(token) {
                return Ok(FinishReason::Stop);
            }
            grammar.try_accept(token).map_err(broken)?;
            let piece = self.engine.model.vocab().token_to_piece(token, true, None);
            if let Found::Text(text) = pieces.push(&piece) {
                let text = if is_begun { &text } else { text.trim_start() };
                if !text.is_empty() {
                    is_begun = true;
                    self.sink.send(chunk(text.to_owned()));
                }
            }
            self.push(&[token])?;
        }
    }
}

fn broken_form() -> ModelError {
    ModelError::new(
        ModelErrorKind::Server,
        "llama.cpp left the form of the reply, which it should not: ask again",
    )
}

fn broken(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    broken_form().with_source(error)
}
