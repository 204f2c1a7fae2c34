//! Types of one's own in an agent file.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::checked::problems;
use super::{asked, run, write};
use crate::place::Place;

const PEOPLE: &str = r#"
signature = "text -> people: list[Person](1..), day?: date"
model = "m"

[types]
Mood = '"good" | "bad"'

[types.Person]
name = { description = "As in the text." }
"age?" = "int(0..150)"
moods = { type = "list[Mood]", description = "What is said of it." }
home = "Place | None"

[types.Place]
city = "str"
"#;

#[test]
fn a_nested_record_is_extracted_by_a_file_alone() {
    let place = Place::new();
    let path = write(&place, "people.toml", PEOPLE);
    let right = json!({
        "people": [{"name": "Ada", "age": 36, "moods": ["good"], "home": {"city": "London"}}],
        "day": "2025-01-31",
    });
    let wrong = json!({
        "people": [{"name": "Ada", "age": 360, "moods": ["fine"]}],
        "day": "yesterday",
    });
    let server = TestServer::start_blocking([
        Turn::call("submit", wrong),
        Turn::call("submit", right.clone()),
    ]);
    let said = run(&place, &server, &path).args(["text=Ada, 36."]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"], right);

    let request = asked(&server, 0);
    let submit = request["tools"][0]["function"]["parameters"].clone();
    let person = &submit["properties"]["people"]["items"];
    assert_eq!(
        person["properties"]["name"]["description"],
        "As in the text."
    );
    assert_eq!(person["required"], json!(["name", "moods"]));
    assert_eq!(
        person["properties"]["moods"]["items"]["enum"],
        json!(["good", "bad"])
    );
    let told = asked(&server, 1)["messages"].to_string();
    for words in [
        "`people[0].moods[0]`: expected one of",
        "`day`: expected a date such as 2025-01-31",
        "`people[0].age`",
    ] {
        assert!(told.contains(words), "{words} in {told}");
    }
    server.assert_complete();
}

#[test]
fn types_that_are_wrong_are_told_where_they_are() {
    let told = problems(
        "signature = \"text -> a: Persn, b: Person\"\n\
         [types]\n\
         str = \"int\"\n\
         Mood = \"strr\"\n\
         Tree = \"list[Node]\"\n\
         Forest = \"list[Tree]\"\n\
         [types.Node]\n\
         tree = \"Tree\"\n\
         [types.Person]\n\
         mood = { type = \"list[Moood]\", about = \"x\" }\n",
    );
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].starts_with("10:32: unknown key `about`"),
        "{told:#?}"
    );
    let told = problems(
        "signature = \"text -> a: Persn, b: Person\"\n\
         [types]\n\
         str = \"int\"\n\
         Mood = \"strr\"\n\
         Tree = \"list[Node]\"\n\
         Forest = \"list[Tree]\"\n\
         Empty = {}\n\
         [types.Node]\n\
         tree = \"Tree\"\n\
         [types.Person]\n\
         mood = { type = \"list[Moood]\" }\n",
    );
    let wanted = [
        ("1:25: ", "unknown type `Persn`, did you mean `Person`?"),
        ("3:1: ", "`str` is taken"),
        ("4:9: ", "did you mean `str`?"),
        ("5:1: ", "the type `Tree` contains itself"),
        ("7:1: ", "an object needs a property"),
        ("8:8: ", "the type `Node` contains itself"),
        ("11:23: ", "did you mean `Mood`?"),
    ];
    assert_eq!(told.len(), wanted.len(), "{told:#?}");
    for (told, (place, words)) in told.iter().zip(wanted) {
        assert!(told.starts_with(place) && told.contains(words), "{told}");
    }
}
