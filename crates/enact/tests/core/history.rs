//! Follow-up turns, and transcripts from and to elsewhere.

use enact::model::{Message, call};
use enact::run::Entry;
use enact::{History, values};
use serde_json::{Value, json};

use super::{agent, search_and_add};

#[tokio::test]
async fn dspy_multi_turn_reuse_of_history_has_two_inputs_and_the_final_answer() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "weather"})),
            call("submit", json!({"answer": "68 F"})),
            call("submit", json!({"answer": "20 C"})),
        ],
    );
    let first = played
        .call(values! { question: "Weather in Paris, in F?" })
        .await;
    let outcome = played
        .agent
        .call(values! { question: "Convert that number to C." })
        .history(&first.history)
        .await
        .unwrap();
    let second = outcome.finished().unwrap();
    assert_eq!(second.outputs["answer"], "20 C");
    let inputs = |entry: &&Entry| matches!(entry, Entry::Inputs { .. });
    assert_eq!(second.history.entries().iter().filter(inputs).count(), 2);
    // The second turn begins with all that was sent and answered in the first.
    let requests = played.model.requests();
    let last_of_first: Vec<&Message> = requests[1].prompt.iter().collect();
    let second_turn: Vec<&Message> = requests[2].prompt.iter().collect();
    assert_eq!(&second_turn[..last_of_first.len()], &last_of_first[..]);
    let said = format!("{second_turn:?}");
    assert!(said.contains("68 F") && said.contains("Weather in Paris"));
    // Ids stay apart over the whole conversation.
    assert!(
        second
            .history
            .entries()
            .starts_with(first.history.entries())
    );
    // The trajectory tells of this turn only.
    assert_eq!(second.trajectory().steps().len(), 1);
}

#[tokio::test]
async fn dspy_continuation_omits_earlier_inputs_from_the_last_message() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let _ = played.call(values! { question: "the question" }).await;
    let second = &played.model.requests()[1];
    let texts: Vec<String> = second.prompt.iter().map(Message::text).collect();
    assert_eq!(
        texts
            .iter()
            .filter(|text| text.contains("the question"))
            .count(),
        1
    );
    assert!(!texts.last().unwrap().contains("the question"));
}

#[tokio::test]
async fn dspy_ex_an_empty_history_is_the_same_as_none() {
    let script = || [call("submit", json!({"answer": "a"}))];
    let without = agent("question -> answer", search_and_add(), script());
    let _ = without.call(values! { question: "q" }).await;
    let with = agent("question -> answer", search_and_add(), script());
    let _ = with
        .agent
        .call(values! { question: "q" })
        .history(&History::new())
        .await
        .unwrap();
    assert_eq!(
        without.model.requests()[0].prompt,
        with.model.requests()[0].prompt
    );
}

fn chat() -> Vec<Value> {
    vec![
        json!({"role": "system", "content": "Be kind."}),
        json!({"role": "user", "content": [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        ]}),
        json!({"role": "assistant", "content": "Let me see.", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}},
            {"id": "b", "type": "function", "function": {"name": "look", "arguments": "{\"at\":2}"}},
        ]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "a cat"}),
        json!({"role": "tool", "tool_call_id": "b", "content": "a dog"}),
        json!({"role": "assistant", "content": "A cat and a dog."}),
    ]
}

#[test]
fn chat_messages_round_trip() {
    let history = History::from_chat_messages(&chat()).unwrap();
    assert_eq!(history.entries().len(), 5);
    assert_eq!(history.to_chat_messages(), chat());
}

#[tokio::test]
async fn an_imported_conversation_stands_before_the_current_turn() {
    let history = History::from_chat_messages(&chat()).unwrap();
    for adapter in ["chat", "json", "xml", "tagged", "native"] {
        let played = agent(
            "question -> answer",
            search_and_add(),
            [call("submit", json!({"answer": "a"}))],
        );
        played.model.abandon();
        let choice: enact::AdapterChoice = adapter.parse().unwrap();
        let agent = played
            .builder
            .adapter(choice)
            .max_repairs(0)
            .build()
            .unwrap();
        let _ = agent
            .call(values! { question: "And now?" })
            .history(&history)
            .await;
        let texts: Vec<String> = played.model.requests()[0]
            .prompt
            .iter()
            .map(Message::text)
            .collect();
        let all = texts.join("\n");
        let cat = all.find("a cat").expect("the observation is there");
        assert!(cat < all.find("And now?").unwrap(), "{adapter}: {all}");
    }
}

#[test]
fn dspy_ex_invalid_messages_are_named_with_their_index() {
    for (messages, index, needle) in [
        (
            vec![
                json!({"role": "user", "content": "x"}),
                json!({"content": "x"}),
            ],
            1,
            "role",
        ),
        (vec![json!({"role": "robot", "content": "x"})], 0, "robot"),
        (vec![json!({"role": "user", "content": 3})], 0, "content"),
        (
            vec![json!({"role": "tool", "tool_call_id": "x", "content": "y"})],
            0,
            "x",
        ),
        (chat()[..4].to_vec(), 3, "no answer"),
    ] {
        let error = History::from_chat_messages(&messages).unwrap_err();
        assert_eq!(error.index(), Some(index), "{error}");
        assert!(error.to_string().contains(needle), "{error}");
    }
}

#[tokio::test]
async fn the_flat_trajectory_of_dspy_can_be_imported() {
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})).thinking("Look."),
            call("add", json!({"a": 1, "b": 2})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let mut flat = done.trajectory().flat();
    let history = History::from_flat_trajectory(values! { question: "q" }, &flat).unwrap();
    let Entry::Results { results } = &history.entries()[4] else {
        panic!("results")
    };
    assert_eq!(results[0].observation.value, 3);
    assert_eq!(
        History::from_flat_trajectory(
            values! { question: "q" },
            &done.trajectory().flat_reasoning()
        ),
        Ok(history)
    );
    flat.insert("tool_args_1".into(), json!("no object"));
    let error = History::from_flat_trajectory(values! { question: "q" }, &flat).unwrap_err();
    assert!(error.to_string().contains("tool_args_1"), "{error}");
}

#[test]
fn truth_a_gap_in_a_flat_trajectory_is_an_error_that_names_it() {
    let step = |index: usize| {
        [
            (format!("thought_{index}"), json!("hm")),
            (format!("tool_name_{index}"), json!("search")),
            (format!("tool_args_{index}"), json!({"query": index})),
            (format!("observation_{index}"), json!("found")),
        ]
    };
    let import = |map: enact::Values| History::from_flat_trajectory(values! { q: "q" }, &map);
    let whole: enact::Values = (0..4).flat_map(step).collect();
    assert_eq!(import(whole.clone()).unwrap().entries().len(), 9);
    assert_eq!(import(values! {}).unwrap().entries().len(), 1);
    for (missing, wrong) in [
        ("tool_name_1", 1),
        ("tool_name_0", 0),
        // A thought after the last step, which would be dropped.
        ("tool_name_3", 3),
    ] {
        let mut map = whole.clone();
        map.shift_remove(missing);
        let error = import(map).unwrap_err();
        assert!(error.to_string().contains(missing), "{error}");
        assert_eq!(error.index(), Some(wrong));
    }
    let later: enact::Values = [0, 2].into_iter().flat_map(step).collect();
    let said = import(later).unwrap_err().to_string();
    assert!(said.contains("`tool_name_1` is missing"), "{said}");
    for unknown in ["tool_nmae_1", "tool_name_01", "answer", "tool_name_-1"] {
        let mut map = whole.clone();
        map.insert(unknown.to_owned(), json!("x"));
        let said = import(map).unwrap_err().to_string();
        assert!(
            said.contains(&format!("`{unknown}` is not a key")),
            "{said}"
        );
    }
    let mut map = whole;
    map.insert("thought_2".to_owned(), json!(["hm"]));
    assert_eq!(import(map).unwrap_err().index(), Some(2));
}

#[tokio::test]
async fn call_ids_stay_apart_from_those_of_demonstrations_and_history() {
    let first = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = first.call(values! { question: "q" }).await;
    let second = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "y"})),
            call("submit", json!({"answer": "b"})),
        ],
    )
    .map(|agent| agent.demos(vec![enact::Demo::from(&done.history)]));
    let _ = second
        .agent
        .call(values! { question: "q" })
        .history(&done.history)
        .await
        .unwrap();
    let request = second.model.requests()[1].clone();
    let ids: Vec<String> = request
        .prompt
        .iter()
        .filter_map(|message| match message {
            Message::Assistant { calls, .. } => {
                Some(calls.iter().filter_map(|call| call.id.clone()))
            }
            _ => None,
        })
        .flatten()
        .filter(|id| id.starts_with("call_"))
        .collect();
    assert!(
        ids.contains(&"call_0_0".to_owned()) && ids.contains(&"call_2_0".to_owned()),
        "{ids:?}"
    );
}
