//! Questions to the person.

use schemars::JsonSchema;
use serde::Deserialize;

use enact_core::tool::{FnTool, ToolContext};

#[derive(Deserialize, JsonSchema)]
struct AskArgs {
    /// The question, complete in itself.
    question: String,
}

/// Lets the agent ask the person who set the task: the run pauses with the question, and the answer is
/// the result of the call.
pub fn ask_user() -> FnTool {
    FnTool::new(
        "ask_user",
        "Asks the user, when the task is unclear or something is missing that only the user can \
         know. Do not ask for what another tool can find out.",
        |args: AskArgs, context: ToolContext| async move { context.ask(&args.question) },
    )
    .built_in()
    .read_only()
    .volatile()
}
