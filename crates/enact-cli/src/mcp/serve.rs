//! `enact mcp`.

use enact::Signature;
use enact_mcp::AgentService;

use crate::args::ServeMcpArgs;
use crate::exit::{Exit, Failure};
use crate::run::Setup;
use crate::store;

/// Serves an agent as a tool until the client hangs up.
pub(crate) async fn execute(args: &ServeMcpArgs) -> Exit {
    match serve(args).await {
        Ok(()) => Exit::Success,
        Err(failure) => {
            failure.print();
            failure.exit
        }
    }
}

async fn serve(args: &ServeMcpArgs) -> Result<(), Failure> {
    let signature = Signature::parse(&args.signature)?;
    let setup = Setup::new(signature, &args.agent).await?;
    let store = store::open_for_new(&args.agent.store).await?;
    let mut service = AgentService::new(&args.name, setup.agent).notes(setup.notes);
    if let Some(description) = &args.description {
        service = service.description(description);
    }
    if let Some(store) = store {
        service = service.store(store);
    }
    let served = service.serve_stdio().await;
    setup.servers.shutdown().await;
    served.map_err(|error| Failure::failed(error.kind().as_str(), error.to_string()))
}
