//! The demonstration, without a terminal.

use crate::command::{Said, enact};

fn demo(stdin: &str) -> Said {
    let said = enact(["demo"]).stdin(stdin).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    for told in [
        "The replies of the model are recorded.",
        "✗ [4] Error executing read_file: there is no `invoices/umbrella.txt`",
        "repaired: `max_lines`: \"20\" → 20",
        "repaired: the call was written into the text",
        "← 1639.75",
        "? may write_file run with these arguments?",
        "\ntotal: 1639.75\n",
        "  - Globex\n",
        "--base-url http://localhost:11434/v1",
    ] {
        assert!(said.stdout.contains(told), "{told}: {}", said.stdout);
    }
    said
}

#[test]
fn yes_writes_the_report_and_shows_it() {
    let said = demo("yes\n");
    assert!(
        said.stdout.contains("The written file, report.md:"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("  │ # Invoices of May"),
        "{}",
        said.stdout
    );
    assert!(!said.stdout.contains("No one can answer"));
}

#[test]
fn no_writes_nothing() {
    let said = demo("no\n");
    assert!(
        said.stdout.contains("The user declined this call."),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("\nreport: null\n"), "{}", said.stdout);
    assert!(
        said.stdout.contains("No file was written."),
        "{}",
        said.stdout
    );
}

#[test]
fn nobody_means_yes_and_says_so() {
    let said = demo("");
    assert!(
        said.stdout.contains("No one can answer here."),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("The written file, report.md:"),
        "{}",
        said.stdout
    );
}

#[test]
fn feedback_reaches_the_report_and_edits_are_checked() {
    let said = demo("mention Umbrella twice\nyes\n");
    assert!(
        said.stdout.contains("  │ Note: mention Umbrella twice"),
        "{}",
        said.stdout
    );

    let said = demo("edit {\"path\": \nedit {\"path\": [1]}\nedit {\"path\": \"sub/r.md\"}\n");
    assert!(
        said.stdout.contains("the edit is not JSON"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("the edit cannot run: `path`"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains("→ instead: write_file(path=\"sub/r.md\""),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("The written file, sub/r.md:"),
        "{}",
        said.stdout
    );
}
