//! The `finish` and extract way to the outputs, in every adapter.

use std::sync::Arc;

use enact::model::{Capabilities, ScriptStep, ScriptedModel, calls, say};
use enact::run::{Call, Entry, Record};
use enact::{AdapterChoice, Builder, Completion, History, Module, ReAct, Run, Values, values};
use serde_json::Value;

use super::search_and_add;

fn builder(adapter: &str) -> Builder<ReAct> {
    let choice: AdapterChoice = adapter.parse().unwrap();
    ReAct::builder("question -> answer: int, note: Optional[str]")
        .tools(search_and_add())
        .completion(Completion::Finish)
        .adapter(choice)
}

/// What a model that speaks the adapter's language replies: a call, `finish`, the outputs.
fn script(adapter: &str) -> Vec<ScriptStep> {
    let agent = builder(adapter).build().unwrap();
    let choice: AdapterChoice = adapter.parse().unwrap();
    let words = choice.resolve(Capabilities::TEXT);
    let said = |predictor: usize, entry: Entry| {
        let task = agent.predictors()[predictor].1.task().clone();
        say(words.render(&task, &entry)[0].text())
    };
    let step = |name: &str, args: Values| {
        if adapter == "native" {
            return calls([(name, Value::Object(args))]).thinking("so");
        }
        let call = Call {
            id: String::new(),
            name: name.to_owned(),
            args,
            raw: None,
        };
        said(
            0,
            Entry::Assistant {
                text: "so".into(),
                calls: vec![call.into()],
                opaque: None,
            },
        )
    };
    let outputs = values! { reasoning: "They add up.", answer: 3, note: Value::Null };
    vec![
        step("add", values! { a: 1, b: 2 }),
        step("finish", values! {}),
        said(
            1,
            Entry::Outputs {
                values: outputs,
                thought: String::new(),
                call_id: None,
            },
        ),
    ]
}

#[tokio::test]
async fn promise_6_finish_runs_round_trip_and_resume_from_every_event_in_every_adapter() {
    for adapter in ["chat", "json", "xml", "tagged", "native"] {
        let model = Arc::new(ScriptedModel::new(script(adapter)));
        let agent = builder(adapter).model(model.clone()).build().unwrap();
        let done = agent
            .call(values! { question: "1 + 2?" })
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(done.outputs["answer"], 3, "{adapter}");
        assert_eq!(done.reasoning(), Some("They add up."), "{adapter}");
        let text = serde_json::to_string(&done.history).unwrap();
        assert_eq!(
            serde_json::from_str::<History>(&text).unwrap(),
            done.history,
            "{adapter}"
        );
        let text = serde_json::to_string(done.run()).unwrap();
        let run: Run = serde_json::from_str(&text).unwrap();
        assert_eq!(run, *done.run(), "{adapter}");
        let records: Vec<Record> = run.into();
        for length in 1..records.len() {
            let cut = Run::try_from(records[..length].to_vec()).unwrap();
            let paid = cut.events().filter_map(|event| event.reply()).count();
            let rest = ScriptedModel::new(script(adapter).split_off(paid));
            let other = builder(adapter).model(rest).build().unwrap();
            let again = other.resume(cut).await.unwrap().finished().unwrap();
            assert_eq!(again.outputs, done.outputs, "{adapter} from {length}");
            assert_eq!(again.history, done.history, "{adapter} from {length}");
        }
        // A follow-up sees the answer, in whatever words the adapter has for it.
        model.push(script(adapter).swap_remove(1));
        model.push(script(adapter).swap_remove(2));
        let next = agent
            .call(values! { question: "And again?" })
            .history(&done.history)
            .await;
        assert!(next.unwrap().finished().unwrap().success(), "{adapter}");
        let seen: String = model.requests()[3]
            .prompt
            .iter()
            .map(|message| message.text() + "\n")
            .collect();
        assert!(
            seen.contains("They add up.") || seen.contains('3'),
            "{adapter}: {seen}"
        );
    }
}
