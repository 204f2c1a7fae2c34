//! Inputs from the command line: `name=value`, `name=@file`, `name=-`, `name=@@text`.

use std::io::Read as _;

use enact::signature::wrong_inputs;
use enact::{Signature, Values};
use serde_json::Value;

use super::picture;
use crate::exit::Failure;

/// The source of a value.
#[derive(Debug, PartialEq, Eq)]
enum Source<'a> {
    Text(&'a str),
    File(&'a str),
    Stdin,
}

/// Inputs that have not been read yet.
#[derive(Debug)]
pub(super) struct Inputs<'a> {
    sources: Vec<(&'a str, Source<'a>)>,
    /// The names of image inputs.
    images: Vec<String>,
}

/// Splits the inputs, and checks their names.
pub(super) fn check<'a>(given: &'a [String], signature: &Signature) -> Result<Inputs<'a>, Failure> {
    let mut sources: Vec<(&str, Source<'_>)> = Vec::new();
    let images = signature.inputs().iter();
    let images = images.filter(|field| picture::is_wanted(&field.ty));
    let images: Vec<String> = images.map(|field| field.name.clone()).collect();
    let is_image = |name: &str| images.iter().any(|known| known == name);
    let mut problems: Vec<String> = Vec::new();
    let mut add = |problem: String| {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    };
    for argument in given {
        let (name, source) = match parse(argument) {
            Ok(parsed) => parsed,
            Err(failure) => {
                add(failure.message);
                continue;
            }
        };
        if sources.iter().any(|(known, _)| *known == name) {
            add(format!("the input `{name}` is given twice: give it once"));
            continue;
        }
        if source == Source::Stdin && sources.iter().any(|(_, known)| *known == Source::Stdin) {
            let problem = "only one input can come from standard input: use `@file` for others";
            add(problem.to_owned());
        }
        sources.push((name, source));
    }
    for (name, source) in &sources {
        if let Source::Text(text) = source
            && is_image(name)
            && let Err(problem) = picture::of_text(name, text)
        {
            problems.push(problem);
        }
    }
    // Names are checked before anything is read: a mistyped name must not wait for input.
    let names = sources
        .iter()
        .map(|(name, _)| ((*name).to_owned(), Value::Null));
    let checked = signature.check_inputs(names.collect()).map_err(|error| {
        let texts = sources.iter().filter_map(|(name, source)| match source {
            Source::Text(text) if !is_image(name) => {
                Some(((*name).to_owned(), crate::secrets::redact(text).into()))
            }
            _ => None,
        });
        match wrong_inputs(signature, texts.collect()) {
            Some(problems) => error.with_wrong(problems),
            None => error,
        }
    });
    if let Err(error) = checked {
        problems.push(error.to_string());
    }
    match problems.as_slice() {
        [] => Ok(Inputs { sources, images }),
        problems => Err(wrong(problems.join("; "))),
    }
}

impl Inputs<'_> {
    /// Reads them. Every value except an image stays text here: the types of the signature define its
    /// meaning.
    pub(super) fn read(self) -> Result<Values, Failure> {
        let mut values = Values::new();
        for (name, source) in self.sources {
            let is_image = self.images.iter().any(|image| image == name);
            let value = match (is_image, source) {
                (true, Source::Text(text)) => picture::of_text(name, text).map_err(wrong)?,
                (true, source) => {
                    let (bytes, place) = load(name, &source)?;
                    picture::of_bytes(&bytes).map_err(|problem| {
                        wrong(format!("{place} for the input `{name}` {problem}"))
                    })?
                }
                (false, Source::Text(text)) => text.into(),
                (false, source) => text(name, &source)?.into(),
            };
            values.insert(name.to_owned(), value);
        }
        Ok(values)
    }
}

fn parse(argument: &str) -> Result<(&str, Source<'_>), Failure> {
    let Some((name, value)) = argument.split_once('=') else {
        let hint = match argument.contains("->") {
            true => "; the file of `--agent` contains the signature: leave it out",
            false => "",
        };
        return Err(wrong(format!(
            "`{argument}` is not an input: use name=value, or `--flag` for flags{hint}"
        )));
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(wrong(format!("`{argument}` has no name: use name=value")));
    }
    let source = match value.strip_prefix('@') {
        Some(literal) if literal.starts_with('@') => Source::Text(literal),
        Some("") => {
            return Err(wrong(format!(
                "`{name}=@` names no file: use `{name}=@FILE`, or `{name}=@@` for the text `@`"
            )));
        }
        Some(path) => Source::File(path),
        None if value == "-" => Source::Stdin,
        None => Source::Text(value),
    };
    Ok((name, source))
}

/// The bytes of a source, and its description.
fn load(name: &str, source: &Source<'_>) -> Result<(Vec<u8>, String), Failure> {
    let (bytes, place) = match source {
        Source::Text(text) => (Ok(text.as_bytes().to_vec()), "the text".to_owned()),
        Source::File(path) => (std::fs::read(path), format!("the file `{path}`")),
        Source::Stdin => {
            let mut bytes = Vec::new();
            let read = std::io::stdin().lock().read_to_end(&mut bytes);
            (read.map(|_| bytes), "standard input".to_owned())
        }
    };
    let bytes = bytes.map_err(|error| {
        wrong(format!(
            "{place} for the input `{name}` cannot be read: {error}"
        ))
    })?;
    Ok((bytes, place))
}

fn text(name: &str, source: &Source<'_>) -> Result<String, Failure> {
    let (bytes, place) = load(name, source)?;
    let mut text = String::from_utf8(bytes)
        .map_err(|_| wrong(format!("{place} for the input `{name}` is not UTF-8 text")))?;
    // Editors and `echo` add a final line break that is not part of the text.
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}

fn wrong(message: impl Into<String>) -> Failure {
    Failure::usage("input", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_apart() {
        for (argument, expected) in [
            ("q=a=b", ("q", Source::Text("a=b"))),
            ("q=", ("q", Source::Text(""))),
            ("q=@notes.txt", ("q", Source::File("notes.txt"))),
            ("q=@@me", ("q", Source::Text("@me"))),
            ("q=@@", ("q", Source::Text("@"))),
            ("q=-", ("q", Source::Stdin)),
            ("q=-5", ("q", Source::Text("-5"))),
        ] {
            assert_eq!(parse(argument).unwrap(), expected, "{argument}");
        }
        for bad in ["q", "=x", "q=@"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn mistakes_are_found_before_anything_is_read() {
        let signature = Signature::parse("question, text -> answer").unwrap();
        let problem = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(|&text| text.to_owned()).collect();
            check(&given, &signature).unwrap_err().message
        };
        assert!(problem(&["question=a", "question=b"]).contains("given twice"));
        let all = problem(&["k=1", "question=a", "question=b", "foo"]);
        for part in [
            "the input `question` is given twice",
            "`foo` is not an input",
            "missing input `text`",
            "unknown input `k`",
        ] {
            assert!(all.contains(part), "{part} in {all}");
        }
        assert!(problem(&["question=-", "text=-"]).contains("only one input"));
        assert!(problem(&["qestion=-", "text=x"]).contains("did you mean `question`?"));
        assert!(problem(&["question=x"]).contains("missing input `text`"));
        let signature = Signature::parse("question, k: int -> answer").unwrap();
        let given = ["k=many".to_owned(), "kk=1".to_owned()];
        assert_eq!(
            check(&given, &signature).unwrap_err().message,
            "missing input `question`; unknown input `kk`; wrong inputs: `k`: \
             expected an integer, got \"many\"; the signature is `question: str, k: int -> answer: \
             str`"
        );
    }
}
