//! A reply in words is an answer, or says what the model is about to do. Both sides, as models write
//! them: to take an announcement gives a useless answer, to refuse an answer costs a request.

use enact::adapter::{AdapterChoice, Native};
use enact::model::{ScriptStep, call, say};
use enact::{FnTool, Outcome, TerminationReason, ToolError, Tools, values};
use serde_json::json;

use super::submitting::{adapters, written};
use crate::{Played, agent};

const ANSWERS: &[&str] = &[
    "Paris. Let me know if you'd like me to check another city.",
    "We should use Postgres.",
    "I would try restarting the router.",
    "Decisions:\n- We ship on Friday.\n\nAction: Bob sends the report\nAction: Ann books the room",
    "I can use these:\n- calculator(expression): evaluates an expression\n- web_search(query): searches the web",
    "These tools exist:\n* `read_file(path)` - reads a file\n* `write_file(path, text)` - writes one",
    "5",
    "Paris",
    "The result is 397.8.",
    "Let me calculate: 17% of 2340 is 397.8.",
    "Let me calculate. 0.17 × 2340 = 397.8",
    "Let's add them up: 2 + 3 = 5",
    "I'll compute it: 12 * 12 = 144.",
    "Using the calculator, 2+3 is 5.",
    "I used the calculator: 2+3 is 5.",
    "I searched for it, and the population of Paris is 2.1 million.",
    "I will not be able to answer. There are no data for 2031.",
    "I couldn't find the file. Please tell me its path, and I will read it.",
    "Which file do you mean? Once you tell me its name, I'll read it.",
    "Should I delete the file?",
    "Would you like me to search for hotels as well?",
    "The weather in Oslo is 4 °C. If you want, I'll check Bergen, too.",
    "I'll be happy to help if there is anything else!",
    "I need more information: which city is it?",
    "I'll need your account number.",
    "You should use the stairs.",
    "We need to update the dependency to 2.0, because 1.x has a hole.",
    "I should add that the museum is closed on Mondays.",
    "Let me add that the museum is closed on Mondays.",
    "He said: \"I will call you tomorrow.\"",
    "She closes with the words \"It is late. I will check it in the morning.\"",
    "Dear Ann,\n\nthank you for your letter. I will send the report by Friday.\n\nYours,\nBo",
    "Hi Bob, I'll send you the report.",
    "Searching for Bobby Fischer",
    "I'll Find You",
    "Let's Call the Whole Thing Off",
    "Checking account",
    "Running is good for your heart.",
    "Calling the API twice is the cause of the double charge.",
    "Reading the file failed: permission denied.",
    "Checking the numbers, the total comes to 45 euros.",
    "Adding an index to `orders.customer_id`.",
    "I look forward to hearing from you.",
    "I'll get back to work on Monday, said the minister.",
    "Open a terminal and run `cargo test`. You will see three failures.",
    "The next step is to verify your e-mail address.",
    "Our plan has three parts. First we write the parser, then we test it, and then we ship.",
    "The action: drama, with a little comedy.",
    "To find the square root, I'd start with a guess, which is then improved.",
    "I can check another city or convert the temperature to Fahrenheit.",
    "He is running for office.",
    "No.",
];

const ANNOUNCEMENTS: &[&str] = &[
    "I'll create the file now.",
    "I will write the notes to notes.txt.",
    "Let me verify that.",
    "I'll search for that now. One moment please.",
    "Searching for the population of Paris…",
    "Calling calculator with 2+3.",
    "I will now use the calculator to compute 2+3.",
    "To answer this, I need to find the population of Paris first.",
    "Let me check that.",
    "The question asks for 17% of 2340. Let's use the calculator:",
    "First, I'll search for it…",
    "I should call `calculator` with 2+3",
    "Sure, I'll look that up for you.",
    "Sure! Let me look up the current weather in Paris.",
    "I’ll check the weather in Oslo for Friday.",
    "I am going to multiply 17 by 23.",
    "I'm going to delete the temporary files.",
    "I need to send an e-mail to Bob.",
    "I'll start by reading the configuration file.",
    "Let me begin by listing the files.",
    "Now I will analyze the results.",
    "Next, I'll review the second document.",
    "Okay, let me fetch the page.",
    "I'll go ahead and update the record.",
    "Let me take a look at the logs.",
    "Let me double-check the numbers.",
    "I'll save this to a file.",
    "I will add the two numbers.",
    "The file does not exist yet, so I will create it.",
    "I found two candidates. Let me compare them.",
    "I have the first half. I'll now get the second one.",
    "Let me use the web_search tool to find out.",
    "I should use web_search for this.",
    "We need to search for the population first.",
    "My next step is to query the database.",
    "Let me try again.",
    "I'll try a different query.",
    "Let's see what the calculator says.",
    "Let me think about this step by step.",
    "Looking up the weather in Paris...",
    "I'm checking the weather now.",
    "I am currently searching the web for it.",
    "Fetching the page… please wait.",
    "Reading the file, one moment.",
    "Now reading notes.txt.",
    "Using the calculator tool.",
    "I'll run the calculation. This may take a few seconds.",
    "I will look into it. Thank you for your patience!",
    "I'll search the web for it. I'll let you know what I find.",
    "**I will check the calendar.**",
    "I will submit the answer.",
    "Please wait.",
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    #[expect(dead_code, reason = "the tools of this table are never called")]
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Expression {
    #[expect(dead_code, reason = "the tools of this table are never called")]
    expression: String,
}

fn tools() -> Tools {
    let calculator = FnTool::new("calculator", "Calculates.", |_: Expression, _| async {
        Ok::<_, ToolError>("5")
    });
    let names = [
        "web_search",
        "read_file",
        "write_file",
        "get_weather",
        "send_email",
    ];
    let tool = |name: &str| {
        FnTool::new(name, "Does it.", |_: Text, _| async {
            Ok::<_, ToolError>("done")
        })
    };
    let tools = names.into_iter().map(tool);
    tools.fold(Tools::new().with(calculator), Tools::with)
}

fn play(script: impl IntoIterator<Item = ScriptStep>) -> Played {
    agent("question -> answer", tools(), script)
}

#[tokio::test]
async fn truth_answers_and_announcements_are_told_apart() {
    assert!(ANSWERS.len() >= 40 && ANNOUNCEMENTS.len() >= 40);
    let mut wrong = Vec::new();
    for (texts, is_answer) in [(ANSWERS, true), (ANNOUNCEMENTS, false)] {
        for text in texts {
            let played = play([say(*text), call("submit", json!({"answer": "submitted"}))]);
            let done = played.agent.call(values! { question: "q" }).await;
            played.model.abandon();
            let done = done.unwrap().finished().unwrap();
            assert!(done.success(), "{text}");
            let expected = if is_answer { *text } else { "submitted" };
            if done.outputs["answer"] != expected {
                wrong.push(format!("is an answer: {is_answer}: {text}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn truth_answers_in_words_end_a_run_in_every_adapter() {
    for adapter in adapters() {
        let mut wrong = Vec::new();
        // Where calls are labelled so, `Action:` is one.
        let is_form = |text: &str| adapter.name() == "tagged" && text.contains("\nAction:");
        for text in ANSWERS.iter().filter(|text| !is_form(text)) {
            let add = written(&adapter, "calculator", &json!({"expression": "2+3"}));
            let played = play([add, say(*text)]).map(|agent| agent.adapter(adapter.clone()));
            let done = played.agent.call(values! { question: "q" }).await;
            let is_answer = matches!(&done, Ok(Outcome::Finished(done))
                if done.success() && done.outputs["answer"] == *text);
            if !is_answer {
                played.model.abandon();
                wrong.push(*text);
            }
        }
        assert!(wrong.is_empty(), "{adapter}: {wrong:#?}");
    }
}

#[tokio::test]
async fn truth_without_tools_words_are_the_answer() {
    for text in ANSWERS.iter().chain(&[
        "I'll create the file now.",
        "I will write to you soon.",
        "Let me verify that.",
        "Searching for survivors…",
        "I'll search for you, wherever you are.",
    ]) {
        let played = agent("question -> answer", Tools::new(), [say(*text)]);
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], *text);
    }
    // To name the only tool is no answer.
    let played = agent(
        "question -> answer",
        Tools::new(),
        [
            say("I will now call `submit`."),
            call("submit", json!({"answer": "5"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "5");
}

#[tokio::test]
async fn truth_an_answer_that_is_repeated_after_a_reminder_is_taken() {
    // Each could be an announcement.
    for (first, again) in [
        (
            "I will check the oil every 5,000 km.",
            "I will check the oil every 5,000 km.",
        ),
        (
            "Let's update the plan every week.",
            "As I said: let's update the plan every week.",
        ),
        ("I am going to send it back.", "I am going to send it back!"),
    ] {
        for adapter in [AdapterChoice::Auto, Native.into()] {
            let played = play([say(first), say(again)]).map(|agent| agent.adapter(adapter));
            let done = played.call(values! { question: "q" }).await;
            assert_eq!(done.outputs["answer"], again);
            assert!(done.success());
        }
    }
}

#[tokio::test]
async fn truth_words_are_the_answer_if_nothing_better_comes() {
    let look = |query: &str| call("web_search", json!({"text": query}));
    let texts = [
        "I will check the oil every month.",
        "I'll test the brakes, too.",
        "Let's review the tyres after that.",
        "I need to send it back in the end.",
        "I am going to compare the prices first.",
    ];
    // The demand, the extraction, and three repairs of it.
    let script = [look("a"), look("b")].into_iter().chain(texts.map(say));
    let played = play(script).map(|agent| agent.max_iterations(2));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], texts[4]);
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    // Said twice, it is taken at once.
    let script = [look("a"), look("b"), say(texts[0]), say(texts[0])];
    let played = play(script).map(|agent| agent.max_iterations(2));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], texts[0]);
}
