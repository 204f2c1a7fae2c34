//! Serves agents as tools of an MCP server.

use std::fmt;
use std::sync::Arc;

use enact_core::module::StartFrom;
use enact_core::run::store::Store;
use enact_core::run::{QuestionKind, StepCall};
use enact_core::tool::Effect;
use enact_core::{
    Call, Decision, Dynamic, Outcome, Paused, Prediction, Question, ReAct, ResumeCall, Run, Update,
    Values,
};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequestParams,
    ElicitationAction, ErrorData, Implementation, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceExt as _};
use rmcp::{ServerHandler, transport};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::{Error, ErrorKind};

/// An agent as a tool: its inputs are the arguments, its outputs the result.
///
/// ```no_run
/// use enact::ReAct;
/// use enact_mcp::AgentService;
///
/// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
/// let agent = ReAct::builder("question -> answer")
///     .model(enact::model("anthropic::claude-sonnet-4-5")?)
///     .build()?;
/// AgentService::new("answers", agent)
///     .description("Answers questions.")
///     .serve_stdio()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AgentService {
    name: String,
    description: String,
    agent: Arc<ReAct>,
    store: Option<Arc<dyn Store>>,
    notes: Values,
    details: Details,
}

/// What is added to a question for the client's person.
#[derive(Clone)]
struct Details(Arc<Describe>);

type Describe = dyn Fn(&Run, &Question) -> Option<String> + Send + Sync;

impl fmt::Debug for Details {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Details")
    }
}

impl AgentService {
    /// Serves an agent under this name, described by its instructions.
    pub fn new(name: impl Into<String>, agent: ReAct) -> Self {
        Self {
            name: name.into(),
            description: agent.signature().instructions().to_owned(),
            agent: Arc::new(agent),
            store: None,
            notes: Values::new(),
            details: Details(Arc::new(|_, _| None)),
        }
    }

    /// Adds details to the questions that the client's person is asked, such as what a call would
    /// change.
    #[must_use]
    pub fn details(
        self,
        details: impl Fn(&Run, &Question) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            details: Details(Arc::new(details)),
            ..self
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(self, description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            ..self
        }
    }

    /// Sets the store: a run that waits for a person can also be resumed by other means.
    #[must_use]
    pub fn store(self, store: impl Store + 'static) -> Self {
        Self {
            store: Some(Arc::new(store)),
            ..self
        }
    }

    /// Adds notes to every run.
    #[must_use]
    pub fn notes(self, notes: Values) -> Self {
        Self { notes, ..self }
    }

    /// Serves over standard input and output until the client disconnects.
    pub async fn serve_stdio(self) -> Result<(), Error> {
        let broken = |problem: String| {
            let message = format!("the client does not speak the protocol: {problem}");
            Error::new(ErrorKind::Protocol, message)
        };
        let running = self.serve(transport::stdio()).await;
        let running = running.map_err(|error| broken(error.to_string()).with_source(error))?;
        let ended = running.waiting().await;
        ended.map_err(|error| broken(error.to_string()).with_source(error))?;
        Ok(())
    }

    fn tool(&self) -> Tool {
        let object = |schema: Value| match schema {
            Value::Object(object) => object,
            _ => Values::new(),
        };
        let signature = self.agent.signature();
        // The tools of a server may change while the agent is served.
        let is_harmless = self.agent.tool_set().iter().all(|tool| {
            let spec = tool.spec();
            let is_own = !spec
                .source
                .as_deref()
                .is_some_and(|one| one.starts_with("mcp:"));
            spec.effect == Effect::ReadOnly && is_own
        });
        let annotations = ToolAnnotations::with_title(title(&self.name))
            // A run costs money, and is stored.
            .read_only(false)
            .destructive(!is_harmless)
            .idempotent(false)
            .open_world(true);
        Tool::new(
            self.name.clone(),
            self.description.clone(),
            object(signature.input_schema()),
        )
        .with_title(title(&self.name))
        .annotate(annotations)
        .with_raw_output_schema(Arc::new(object(signature.output_schema())))
    }

    fn begin(&self, inputs: Values) -> Call<'_, Dynamic> {
        let call = self.agent.call(inputs).notes(self.notes.clone());
        match &self.store {
            Some(store) => call.store(Arc::clone(store)),
            None => call,
        }
    }

    fn resume(&self, paused: Paused) -> ResumeCall<'_, Dynamic> {
        let call = self.agent.resume(paused);
        match &self.store {
            Some(store) => call.store(Arc::clone(store)),
            None => call,
        }
    }

    /// Runs a call until it finishes or pauses, and reports progress.
    async fn watched<B: StartFrom<Dynamic>>(
        &self,
        call: Call<'_, Dynamic, B>,
        reporter: &Reporter,
        context: &RequestContext<RoleServer>,
    ) -> Result<Outcome<Values>, enact_core::Error> {
        let reporter = reporter.clone();
        call.cancel_with(context.ct.clone())
            .on_update(move |update| reporter.tell(update))
            .await
    }

    /// Runs the agent to its end, asking the client's user when needed.
    async fn run(&self, inputs: Values, context: &RequestContext<RoleServer>) -> CallToolResult {
        let reporter = Reporter::start(context);
        let mut outcome = self.watched(self.begin(inputs), &reporter, context).await;
        loop {
            let paused = match outcome {
                Ok(Outcome::Finished(prediction)) => return finished(&prediction),
                Ok(Outcome::Paused(paused)) => paused,
                Err(error) => return failed(error.to_string()),
            };
            let Some(question) = paused.questions().first().cloned() else {
                return failed("the run waits, and does not say for what".to_owned());
            };
            let message = match (self.details.0)(paused.run(), &question) {
                Some(details) => format!("{}\n\n{details}", question.question),
                None => question.question.clone(),
            };
            match ask(&context.peer, &question, message).await {
                Ok(decision) => {
                    let call = self
                        .resume(paused)
                        .answer(question.confirmation_id, decision);
                    outcome = self.watched(call, &reporter, context).await;
                }
                Err(why) => {
                    let how = match &self.store {
                        Some(_) => format!("resume it with `enact resume {}`", paused.run().id()),
                        None => {
                            "let its tools run without asking, or use a client that can ask its \
                                 person (elicitation)"
                                .to_owned()
                        }
                    };
                    let asked = &question.question;
                    return failed(format!(
                        "the run waits for a person ({why}): {asked}\n{how}"
                    ));
                }
            }
        }
    }
}

impl ServerHandler for AgentService {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("enact", env!("CARGO_PKG_VERSION")))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.tool()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name != self.name {
            let message = format!("there is no tool `{}`: call `{}`", request.name, self.name);
            return Err(ErrorData::invalid_params(message, None));
        }
        let inputs = request.arguments.unwrap_or_default();
        Ok(self.run(inputs, &context).await.into())
    }
}

fn finished(prediction: &Prediction<Values>) -> CallToolResult {
    let outputs = Value::Object(prediction.values().clone());
    let mut content = vec![ContentBlock::text(outputs.to_string())];
    if !prediction.success() {
        let reason = prediction.termination.as_str();
        content.push(ContentBlock::text(format!(
            "This is the best answer so far: the agent had to stop before it was done ({reason})."
        )));
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(outputs);
    result
}

fn failed(message: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(message)])
}

/// Puts a question to the client's person. What they do not answer, nobody else answers.
async fn ask(
    peer: &Peer<RoleServer>,
    question: &Question,
    message: String,
) -> Result<Decision, String> {
    let client = peer.peer_info();
    let can_ask = client.is_some_and(|client| client.capabilities.elicitation.is_some());
    if !can_ask {
        return Err("the client cannot ask its person".to_owned());
    }
    let form: ElicitRequestParams = serde_json::from_value(json!({
        "mode": "form",
        "message": message,
        "requestedSchema": schema(question.kind),
    }))
    .map_err(|error| error.to_string())?;
    let said = peer.create_elicitation(form).await;
    let said = said.map_err(|error| format!("asking failed: {error}"))?;
    match (said.action, said.content) {
        (ElicitationAction::Accept, Some(content)) => decision(question.kind, &content)
            .ok_or_else(|| "the answer does not fit the form".to_owned()),
        (ElicitationAction::Decline, _) => Ok(Decision::Reject(None)),
        _ => Err("the person was asked, and did not answer".to_owned()),
    }
}

/// The form of a question: a choice, unless the tool itself asks.
fn schema(kind: QuestionKind) -> Value {
    let (choices, names, message) = match kind {
        QuestionKind::Clarify => {
            return json!({
                "type": "object",
                "properties": {"answer": {"type": "string", "title": "Answer"}},
                "required": ["answer"],
            });
        }
        QuestionKind::InDoubt => (
            [RUN, HAPPENED, REJECT],
            ["Run it again", "It happened", "It did not happen"],
            "What the call gave, if it happened.",
        ),
        _ => (
            [RUN, ALWAYS, REJECT],
            [
                "Approve",
                "Approve, and do not ask about this tool again",
                "Reject",
            ],
            "What the agent should know or do instead, if you reject it.",
        ),
    };
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "enum": choices,
                "enumNames": names,
            },
            "message": {"type": "string", "title": "Message", "description": message},
        },
        "required": ["decision"],
    })
}

/// The choices of a form.
const RUN: &str = "approve";
const ALWAYS: &str = "always";
const HAPPENED: &str = "happened";
const REJECT: &str = "reject";

/// The choice; none if the form doesn't have it.
fn decision(kind: QuestionKind, content: &Value) -> Option<Decision> {
    if kind == QuestionKind::Clarify {
        return Some(Decision::Answer(content["answer"].as_str()?.to_owned()));
    }
    let message = content["message"].as_str().map(str::trim);
    let message = message.filter(|message| !message.is_empty());
    let message = message.map(str::to_owned);
    match (content["decision"].as_str()?, kind) {
        (RUN, _) => Some(Decision::Approve),
        (ALWAYS, QuestionKind::Confirm) => Some(Decision::ApproveAlways),
        (HAPPENED, QuestionKind::InDoubt) => {
            let result = message.unwrap_or_else(|| "It happened.".to_owned());
            Some(Decision::Answer(result))
        }
        (REJECT, _) => Some(Decision::Reject(message)),
        _ => None,
    }
}

/// A readable name: `read_mail` as `Read mail`.
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// Reports the progress of a run to the client, if it requested that.
#[derive(Clone)]
struct Reporter(Option<mpsc::UnboundedSender<String>>);

impl Reporter {
    fn start(context: &RequestContext<RoleServer>) -> Self {
        let Some(token) = context.meta.get_progress_token() else {
            return Self(None);
        };
        let (reports, heard) = mpsc::unbounded_channel();
        tokio::spawn(report(context.peer.clone(), token, heard));
        Self(Some(reports))
    }

    fn tell(&self, update: &Update) {
        let (Some(reports), Update::Recorded { record }) = (&self.0, update) else {
            return;
        };
        if let Some(step) = record.event.reply().and_then(|reply| reply.stepped()) {
            let name = |planned: &StepCall| planned.call.name.clone();
            let names: Vec<String> = step.calls.iter().map(name).collect();
            // The client may have disconnected.
            let _ = reports.send(names.join(", "));
        }
    }
}

async fn report(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut heard: mpsc::UnboundedReceiver<String>,
) {
    let mut steps = 0.0;
    while let Some(message) = heard.recv().await {
        steps += 1.0;
        let mut param = ProgressNotificationParam::new(token.clone(), steps);
        param.message = Some(message);
        if peer.notify_progress(param).await.is_err() {
            return;
        }
    }
}
