//! Secrets in the commands and addresses of servers. A run is stored with its servers, so that it can be
//! resumed, but without their secrets.

use std::ops::Range;

use enact::model::{REDACTED, Secrets};
use serde::Serializer;

use super::spotted::{is_secret, is_secret_flag, of_address, of_text};

/// Values of this length are redacted everywhere; a shorter one may be an ordinary word.
const LONG: usize = 16;

/// Whether a value is literal. A reference to a variable is not.
fn is_literal(value: &str) -> bool {
    let name = value.strip_prefix('$').unwrap_or_default();
    let is_shell_variable =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    !value.trim().is_empty() && !value.contains("${") && !is_shell_variable
}

/// The parts of a command that are secrets, or variables that stand for them.
fn secrets_of_words(words: &[String]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let before: Vec<&str> = words[..index].iter().rev().map(String::as_str).collect();
        if is_value(word, &before) {
            found.push((index, 0..word.len()));
            continue;
        }
        // The script of `sh -c` consists of words too.
        let is_script = before.first().is_some_and(|flag| {
            let letters = flag.strip_prefix('-').unwrap_or_default();
            letters.ends_with('c') && letters.chars().all(|c| c.is_ascii_lowercase())
        });
        let parts = of_text(word, is_script).into_iter();
        found.extend(parts.map(|part| (index, part)));
    }
    found
}

/// Whether a whole word is a secret, given the words before it, nearest first.
fn is_value(word: &str, before: &[&str]) -> bool {
    let mut before = before.iter().copied().skip_while(|word| *word == "--");
    let Some(mut last) = before.next().filter(|_| !word.starts_with('-')) else {
        return false;
    };
    // `--header Authorization: Bearer X`, without quotes.
    let is_scheme = matches!(&*last.to_ascii_lowercase(), "bearer" | "basic" | "token");
    if is_scheme {
        match before.next() {
            Some(name) if name.ends_with([':', '=']) => last = name,
            _ => return last.eq_ignore_ascii_case("bearer"),
        }
    } else if matches!(&*word.to_ascii_lowercase(), "bearer" | "basic") {
        return false;
    }
    match last.strip_suffix([':', '=']) {
        Some(name) => is_secret(name),
        None => is_secret_flag(last),
    }
}

/// The literal secrets in a command.
fn literals(words: &[String]) -> Vec<(usize, Range<usize>)> {
    let found = secrets_of_words(words).into_iter();
    found
        .filter(|(index, part)| is_literal(&words[*index][part.clone()]))
        .collect()
}

/// The index of the first argument with a secret.
pub(crate) fn argument_with_secret(args: &[String]) -> Option<usize> {
    literals(args).first().map(|(index, _)| *index)
}

/// Whether the query of an address contains a secret.
pub(crate) fn is_in_address(url: &str) -> bool {
    of_address(url)
        .into_iter()
        .any(|part| is_literal(&url[part]))
}

/// The stored form of a command: each secret is replaced by `[redacted]`.
pub(super) fn stored_command(command: &str) -> String {
    let Some(mut words) = shlex::split(command) else {
        return command.to_owned();
    };
    let found = literals(&words);
    if found.is_empty() {
        return command.to_owned();
    }
    // From the end, so that earlier positions stay valid.
    for (index, part) in found.into_iter().rev() {
        words[index].replace_range(part, REDACTED);
    }
    let words = words.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| REDACTED.to_owned())
}

/// The stored form of an address.
pub(super) fn stored_address(url: &str) -> String {
    let mut stored = url.to_owned();
    for part in of_address(url).into_iter().rev() {
        if is_literal(&url[part.clone()]) {
            stored.replace_range(part, REDACTED);
        }
    }
    stored
}

pub(crate) fn store_commands<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(list.iter().map(|one| stored_command(one)))
}

pub(crate) fn store_addresses<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(list.iter().map(|one| stored_address(one)))
}

/// The secrets with those of a command: a server may repeat its own.
pub(crate) fn add_command(secrets: Secrets, words: &[String]) -> Secrets {
    let found = secrets_of_words(words).into_iter();
    let found = found.map(|(index, part)| &words[index][part]);
    let secrets = found.fold(secrets, add_value);
    words.iter().fold(secrets, |secrets, word| {
        add_variables(secrets, word, is_secret)
    })
}

/// Adds the secrets in an address.
pub(super) fn add_address(secrets: Secrets, url: &str) -> Secrets {
    let found = of_address(url).into_iter().map(|part| &url[part]);
    add_variables(found.fold(secrets, add_value), url, is_secret)
}

/// Adds a value, or the values of the variables that stand for it.
fn add_value(secrets: Secrets, value: &str) -> Secrets {
    if !is_literal(value) {
        return add_variables(secrets, value, |_| true);
    }
    let value = value.trim();
    // `Bearer` is not part of the secret, and what follows it may not be one.
    let words = value.split_whitespace();
    let ends = [words.clone().next(), words.last(), Some(value)];
    ends.into_iter().flatten().fold(secrets, add_certain)
}

/// Adds the values of the variables in a text, as in `${NAME}`.
fn add_variables(secrets: Secrets, text: &str, is_meant: fn(&str) -> bool) -> Secrets {
    let values = variables_of(text)
        .filter(|name| is_meant(name))
        .filter_map(|name| std::env::var(name).ok());
    values.fold(secrets, |secrets, value| add_certain(secrets, value.trim()))
}

/// The names in `${NAME}`.
pub(super) fn variables_of(text: &str) -> impl Iterator<Item = &str> {
    let rests = text.split("${").skip(1);
    rests.filter_map(|rest| Some(rest.split_once('}')?.0))
}

fn add_certain(secrets: Secrets, value: &str) -> Secrets {
    let is_certain = value.len() >= LONG || value.chars().any(|c| !c.is_ascii_lowercase());
    if !is_certain {
        return secrets;
    }
    // A value that is too short to be redacted everywhere is still not stored.
    secrets.clone().with(value).unwrap_or(secrets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_secrets_of_commands_are_not_stored() {
        for (command, stored) in [
            ("npx server --token abc", "npx server --token '[redacted]'"),
            (
                "npx server --api-key=abc -v",
                "npx server '--api-key=[redacted]' -v",
            ),
            (
                "env GITHUB_TOKEN=abc npx x",
                "env 'GITHUB_TOKEN=[redacted]' npx x",
            ),
            (
                "npx mcp-remote https://a.example --header 'Authorization: Bearer abc'",
                "npx mcp-remote https://a.example --header 'Authorization: [redacted]'",
            ),
            (
                "uvx postgres postgresql://me:abc@db/x?sslmode=off",
                "uvx postgres 'postgresql://[redacted]@db/x?sslmode=off'",
            ),
            (
                "x --accessToken abc --pat def",
                "x --accessToken '[redacted]' --pat '[redacted]'",
            ),
        ] {
            assert_eq!(stored_command(command), stored);
            // What is stored looks the same when it is stored again.
            assert_eq!(stored_command(stored), stored);
        }
        for command in [
            "npx -y @modelcontextprotocol/server-memory",
            "npx server --token '${TOKEN}'",
            "env TOKEN=${TOKEN} npx x",
            "x --max-tokens 5 --token-limit 7 --key-file k.pem --token --verbose",
            "x 'open quote",
        ] {
            assert_eq!(stored_command(command), command);
        }
        assert_eq!(
            stored_address("https://a.example/mcp?api_key=abc&x=1&token=d"),
            "https://a.example/mcp?api_key=[redacted]&x=1&token=[redacted]"
        );
        assert_eq!(
            stored_address("https://a.example/?key=${K}"),
            "https://a.example/?key=${K}"
        );
    }

    #[test]
    fn truth_a_secret_is_found_wherever_it_stands_in_a_command() {
        for command in [
            "x --header='Authorization: Bearer hush'",
            "x --header='X-Api-Key:hush'",
            "x --header Authorization: Bearer hush",
            "x --header=Authorization:Bearer\\ hush",
            "x -H 'Authorization: Basic hush'",
            "x --env=API_KEY=hush",
            "x --env API_KEY=hush",
            "x --api-key='hush two hush'",
            "sh -c 'exec x --token hush'",
            "sh -c 'TOKEN=hush exec x'",
            "bash -lc 'exec x --token=\"hush\" -v'",
            "sh -c 'exec x --header \"Authorization: Bearer hush\" -v'",
            "sh -c \"exec x --password 'one hush' -v\"",
            "x --exec 'y --token hush -v'",
            "x '--config={\"token\":\"hush\"}'",
            "x --config '{\"a\": {\"apiKey\" : \"a\\\"hush\"}, \"b\": 1}'",
            "x --config '{\\\"token\\\":\\\"hush\\\"}'",
            "x --connection-string 'Server=x;Password=hush;'",
            "x --connection-string 'Server=x;Password=a;hush;Port=1'",
            "x 'host=a password=hush user=b'",
            "x https://h/x#access_token=hush",
            "x 'https://h/x?a=1&token=a,hush&b=2'",
            "x a://me:hush@h b://me:hush@h",
            "sh -c 'x a://h b://me:hush@h'",
            "x --jwt hush --pw hush --sessionid hush --access-key-id hush",
            "x --token -- hush",
            "x --Token:hush",
            "x --token: hush",
        ] {
            let stored = stored_command(command);
            assert!(!stored.contains("hush"), "{command}: {stored}");
            assert!(stored.contains(REDACTED), "{command}: {stored}");
            assert_eq!(stored_command(&stored), stored, "{command}");
        }
        // What is beside a secret stays.
        for (command, rest) in [
            ("sh -c 'exec x --token hush -v'", " -v"),
            (
                "x --connection-string 'Server=x;Password=hush;Port=1'",
                ";Port=1",
            ),
            ("x '--config={\"token\":\"hush\",\"b\":1}'", "\",\"b\":1}"),
        ] {
            let stored = stored_command(command);
            assert!(stored.contains(&format!("{REDACTED}{rest}")), "{stored}");
        }
        for command in [
            "x --max-tokens 5 --token-limit 5 --keyboard us --tokenizer cl100k",
            "x --max-tokens=5 --token-limit=5 --keyboard=us --tokenizer=cl100k",
            "x --config '{\"max_tokens\": 5, \"tokenizer\": \"a\", \"keyboard\": \"us\"}'",
            "docker run -i ghcr.io/a/mcp-auth:latest --host auth:8080",
            "sh -c 'exec x --token $TOKEN --pw \"$PW\"'",
            "x --config '{\"token\": \"${TOKEN}\"}'",
        ] {
            assert_eq!(stored_command(command), command);
        }
        assert_eq!(
            stored_address("https://h/x#access_token=hush"),
            "https://h/x#access_token=[redacted]"
        );
    }

    #[test]
    fn secrets_of_commands_are_hidden_everywhere_unless_they_may_be_words() {
        let command = ["x", "--token", "hush-hush-0123", "--key", "production"];
        let secrets = add_command(Secrets::new(), &command.map(str::to_owned));
        let secrets = add_address(secrets, "https://a.example/?token=Pa55word%21");
        let text = secrets.redact("hush-hush-0123, production, Pa55word%21");
        assert_eq!(text, "[redacted], production, [redacted]");
    }
}
