//! Datasets and commands that are wrong: nothing is run.

use enact_test_server::TestServer;
use serde_json::json;

use super::bench::{Bench, double, doubles};
use crate::command::{asking, enact};

#[test]
fn every_wrong_line_is_told_before_anything_runs() {
    let lines = [
        double(1, 2).to_string(),
        "nonsense".to_owned(),
        json!({"inputs": {"qestion": "?"}, "expected": {"answer": 1}}).to_string(),
        json!({"inputs": {"question": "?"}, "expected": {"answer": "many"}}).to_string(),
        json!({"inputs": {"question": "?"}, "termination": "done"}).to_string(),
        json!({"inputs": {"question": "?"}, "expected": {"answer": 1},
               "metric": {"command": {"program": "sh"}}})
        .to_string(),
    ];
    let bench = Bench::of_text(&lines.join("\n"));
    let server = TestServer::answering_blocking(doubles);
    let said = bench.eval(&server, []).said();
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said:?}");
    let told: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(told.len(), 6, "{told:#?}");
    for (line, (begin, words)) in told.iter().zip([
        ("line 2: ", "not JSON"),
        ("line 3: ", "did you mean `question`?"),
        ("line 4: ", "an integer"),
        ("line 5: ", "termination"),
        ("line 6: ", "names no program"),
        ("error: ", "5 problems"),
    ]) {
        assert!(line.starts_with(begin) && line.contains(words), "{line}");
    }
    assert!(server.requests().is_empty());
    assert!(!bench.path("numbers.results.jsonl").exists());
}

#[test]
fn wrong_commands_are_told_in_one_line() {
    let bench = Bench::doubling(0..1);
    std::fs::write(bench.path("prices.json"), r#"{"m": {"input": "dear"}}"#).unwrap();
    std::fs::write(bench.path("other.txt"), "my notes\n").unwrap();
    let server = TestServer::answering_blocking(doubles);
    let [prices, other, dataset] =
        ["prices.json", "other.txt", "numbers.jsonl"].map(|name| bench.name(name));
    let nowhere = bench.name("no/such/folder.json");
    for (args, words) in [
        (["--prices", &prices], "cannot be read"),
        (["--prices", &nowhere], "cannot be read"),
        (["--json", &nowhere], "doesn't exist"),
        (["--html", &dataset], "would be overwritten"),
        (["--results", &other], "no results file"),
        (["--metric", "judge"], "needs a model"),
        (["--tools", "nothing"], "nothing"),
    ] {
        let said = bench.eval(&server, args).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(words), "{said:?}");
    }
    for (args, words) in [
        (["--metric", "exakt"], "there is no metric `exakt`"),
        (["--min-accuracy", "90"], "from 0 to 1"),
        (["--concurrency", "0"], "0"),
    ] {
        let said = bench.eval(&server, args).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(words), "{said:?}");
    }
    let said = enact(["eval", "--model=m"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let said = enact([
        "eval",
        "no-such-file.jsonl",
        "--model=m",
        "--base-url=http://127.0.0.1:1",
    ])
    .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("cannot be read"), "{said:?}");
    assert!(server.requests().is_empty());
    assert_eq!(bench.read("other.txt"), "my notes\n");
}

#[test]
fn flat_lines_and_csv_are_evaluated() {
    let lines = "{\"question\": \"Double 1, please.\", \"answer\": 2}\n\
                 {\"question\": \"Double 2, please.\", \"answer\": 5}";
    let bench = Bench::of_text(lines);
    let server = TestServer::answering_blocking(doubles);
    let report = bench.name("report.json");
    let said = bench.eval(&server, ["--json", &report]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(bench.report("report.json")["accuracy"]["value"], 0.5);

    let csv = bench.name("numbers.csv");
    std::fs::write(&csv, "who,task,sum\nme,\"Double 3, please.\",6\n").unwrap();
    let (report, store) = (bench.name("csv.json"), bench.name("runs.db"));
    let args = [
        "eval",
        &csv,
        "--inputs",
        "question=task",
        "--outputs",
        "answer=sum",
    ];
    let typed = [
        "--signature",
        "question -> answer: int",
        "--tools",
        "calculator",
    ];
    let said = asking(&server, args)
        .args(typed)
        .args(["--json", &report])
        .env("ENACT_STORE", &store)
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(bench.report("csv.json")["accuracy"]["value"], 1.0);

    // Without a signature, the columns are the fields.
    std::fs::write(&csv, "question,answer\n\"Double 3, please.\",6,7\n").unwrap();
    let said = asking(&server, ["eval", &csv, "--inputs", "mail"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.stderr.contains("line 2: the row has 3 cells"),
        "{said:?}"
    );
    std::fs::write(&csv, "question,answer\n\"Double 3, please.\",6\n").unwrap();
    let said = asking(&server, ["eval", &csv, "--inputs", "mail"]).said();
    assert!(said.stderr.contains("there is no `mail` here"), "{said:?}");
}
