//! What was sent, run by run.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

const RUN: &[u8] = b"[run ";
/// Sessions whose requests are compared with one another: that takes time, so not all are.
const COUNTED: &str = "counted";

/// The sessions that were not asked for yet.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<HashMap<String, Session>>);

#[derive(Default)]
struct Session {
    runs: HashMap<Vec<u8>, Progress>,
}

#[derive(Default)]
struct Progress {
    requests: usize,
    bytes: usize,
    last: Option<Vec<u8>>,
    last_prompt: Option<Vec<u8>>,
    body: Share,
    prompt: Share,
}

/// How much of all requests but the last was said again by the next one.
#[derive(Default, Clone, Copy)]
struct Share {
    kept: usize,
    all: usize,
}

/// What a session has sent, in bytes of bodies.
#[derive(Serialize)]
pub(crate) struct Stats {
    runs: usize,
    requests: usize,
    bytes: usize,
    /// Share of each body that is a prefix of the next, byte for byte. None unless counted.
    body_prefix: Option<f64>,
    /// The same of tools and messages, in the order in which providers show them to a model.
    prompt_prefix: Option<f64>,
}

impl Sessions {
    /// Counts a request, and tells which one of its run it is, from 1.
    pub(crate) fn count(&self, session: &str, body: &[u8]) -> anyhow::Result<usize> {
        let name = run_name(body).context("no `[run NAME]` in the question")?;
        let prompt = match session.starts_with(COUNTED) {
            true => Some(prompt_of(body)?),
            false => None,
        };
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !sessions.contains_key(session) {
            sessions.insert(session.to_owned(), Session::default());
        }
        let runs = &mut sessions.entry(session.to_owned()).or_default().runs;
        let progress = match runs.contains_key(name) {
            true => runs.get_mut(name).context("a run that is there")?,
            false => runs.entry(name.to_owned()).or_default(),
        };
        progress.requests += 1;
        progress.bytes += body.len();
        if let Some(prompt) = prompt {
            progress.compare(body, prompt);
        }
        Ok(progress.requests)
    }

    /// What a session has sent; forgets it.
    pub(crate) fn take(&self, session: &str) -> Stats {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = sessions.remove(session).unwrap_or_default().runs;
        let sum = |what: fn(&Progress) -> usize| runs.values().map(what).sum::<usize>();
        let share = |what: fn(&Progress) -> Share| {
            let all = runs.values().map(|run| what(run).all).sum::<usize>();
            let kept = runs.values().map(|run| what(run).kept).sum::<usize>();
            (all > 0).then(|| kept as f64 / all as f64)
        };
        Stats {
            runs: runs.len(),
            requests: sum(|run| run.requests),
            bytes: sum(|run| run.bytes),
            body_prefix: share(|run| run.body),
            prompt_prefix: share(|run| run.prompt),
        }
    }
}

impl Progress {
    fn compare(&mut self, body: &[u8], prompt: Vec<u8>) {
        if let Some(last) = self.last.replace(body.to_owned()) {
            self.body.add(&last, body);
        }
        if let Some(last) = &self.last_prompt {
            self.prompt.add(last, &prompt);
        }
        self.last_prompt = Some(prompt);
    }
}

impl Share {
    fn add(&mut self, before: &[u8], after: &[u8]) {
        // The brackets that close a body have to move behind what was added.
        let end = before
            .iter()
            .rposition(|byte| !b"]} \n".contains(byte))
            .map_or(0, |last| last + 1);
        let before = &before[..end];
        let same = before.iter().zip(after).take_while(|(a, b)| a == b);
        self.kept += same.count();
        self.all += before.len();
    }
}

fn run_name(body: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(body, RUN)? + RUN.len();
    let length = memchr::memchr(b']', &body[start..])?;
    Some(&body[start..start + length])
}

/// Tools and messages, as a model gets to see them: whatever order the body has.
fn prompt_of(body: &[u8]) -> anyhow::Result<Vec<u8>> {
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        tools: Option<&'a RawValue>,
        #[serde(borrow)]
        messages: Vec<&'a RawValue>,
    }
    let body: Body<'_> = serde_json::from_slice(body).context("a body that is no request")?;
    let mut prompt = body.tools.map_or_else(Vec::new, |tools| tools.get().into());
    for message in body.messages {
        prompt.extend_from_slice(message.get().as_bytes());
        prompt.push(b',');
    }
    Ok(prompt)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(bodies: &[&str]) -> Stats {
        let sessions = Sessions::default();
        for body in bodies {
            sessions.count("counted", body.as_bytes()).unwrap();
        }
        sessions.take("counted")
    }

    #[test]
    fn a_body_that_only_grows_is_kept_whole() {
        let stats = shares(&[
            r#"{"tools":[1],"messages":["[run a]"]}"#,
            r#"{"tools":[1],"messages":["[run a]","b"]}"#,
        ]);
        assert_eq!(stats.body_prefix, Some(1.0));
        assert_eq!(stats.prompt_prefix, Some(1.0));
        assert_eq!((stats.runs, stats.requests), (1, 2));
    }

    #[test]
    fn a_prompt_is_compared_in_the_order_of_providers() {
        let stats = shares(&[
            r#"{"messages":["[run a]"],"tools":[1]}"#,
            r#"{"messages":["[run a]","b"],"tools":[1]}"#,
        ]);
        assert!(stats.body_prefix < Some(1.0));
        assert_eq!(stats.prompt_prefix, Some(1.0));
    }

    #[test]
    fn a_prompt_that_changes_early_is_hardly_kept() {
        let stats = shares(&[
            r#"{"messages":["1 [run a] and much more text"]}"#,
            r#"{"messages":["2 [run a] and much more text"]}"#,
        ]);
        assert!(stats.prompt_prefix < Some(0.1));
    }

    #[test]
    fn runs_are_told_apart() {
        let sessions = Sessions::default();
        assert_eq!(sessions.count("s", b"[run a]").unwrap(), 1);
        assert_eq!(sessions.count("s", b"[run b]").unwrap(), 1);
        assert_eq!(sessions.count("s", b"[run a]").unwrap(), 2);
        assert!(sessions.count("s", b"nothing").is_err());
    }
}
