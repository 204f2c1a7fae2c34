//! Handles requests and notifications of a server.

use std::sync::Arc;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, ErrorData, FormElicitationCapability, Implementation,
    ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::watch;

use crate::calls::{Calls, Why};
use crate::elicitation::{Form, Heard};

/// Our side of a connection.
#[derive(Debug)]
pub(crate) struct Handler {
    pub(crate) calls: Arc<Calls>,
    /// Counts the notifications of changed tools.
    pub(crate) changes: watch::Sender<u64>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::default()));
        ClientConfig::new(
            capabilities,
            Implementation::new("enact", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(flight) = self.calls.reporting(&report.progress_token).await {
            flight.context.progress(spoken(&report));
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changes.send_modify(|count| *count += 1);
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // We did not announce that we can open an address for the person.
        let Some(form) = Form::of(&request) else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        let form = form.map_err(|problem| ErrorData::invalid_params(problem, None))?;
        let asking = tokio::select! {
            asking = self.calls.asking() => asking,
            () = context.ct.cancelled() => None,
        };
        let Some(flight) = asking else {
            self.calls.stop_all().await;
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        Ok(match form.ask(&flight.context) {
            Ok(Heard::Content(content)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Ok(Heard::Declined) => ElicitResult::new(ElicitationAction::Decline),
            Err(question) => {
                // The server is informed of the cancellation first, so that it doesn't continue without an
                // answer.
                flight.stop(Why::Asks(question)).await;
                ElicitResult::new(ElicitationAction::Cancel)
            }
        })
    }
}

/// A progress report as a line: the server's message, and the progress.
fn spoken(report: &ProgressNotificationParam) -> String {
    let so_far = match report.total {
        Some(total) => format!("{} of {total}", report.progress),
        None => report.progress.to_string(),
    };
    match report.message.as_deref().map(str::trim) {
        Some(message) if !message.is_empty() => format!("{message} ({so_far})"),
        _ => so_far,
    }
}
