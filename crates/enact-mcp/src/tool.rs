//! A tool of a server, as a tool of enact.

use std::fmt;
use std::task::{Context, Poll, Waker};

use enact_core::tool::{ToolFuture, ToolSpec};
use enact_core::{Tool, ToolContext, ToolError, ToolOutput, Values};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest,
    ElicitResult, ElicitationAction, InputRequest, InputRequiredResult, InputResponses, RequestId,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use tokio::runtime::Handle;

use crate::Server;
use crate::calls::Why;
use crate::elicitation::{Form, Heard};
use crate::error::innermost;
use crate::result;

/// How many questions a call can ask.
const ROUNDS: usize = 10;

/// A tool of a server.
pub(crate) struct McpTool {
    pub(crate) server: Server,
    /// The server's name for it.
    pub(crate) remote: String,
    pub(crate) spec: ToolSpec,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a> {
        Box::pin(self.run(args, context))
    }
}

impl McpTool {
    async fn run(&self, args: Values, context: ToolContext) -> Result<ToolOutput, ToolError> {
        let mut params = CallToolRequestParams::new(self.remote.clone()).with_arguments(args);
        for _ in 0..ROUNDS {
            match self.send(params.clone(), &context).await? {
                ServerResult::CallToolResult(result) => return result::read(result),
                ServerResult::InputRequiredResult(wanted) => {
                    params.request_state = wanted.request_state.clone();
                    params.input_responses = Some(self.responses(wanted, &context)?);
                }
                _ => {
                    let name = self.server.name();
                    return Err(ToolError::new(format!(
                        "the MCP server `{name}` answered something else than a result"
                    )));
                }
            }
        }
        let name = self.server.name();
        Err(ToolError::new(format!(
            "the MCP server `{name}` asked for more {ROUNDS} times without coming to a result"
        )))
    }

    /// Sends the call and waits for the result.
    async fn send(
        &self,
        params: CallToolRequestParams,
        context: &ToolContext,
    ) -> Result<ServerResult, ToolError> {
        let line = self.server.line().await.map_err(ToolError::new)?;
        if line.is_new {
            self.check_again().await?;
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sending = line
            .peer
            .send_request_with_option(request, PeerRequestOptions::no_options());
        let entering = line
            .calls
            .enter(context.clone(), sending, |handle| &handle.progress_token);
        let (mut handle, mut entry) = match entering.await {
            Ok(entered) => entered,
            Err(error) => return Err(self.failure(error).await),
        };
        let mut recall = Recall {
            peer: line.peer.clone(),
            request: Some(handle.id.clone()),
        };
        tokio::select! {
            biased;
            response = &mut handle.rx => {
                recall.disarm();
                match response {
                    Ok(Ok(result)) => Ok(result),
                    Ok(Err(error)) => Err(self.failure(error).await),
                    Err(_) => Err(self.failure(ServiceError::TransportClosed).await),
                }
            }
            stop = entry.stopped() => {
                recall.now("the person is asked first").await;
                // The receiver may be gone.
                let _ = stop.told.send(());
                Err(match stop.why {
                    Why::Asks(question) => ToolError::question(question),
                    Why::Unclear => ToolError::new(format!(
                        "the MCP server `{}` asked the person something for several calls at \
                         once: make these calls one at a time",
                        self.server.name()
                    )),
                })
            }
            () = context.cancellation.cancelled() => {
                recall.now("the run was cancelled").await;
                Err(ToolError::new("the call was cancelled"))
            }
        }
    }

    /// A restarted server may be a different one: this call was validated, and perhaps approved, for the tool
    /// of the earlier server.
    async fn check_again(&self) -> Result<(), ToolError> {
        let listed = self.server.refresh().await;
        listed.map_err(|error| ToolError::new(error.to_string()))?;
        if self.server.offers(&self.remote, &self.spec) {
            return Ok(());
        }
        Err(ToolError::new(format!(
            "the MCP server `{}` was started again and does not offer this tool as before: the \
             call was not sent",
            self.server.name()
        )))
    }

    async fn failure(&self, error: ServiceError) -> ToolError {
        let name = self.server.name();
        match error {
            ServiceError::TransportClosed => ToolError::new(self.server.cut_off().await),
            // In the server's own words.
            ServiceError::McpError(error) => ToolError::new(error.message.to_string()),
            ServiceError::TransportSend(error) => {
                let cause = innermost(error.error.as_ref());
                ToolError::new(format!(
                    "the MCP server `{name}` cannot be reached: {cause}"
                ))
            }
            other => ToolError::new(format!("the MCP server `{name}`: {other}")),
        }
    }

    /// The person's answers to the server's questions.
    fn responses(
        &self,
        wanted: InputRequiredResult,
        context: &ToolContext,
    ) -> Result<InputResponses, ToolError> {
        let mut responses = InputResponses::new();
        for (key, request) in wanted.input_requests.unwrap_or_default() {
            let InputRequest::Elicitation(request) = request else {
                return Err(self.unmet());
            };
            let form = Form::of(&request.params).ok_or_else(|| self.unmet())?;
            let form = form.map_err(ToolError::new)?;
            let answer = match form.ask(context).map_err(ToolError::question)? {
                Heard::Content(content) => {
                    ElicitResult::new(ElicitationAction::Accept).with_content(content)
                }
                Heard::Declined => ElicitResult::new(ElicitationAction::Decline),
            };
            responses.insert(key, serde_json::to_value(answer)?);
        }
        Ok(responses)
    }

    fn unmet(&self) -> ToolError {
        ToolError::new(format!(
            "the MCP server `{}` wants something for this call that is not offered here",
            self.server.name()
        ))
    }
}

impl fmt::Debug for McpTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("McpTool").field(&self.spec.name).finish()
    }
}

/// Cancels the call on the server, also when its future is dropped.
struct Recall {
    peer: Peer<RoleClient>,
    request: Option<RequestId>,
}

impl Recall {
    fn disarm(&mut self) {
        self.request = None;
    }

    async fn now(&mut self, reason: &str) {
        if let Some(request) = self.request.take() {
            tell(&self.peer, request, reason).await;
        }
    }
}

impl Drop for Recall {
    fn drop(&mut self) {
        let Some(request) = self.request.take() else {
            return;
        };
        let peer = self.peer.clone();
        let mut telling = Box::pin(async move { tell(&peer, request, "given up").await });
        // The first poll queues the message before any later call.
        let polled = telling
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
        if let (Poll::Pending, Ok(runtime)) = (polled, Handle::try_current()) {
            runtime.spawn(telling);
        }
    }
}

async fn tell(peer: &Peer<RoleClient>, request: RequestId, reason: &str) {
    let param = CancelledNotificationParam::new(Some(request), Some(reason.to_owned()));
    // A server that is gone doesn't need to be informed.
    let _ = peer.notify_cancelled(param).await;
}
