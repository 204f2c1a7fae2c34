//! `enact cancel`.

use enact::Timestamp;
use enact::run::store::Store as _;

use crate::args::OneRunArgs;
use crate::exit::{Exit, Failure};
use crate::store;

/// Cancels a run and those of the agents it called, unless a process is working on it.
pub(crate) async fn cancel(args: &OneRunArgs) -> Result<Exit, Failure> {
    let store = store::open_existing(&args.store).await?;
    let id = store::find(&store, &args.run).await?;
    let lease = store.acquire(&id).await?;
    let run = store::load(&store, &id).await?.run;
    if run.termination().is_some() {
        return Err(Failure::usage(
            "over",
            format!("the run `{id}` is over already"),
        ));
    }
    let records = run.following(run.cancellation(), Timestamp::now());
    store.append(&lease, &records).await?;
    for id in store::called(&store, &id).await? {
        let lease = store.acquire(&id).await?;
        let run = store.load(&id).await?.run;
        if run.termination().is_none() {
            let records = run.following(run.cancellation(), Timestamp::now());
            store.append(&lease, &records).await?;
        }
    }
    Ok(Exit::Success)
}
