//! Editing a text, and what a call would make of a file.

use super::*;

#[test]
fn a_text_that_is_there_once_is_replaced() {
    let fixture = Fixture::new();
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "old_text": old, "new_text": new});
    let done = fixture.call("edit_file", edit("two\n", "2\nand a half\n"));
    assert_eq!(done.unwrap(), "edited `a.txt` (23 bytes)");
    let text = || fs::read_to_string(fixture.inner().join("a.txt")).unwrap();
    assert_eq!(text(), "one\n2\nand a half\nthree\n");
    for (old, new, told) in [
        (
            "four",
            "4",
            "`old_text` is not in `a.txt`: read the file again",
        ),
        ("e\n", "x", "`old_text` is in `a.txt` 2 times: add lines"),
        ("", "x", "`old_text` is empty"),
        ("one", "one", "are the same"),
    ] {
        let error = fixture.error("edit_file", edit(old, new));
        assert!(error.contains(told), "{error}");
    }
    assert_eq!(text(), "one\n2\nand a half\nthree\n");
    fs::write(fixture.inner().join("a.txt"), "aaa").unwrap();
    let error = fixture.error("edit_file", edit("aa", "b"));
    assert!(error.contains("2 times"), "{error}");
    for (path, told) in [
        ("none.txt", "there is no `none.txt`"),
        ("picture.bin", "a binary file"),
        ("notes", "is a folder"),
    ] {
        let args = json!({"path": path, "old_text": "a", "new_text": "b"});
        let error = fixture.error("edit_file", args);
        assert!(error.contains(told), "{error}");
    }
    let spec = fixture.files.edit_file().spec().clone();
    assert_eq!(spec.confirmation, Confirmation::Always);
}

#[test]
fn a_change_is_known_before_it_is_made() {
    let fixture = Fixture::new();
    let change = |name: &str, args: Value| {
        let args = serde_json::from_value(args).unwrap();
        fixture.files.change(name, &args)
    };
    for (name, args, before, after) in [
        (
            "write_file",
            json!({"path": "new.txt", "content": "x"}),
            None,
            "x",
        ),
        (
            "write_file",
            json!({"path": "a.txt", "content": "x"}),
            Some("one\ntwo\nthree\n"),
            "x",
        ),
        (
            "append_file",
            json!({"path": "a.txt", "text": "four\n"}),
            Some("one\ntwo\nthree\n"),
            "one\ntwo\nthree\nfour\n",
        ),
    ] {
        let change = change(name, args).unwrap().unwrap();
        assert_eq!((change.before.as_deref(), &*change.after), (before, after));
    }
    assert_eq!(change("read_file", json!({"path": "a.txt"})).unwrap(), None);
    for (name, args) in [
        (
            "edit_file",
            json!({"path": "a.txt", "old_text": "x", "new_text": "y"}),
        ),
        ("write_file", json!({"path": "picture.bin", "content": "x"})),
        ("append_file", json!({"path": "a.txt"})),
    ] {
        assert!(change(name, args.clone()).is_err(), "{name} {args}");
    }
    assert!(!fixture.inner().join("new.txt").exists());
}
