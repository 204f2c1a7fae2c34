//! Two reports side by side.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::bench::{Bench, doubles, number};
use crate::command::enact;

#[test]
fn two_reports_side_by_side() {
    let bench = Bench::doubling(0..4);
    let good = TestServer::answering_blocking(doubles);
    let worse = TestServer::answering_blocking(|received| match number(received) {
        2 => Turn::call("submit", json!({"answer": 5})),
        _ => doubles(received),
    });
    let (old, new, html) = (
        bench.name("old.json"),
        bench.name("new.json"),
        bench.name("both.html"),
    );
    for (server, json, results) in [(&worse, &old, "a.jsonl"), (&good, &new, "b.jsonl")] {
        let results = bench.name(results);
        let said = bench
            .eval(server, ["--json", json, "--results", &results])
            .said();
        assert_eq!(said.code, 0, "{said:?}");
    }
    let said = enact(["eval", "compare", &old, &new, "--html", &html]).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    let lines: Vec<&str> = said.stdout.lines().collect();
    assert!(
        lines[0].ends_with("old          new   difference"),
        "{}",
        lines[0]
    );
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["accuracy", "75.0", "%", "100.0", "%", "+25.0", "%"]
    );
    assert!(
        said.stdout.contains("1 passed only in the second: n2"),
        "{said:?}"
    );
    assert!(
        said.stdout.contains("4 examples in common · p = 1.0000"),
        "{said:?}"
    );
    let page = bench.read("both.html");
    assert!(page.contains("Passed only in the second: 1") && page.contains("n2"));

    let said = enact(["eval", "compare", &old, &bench.name("numbers.jsonl")]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("is not a report"), "{said:?}");
}

#[test]
fn a_quiet_evaluation_prints_the_report_alone() {
    let bench = Bench::doubling(0..2);
    let server = TestServer::answering_blocking(doubles);
    let loud = bench.eval(&server, []).said();
    assert!(loud.stderr.contains("2/2 "), "{loud:?}");
    let quiet = bench.eval(&server, ["--quiet", "--fresh"]).said();
    assert_eq!((quiet.code, quiet.stderr.as_str()), (0, ""), "{quiet:?}");
    assert!(quiet.stdout.contains("accuracy"), "{quiet:?}");
}
