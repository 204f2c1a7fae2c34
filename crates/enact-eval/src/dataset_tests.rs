use enact_core::values;

use super::*;

fn read_with(text: &str, metric: &Metric) -> Result<Dataset, Vec<String>> {
    let signature = Signature::parse("question, k: int = 3 -> answer: int, note").unwrap();
    read_as(text, &signature, metric, &Columns::default(), false)
}

fn read_as(
    text: &str,
    signature: &Signature,
    metric: &Metric,
    columns: &Columns,
    is_csv: bool,
) -> Result<Dataset, Vec<String>> {
    let reading = Reading {
        signature,
        metric,
        has_judge: false,
        columns,
    };
    let read = match is_csv {
        true => Dataset::read_csv(text, &reading),
        false => Dataset::read(text, &reading),
    };
    read.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

fn columns(inputs: &[&str], outputs: &[&str]) -> Columns {
    let side = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect();
    Columns {
        inputs: side(inputs),
        outputs: side(outputs),
    }
}

#[test]
fn flat_lines_and_rows_are_the_same_examples() {
    let signature = Signature::parse("question, k?: int -> answer: int, tags: list[str]").unwrap();
    let usual = Columns::default();
    let lines = "{\"question\": \"6 * 7?\", \"k\": 2, \"answer\": 42}\n\
                 {\"id\": \"b\", \"question\": \"007\", \"tags\": [\"x\"], \"metric\": \"contains\"}";
    let rows =
        "question,k,answer,id,tags,metric\n6 * 7?,2,42,,,\n007,,,b,\"[\"\"x\"\"]\",contains\n";
    let of_lines = read_as(lines, &signature, &Metric::Exact, &usual, false).unwrap();
    let of_rows = read_as(rows, &signature, &Metric::Exact, &usual, true).unwrap();
    let [first, second] = of_lines.examples() else {
        panic!("{of_lines:?}")
    };
    assert_eq!(first.inputs, values! { question: "6 * 7?", k: 2 });
    assert_eq!(
        first.expected,
        Some((values! { answer: 42 }, Metric::Exact))
    );
    assert_eq!(second.inputs["question"], "007");
    assert_eq!(second.expected.as_ref().unwrap().0, values! { tags: ["x"] });
    assert_eq!(of_rows.examples()[0].inputs, first.inputs);
    assert_eq!(of_rows.examples()[0].expected, first.expected);
    assert_eq!(of_rows.examples()[0].id, "2");
    assert_eq!(of_rows.examples()[1], *second);
}

#[test]
fn columns_are_named_and_renamed_and_others_left_out() {
    let signature = Signature::parse("question -> answer").unwrap();
    let named = columns(&["question=prompt"], &["answer"]);
    let lines = r#"{"prompt": "6 * 7?", "answer": "42", "source": "me", "inputs": "x"}"#;
    let rows = "source,prompt,answer\nme,6 * 7?,42\n";
    for (text, is_csv) in [(lines, false), (rows, true)] {
        let dataset = read_as(text, &signature, &Metric::Exact, &named, is_csv).unwrap();
        let example = &dataset.examples()[0];
        assert_eq!(example.inputs, values! { question: "6 * 7?" });
        let expected = values! { answer: "42" };
        assert_eq!(example.expected.as_ref().unwrap().0, expected);
    }
}

#[test]
fn wrong_flat_examples_are_told_with_their_line() {
    let signature = Signature::parse("question, k?: int -> answer: int").unwrap();
    let usual = Columns::default();
    let problems = |text: &str, columns: &Columns, is_csv| {
        read_as(text, &signature, &Metric::Exact, columns, is_csv).unwrap_err()
    };
    let told = problems(
        "{\"question\": \"?\", \"anwser\": 1}\n{\"question\": \"?\"}\n{\"answer\": 1}",
        &usual,
        false,
    );
    assert!(
        told[0].contains("line 1: `anwser` is not known here: did you mean `answer`"),
        "{told:?}"
    );
    assert!(told[1].contains("line 2: nothing is expected"), "{told:?}");
    assert!(
        told[2].contains("line 3: missing input `question`"),
        "{told:?}"
    );
    let told = problems("question,answer\n?,many\na,b,c\n,1\n", &usual, true);
    assert!(
        told[0].contains("line 2: wrong `expected`: `answer`"),
        "{told:?}"
    );
    assert!(
        told[1].contains("line 3: the row has 3 cells, and the header 2"),
        "{told:?}"
    );
    assert_eq!(told.len(), 2, "an empty text is a text: {told:?}");
    let told = problems(
        "question,answer\n?,1\n",
        &columns(&["question=prompt"], &[]),
        true,
    );
    assert!(
        told[0].contains("line 2: there is no `prompt` here"),
        "{told:?}"
    );
    let told = problems(
        "{\"question\": 1}",
        &columns(&["prompt"], &["answer"]),
        false,
    );
    assert!(told[0].contains("there is no `prompt` here"), "{told:?}");
    assert!(problems("a,a\n1,2", &usual, true)[0].contains("two columns"));
    assert!(problems("question,answer\n", &usual, true)[0].contains("no example"));
}

fn read(text: &str) -> Result<Dataset, Vec<String>> {
    read_with(text, &Metric::Exact)
}

#[test]
fn lines_are_examples() {
    let dataset = read(
        "\u{feff}{\"inputs\": {\"question\": \"6 * 7?\"}, \"expected\": {\"answer\": \"42\"}}\n\
         \n\
         {\"id\": \"b\", \"inputs\": {\"question\": \"?\", \"k\": \"5\"}, \"termination\": \"max_iterations\"}\r\n\
         {\"id\": 7, \"inputs\": {\"question\": \"?\"}, \"expected\": {\"note\": \"x\"}, \"metric\": \"contains\"}",
    )
    .unwrap();
    let [first, second, third] = dataset.examples() else {
        panic!("{dataset:?}");
    };
    assert_eq!(first.id, "1");
    assert_eq!(first.inputs, values! { question: "6 * 7?", k: 3 });
    assert_eq!(
        first.expected,
        Some((values! { answer: 42 }, Metric::Exact))
    );
    assert_eq!((second.id.as_str(), &second.inputs["k"]), ("b", &5.into()));
    assert_eq!(second.termination, Some(TerminationReason::MaxIterations));
    assert_eq!(third.id, "7");
    assert_eq!(third.expected.as_ref().unwrap().1, Metric::Contains);
}

#[test]
fn all_that_is_wrong_is_told_with_its_line() {
    let problems = read(
        "nonsense\n\
         [1]\n\
         {\"expected\": {\"answer\": 1}}\n\
         {\"inputs\": {\"qestion\": \"?\"}, \"expected\": {\"answer\": \"many\", \"sum\": 1}}\n\
         {\"id\": \"a\", \"inputs\": {\"question\": \"?\"}, \"expected\": {\"answer\": 1}}\n\
         {\"id\": \"a\", \"inputs\": {\"question\": \"?\"}, \"expect\": {\"answer\": 1}}\n\
         {\"inputs\": {\"question\": \"?\"}, \"termination\": \"sucess\"}\n\
         {\"inputs\": {\"question\": \"?\"}, \"metric\": \"exact\"}\n\
         {\"inputs\": {\"question\": \"?\"}}\n\
         {\"inputs\": {\"question\": \"?\"}, \"expected\": {\"answer\": 1}, \"metric\": \"judge\"}\n\
         {\"inputs\": {\"question\": \"?\", \"k\": \"x\"}, \"expected\": []}",
    )
    .unwrap_err();
    let told = [
        ("line 1: not JSON", ""),
        ("line 2: not a JSON object", ""),
        ("line 3: `inputs` are missing", ""),
        (
            "line 4: missing input `question`",
            "did you mean `question`?",
        ),
        ("line 4: wrong `expected`: `answer`", "an integer"),
        ("line 4: `expected` names `sum`", "answer, note"),
        ("line 6: `expect` is not known", "expected"),
        ("line 6: the id `a` is that of line 5", ""),
        ("line 7: `termination`", "max_iterations"),
        ("line 8: there is a `metric`", ""),
        ("line 9: nothing is expected", ""),
        ("line 10: the metric `judge` needs a model", "--judge"),
        ("line 11: wrong inputs: `k`", "an integer"),
        ("line 11: `expected` is not an object", ""),
    ];
    assert_eq!(problems.len(), told.len(), "{problems:#?}");
    for (problem, (begin, holds)) in problems.iter().zip(told) {
        assert!(problem.starts_with(begin), "{problem}");
        assert!(problem.contains(holds), "{problem}");
    }
}

#[test]
fn nothing_is_no_dataset() {
    assert!(read("\n\n").unwrap_err()[0].contains("no example"));
}

#[test]
fn a_dataset_names_no_program() {
    let line = |metric: &str| {
        format!(
            "{{\"inputs\": {{\"question\": \"?\"}}, \"expected\": {{\"answer\": 1}}, \
             \"metric\": {metric}}}"
        )
    };
    let program = r#"{"command": {"program": "rm"}}"#;
    let command: Metric = program.parse().unwrap();
    for metric in [&Metric::Exact, &command] {
        let problems = read_with(&line(program), metric).unwrap_err();
        assert!(problems[0].contains("names no program"), "{problems:?}");
    }
    assert!(read(&line("\"command\"")).is_err());
    let dataset = read_with(&line("\"command\""), &command).unwrap();
    assert_eq!(dataset.examples()[0].expected.as_ref().unwrap().1, command);
}
