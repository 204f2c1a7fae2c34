//! Secrets in the commands and addresses of servers. A run is stored with its servers, so that it can be
//! resumed; their secrets are not stored with it.

use std::ops::Range;

use enact::model::{REDACTED, Secrets};
use serde::{Serialize, Serializer};

/// How the names of secrets end, in lower case and without separators.
const ENDINGS: [&str; 12] = [
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "key",
    "passphrase",
    "passwd",
    "password",
    "secret",
    "token",
];
/// Names of secrets that are too short to be looked for at the end of others.
const WHOLE: [&str; 4] = ["auth", "pass", "pat", "pwd"];
/// From here on a value is a secret wherever it occurs; a shorter one may be an ordinary word.
const LONG: usize = 16;

/// Whether the value of something with this name is a secret: `--api-key`, `GITHUB_TOKEN`, `Authorization`.
fn is_secret(name: &str) -> bool {
    let words = || name.split(|c: char| !c.is_alphanumeric());
    let plain: String = words().collect::<String>().to_lowercase();
    let last = words().rfind(|word| !word.is_empty());
    let last = last.unwrap_or_default().to_lowercase();
    ENDINGS.iter().any(|ending| plain.ends_with(ending)) || WHOLE.contains(&&*last)
}

/// The parts of a word that are secrets, given the word before it.
fn secrets_of_word(word: &str, before: Option<&str>) -> Vec<Range<usize>> {
    // A variable stands for its value, and is not the value.
    let literal = |at: Range<usize>| {
        let value = &word[at.clone()];
        (!value.is_empty() && !value.contains("${")).then_some(at)
    };
    let is_flag = |word: &str| word.starts_with('-') && !word.contains('=');
    if before.is_some_and(|before| is_flag(before) && is_secret(before)) && !word.starts_with('-') {
        return literal(0..word.len()).into_iter().collect();
    }
    // `NAME=value`, `--name=value`, and `Name: value` as headers are written.
    if let Some((at, _)) = word.match_indices(['=', ':']).next()
        && is_secret(&word[..at])
    {
        let value = &word[at + 1..];
        let start = word.len() - value.trim_start().len();
        return literal(start..word.len()).into_iter().collect();
    }
    secrets_of_address(word)
        .into_iter()
        .filter_map(literal)
        .collect()
}

/// The user and password of an address, and the secrets in its query.
fn secrets_of_address(word: &str) -> Vec<Range<usize>> {
    let Some(scheme) = word.find("://") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let host = scheme + 3;
    let end = word[host..].find(['/', '?', '#']);
    let end = end.map_or(word.len(), |end| host + end);
    if let Some(at) = word[host..end].rfind('@') {
        found.push(host..host + at);
    }
    let Some(query) = word[end..].find('?').map(|at| end + at + 1) else {
        return found;
    };
    let mut start = query;
    for pair in word[query..].split(['&', '#']) {
        if let Some((name, value)) = pair.split_once('=')
            && is_secret(name)
        {
            let value_start = start + name.len() + 1;
            found.push(value_start..value_start + value.len());
        }
        start += pair.len() + 1;
    }
    found
}

/// The secrets in the words of a command.
fn secrets_of_words(words: &[String]) -> Vec<(usize, Range<usize>)> {
    let mut found = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let parts = secrets_of_word(word, before.map(String::as_str));
        found.extend(parts.into_iter().map(|part| (index, part)));
    }
    found
}

/// The first argument that holds a secret, if one does.
pub(crate) fn argument_with_secret(args: &[String]) -> Option<usize> {
    secrets_of_words(args).first().map(|(index, _)| *index)
}

/// Whether an address holds a secret in its query.
pub(crate) fn is_in_address(url: &str) -> bool {
    let found = secrets_of_address(url).into_iter();
    found
        .map(|part| &url[part])
        .any(|value| !value.contains("${"))
}

/// A command as it is stored: `[redacted]` stands for each secret.
pub(super) fn stored_command(command: &str) -> String {
    let Some(mut words) = shlex::split(command) else {
        return command.to_owned();
    };
    let found = secrets_of_words(&words);
    if found.is_empty() {
        return command.to_owned();
    }
    // From the end, so that the places before stay where they are.
    for (index, part) in found.into_iter().rev() {
        words[index].replace_range(part, REDACTED);
    }
    let words = words.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| REDACTED.to_owned())
}

/// An address as it is stored.
pub(super) fn stored_address(url: &str) -> String {
    let mut stored = url.to_owned();
    for part in secrets_of_address(url).into_iter().rev() {
        if !url[part.clone()].contains("${") {
            stored.replace_range(part, REDACTED);
        }
    }
    stored
}

pub(super) fn store_commands<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    let stored: Vec<String> = list.iter().map(|one| stored_command(one)).collect();
    stored.serialize(to)
}

pub(super) fn store_addresses<S: Serializer>(list: &[String], to: S) -> Result<S::Ok, S::Error> {
    let stored: Vec<String> = list.iter().map(|one| stored_address(one)).collect();
    stored.serialize(to)
}

/// The secrets with those of commands and addresses: a server may repeat its own.
pub(super) fn add(secrets: Secrets, commands: &[String], urls: &[String]) -> Secrets {
    let mut values: Vec<String> = Vec::new();
    for words in commands.iter().filter_map(|command| shlex::split(command)) {
        let found = secrets_of_words(&words).into_iter();
        values.extend(found.map(|(index, part)| words[index][part].to_owned()));
    }
    for url in urls {
        let found = secrets_of_address(url).into_iter();
        values.extend(found.map(|part| url[part].to_owned()));
    }
    // `Bearer` is no part of the secret.
    let values = values
        .iter()
        .filter_map(|value| value.split_whitespace().last());
    let is_certain =
        |value: &&str| value.len() >= LONG || value.chars().any(|c| !c.is_ascii_lowercase());
    values.filter(is_certain).fold(secrets, |secrets, value| {
        // What is too short to be kept secret everywhere is not stored all the same.
        secrets.clone().with(value).unwrap_or(secrets)
    })
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
    fn secrets_of_commands_are_hidden_everywhere_unless_they_may_be_words() {
        let commands = ["x --token 'hush-hush-0123' --key production".to_owned()];
        let urls = ["https://a.example/?token=Pa55word%21".to_owned()];
        let secrets = add(Secrets::new(), &commands, &urls);
        let text = secrets.redact("hush-hush-0123, production, Pa55word%21");
        assert_eq!(text, "[redacted], production, [redacted]");
    }
}
