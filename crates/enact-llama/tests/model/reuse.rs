//! What was read is not read again.

use enact::model::{LanguageModel as _, Usage};
use enact::{ReAct, ToolError, adapter::Native, tool, tools, values};

use crate::loaded::{asking, at_most, load};

/// Draws a card.
#[tool]
async fn draw() -> Result<String, ToolError> {
    Ok("the seven of hearts".to_owned())
}

#[tokio::test]
async fn the_same_prompt_costs_one_token_the_second_time() {
    let model = load(1024);
    let first = model
        .complete(asking("Why is the sky blue?", 1))
        .await
        .unwrap()
        .usage;
    assert_eq!(first.cached_input_tokens, 0);
    let before = model.evaluated_tokens();
    assert_eq!(before, first.input_tokens + 1);
    let second = model
        .complete(asking("Why is the sky blue?", 1))
        .await
        .unwrap()
        .usage;
    assert_eq!(second.cached_input_tokens, second.input_tokens - 1);
    assert_eq!(model.evaluated_tokens() - before, 2);
}

#[tokio::test]
async fn another_prompt_is_answered_as_if_nothing_had_been_before() {
    let model = load(1024);
    let fresh = model.complete(asking("Name a colour.", 12)).await.unwrap();
    model
        .complete(asking("Name a river, a city and a sea.", 12))
        .await
        .unwrap();
    let again = model.complete(asking("Name a colour.", 12)).await.unwrap();
    assert!(again.usage.cached_input_tokens > 0);
    assert_eq!(again.usage.input_tokens, fresh.usage.input_tokens);
    assert!(!again.text.is_empty());
}

#[tokio::test]
async fn later_steps_of_a_run_read_only_what_is_new() {
    let model = load(2048).with_demanded_calls();
    let agent = ReAct::builder("wish -> cards: int")
        .tools(tools![draw])
        .model(model.clone())
        .adapter(Native)
        .options(at_most(40))
        .max_repairs(0)
        .max_iterations(2)
        .build()
        .unwrap();
    let ended = agent.call(values! { wish: "Draw two cards." }).await;
    // It need not come to an answer.
    let run = match &ended {
        Ok(outcome) => outcome.run(),
        Err(error) => error.run().unwrap(),
    };
    let replies = run.events().filter_map(|event| event.reply());
    let steps: Vec<Usage> = replies.map(|replied| replied.reply.usage).collect();
    assert!(steps.len() > 1, "{steps:?}");
    assert_eq!(steps[0].cached_input_tokens, 0);
    // All of the first prompt, but for the token that gives the odds.
    assert!(
        steps[1].cached_input_tokens >= steps[0].input_tokens - 1,
        "{steps:?}"
    );
    let total = run.usage();
    let read = total.input_tokens - total.cached_input_tokens;
    assert_eq!(model.evaluated_tokens(), read + total.output_tokens);
}
