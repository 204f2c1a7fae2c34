//! `enact mcp`.

use std::time::Duration;

use enact_mcp::AgentService;

use crate::agent;
use crate::args::ServeMcpArgs;
use crate::exit::{Exit, Failure};
use crate::run::Setup;
use crate::tools::preview;
use crate::view::plain_diff;

/// How long a probe can take: the client waits for the server.
const PATIENCE: Duration = Duration::from_secs(10);

/// Serves an agent as a tool until the client disconnects.
pub(crate) async fn execute(args: &ServeMcpArgs) -> Result<Exit, Failure> {
    let signature = args.signature.as_deref();
    let file = agent::file(args.agent.file.as_deref(), signature.is_some());
    let agent = agent::of_args(file.as_deref(), signature)?;
    let setup = Setup::new(agent, &args.agent, PATIENCE).await?;
    let description = args
        .description
        .as_ref()
        .or(setup.plan.description.as_ref());
    let description = description.cloned();
    let service = AgentService::new(&args.name, setup.agent).notes(setup.notes);
    let mut service = service.details(|run, question| {
        let change = preview::change_now(run, question)?;
        Some(match change {
            Ok(change) => plain_diff(&change)?,
            Err(problem) => format!("The call would fail: {problem}"),
        })
    });
    if let Some(description) = description {
        service = service.description(description);
    }
    if let Some(store) = setup.store {
        service = service.store(store);
    }
    let served = service.serve_stdio().await;
    setup.servers.shutdown().await;
    served.map_err(|error| Failure::failed(error.kind().as_str(), error.to_string()))?;
    Ok(Exit::Success)
}
