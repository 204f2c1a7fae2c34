//! Predict and ChainOfThought on their own.

use std::sync::Arc;

use enact::model::{Capabilities, ScriptedModel, say};
use enact::{ChainOfThought, Demo, ErrorKind, Predict, Signature, values};
use serde_json::json;

fn scripted(steps: impl IntoIterator<Item = enact::model::ScriptStep>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(steps))
}

fn texts(model: &ScriptedModel, index: usize) -> Vec<String> {
    model.requests()[index]
        .prompt
        .iter()
        .map(|message| message.text())
        .collect()
}

#[tokio::test]
async fn predict_asks_once() {
    let model = scripted([say("Paris")]);
    let qa = Predict::builder("question -> answer")
        .model(model.clone())
        .build()
        .unwrap();
    let done = qa
        .call(values! { question: "Capital of France?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "Paris");
    assert!(done.trajectory().steps().is_empty());
    assert_eq!(done.usage.requests, 1);
}

#[tokio::test]
async fn predict_with_typed_outputs_and_demonstrations_in_order() {
    let model = scripted([say(r#"{"label": "spam", "score": "0.9"}"#)]);
    let classify = Predict::builder(r#"text -> label: Literal["spam", "ham"], score: float"#)
        .demos(vec![
            Demo::new(
                values! { text: "buy now" },
                values! { label: "spam", score: 0.99 },
            ),
            // An incomplete demonstration is shown as far as it goes.
            Demo::new(values! { text: "hello" }, values! { label: "ham" }),
        ])
        .model(model.clone())
        .build()
        .unwrap();
    let done = classify
        .call(values! { text: "win money" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["score"], 0.9);
    let texts = texts(&model, 0);
    let order: Vec<usize> = ["buy now", "hello", "win money"]
        .iter()
        .map(|needle| texts.iter().position(|text| text.contains(needle)).unwrap())
        .collect();
    assert!(order.is_sorted() && order[0] > 0, "{texts:?}");
}

#[tokio::test]
async fn chain_of_thought_reasons_before_it_answers() {
    let model = scripted([say(r#"{"reasoning": "2 and 2 make 4.", "answer": 4}"#)]);
    let cot = ChainOfThought::builder("question -> answer: int")
        .model(model.clone())
        .build()
        .unwrap();
    let done = cot
        .call(values! { question: "2+2?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], 4);
    assert_eq!(done.reasoning(), Some("2 and 2 make 4."));
    assert_eq!(done.values().keys().collect::<Vec<_>>(), ["answer"]);
}

#[tokio::test]
async fn dspy_ex_output_retries_succeed_within_the_budget_and_feed_the_error_back() {
    let model = scripted([say("no idea"), say(r#"{"answer": 4}"#)]);
    let qa = Predict::builder("question -> answer: int")
        .model(model.clone())
        .build()
        .unwrap();
    let done = qa
        .call(values! { question: "2+2?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], 4);
    let texts = texts(&model, 1);
    assert_eq!(texts[texts.len() - 2], "no idea");
    assert!(texts[texts.len() - 1].contains("answer"), "{texts:?}");
}

#[tokio::test]
async fn dspy_ex_output_retries_stop_after_the_budget_and_zero_is_off() {
    for (budget, replies) in [(2, 3), (0, 1)] {
        let model = scripted((0..replies).map(|_| say("no idea")));
        let qa = Predict::builder("question -> answer: int")
            .max_repairs(budget)
            .model(model.clone())
            .build()
            .unwrap();
        let error = qa.call(values! { question: "2+2?" }).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoAnswer);
        model.assert_complete();
    }
}

#[tokio::test]
async fn missing_and_unknown_inputs_are_errors_that_show_the_signature() {
    let qa = Predict::builder("question: str, k: int = 3 -> answer")
        .model(scripted([]))
        .build()
        .unwrap();
    let error = qa
        .call(values! { qestion: "typo", extra: 1 })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    let text = error.to_string();
    for part in ["question", "qestion", "extra", "k: int = 3 -> answer"] {
        assert!(text.contains(part), "{text}");
    }
    let error = qa
        .call(values! { question: "q", k: "many" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().contains('k'), "{error}");
}

#[tokio::test]
async fn inputs_are_defaulted_and_coerced_without_loss() {
    let model = scripted([say("a"), say("b")]);
    let qa = Predict::builder("question: str, k: int = 3 -> answer")
        .model(model.clone())
        .build()
        .unwrap();
    let done = qa
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.run().started().inputs["k"], 3);
    let done = qa
        .call(values! { question: "q", k: "5" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.run().started().inputs["k"], 5);
}

#[tokio::test]
async fn no_model_is_an_error_that_says_what_to_do() {
    let qa = Predict::builder("question -> answer").build().unwrap();
    let error = enact::scope(enact::Settings::new(), async {
        qa.call(values! { question: "q" }).await.unwrap_err()
    })
    .await;
    assert_eq!(error.kind(), ErrorKind::NoModel);
    assert!(error.to_string().contains("`model`"));
}

#[tokio::test]
async fn a_signature_value_works_like_an_arrow_string() {
    let signature = Signature::parse("question -> answer")
        .unwrap()
        .with_instructions("Be terse.");
    let model = Arc::new(
        ScriptedModel::new([say("[[ ## answer ## ]]\nyes")]).with_capabilities(Capabilities::TEXT),
    );
    let qa = Predict::builder(signature)
        .model(model.clone())
        .build()
        .unwrap();
    let done = qa
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], json!("yes"));
    assert!(texts(&model, 0)[0].contains("Be terse."));
}
