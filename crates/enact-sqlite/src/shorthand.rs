//! Records as they are stored: JSON, with a sign for each of the phrases that come again and again.
//!
//! Most of a small record is the names of its fields. JSON text has no control characters, and UTF-8
//! does not use the highest bytes, so each of these can stand for a phrase, and nothing has to be
//! escaped.

use std::sync::LazyLock;

/// The phrases, in the order of their signs. They are part of the format of the file: none may
/// change, move or go, and a new one is a new version of the schema. The tenth is the line break,
/// which stands between records.
const PHRASES: [&str; 42] = [
    r#"{"position":"#,
    r#","at":""#,
    r#"Z","event":"stepped","reply":{"text":""#,
    r#"Z","event":"tool_started","call_id":""#,
    r#"Z","event":"tool_finished","call_id":""#,
    r#"","observation":{"value":"#,
    r#","duration_ns":"#,
    r#"","calls":[{"id":""#,
    r#"","name":""#,
    "\n",
    r#"","arguments":"{\""#,
    r#""}],"usage":{"requests":1,"input_tokens":"#,
    r#","output_tokens":"#,
    r#","cached_input_tokens":0,"reasoning_tokens":0},"finish":""#,
    r#"tool_calls","attempts":1},"calls":[{"id":""#,
    r#"","args":{"#,
    r#"}],"outcome":"act""#,
    r#"Z","event":"started","format":1,"run_id":""#,
    r#"","agent":{"signature":{"#,
    r#""instructions":""#,
    r#"{"name":""#,
    r#"","type":""#,
    r#"","description":""#,
    r#"","parameters":{"type":"object","properties":{""#,
    r#"":{"type":""#,
    r#""},"effect":""#,
    r#"read_only","confirmation":"never","serial":false,"timeout_ns":30000000000}"#,
    r#"","completion":"submit","tools":[{"name":""#,
    r#"}],"outputs":[{"name":""#,
    r#"]},"inputs":{""#,
    r#""},"limits":{"max_iterations":"#,
    r#","max_repairs":3,"stall_threshold":3,"max_observation_tokens":2000}}"#,
    r#""}},"required":[""#,
    r#"","base_url":"http"#,
    r#"","adapter":"native","step_adapter":"native"#,
    r#"effectful","confirmation":"always","serial":false,"timeout_ns":30000000000}"#,
    r#"Z","event":"asked","confirmation_id":""#,
    r#"","kind":"confirm","question":""#,
    r#"","tool_call":{"id":""#,
    r#"Z","event":"noticed","about":""#,
    r#"Z","event":"finished","reason":"success","outputs":{"#,
    r#""],"effect":""#,
];
/// The last sign among the control characters, and the first beyond UTF-8.
const LAST_LOW: u8 = 31;
const FIRST_HIGH: u8 = 0xf5;

/// Whether a byte can be no part of JSON text.
fn is_sign(byte: u8) -> bool {
    !(LAST_LOW + 1..FIRST_HIGH).contains(&byte)
}

/// The place of a phrase in the list, by its sign.
fn place(sign: u8) -> Option<usize> {
    match sign {
        1..=LAST_LOW => Some(usize::from(sign) - 1),
        FIRST_HIGH.. => Some(usize::from(sign - FIRST_HIGH + LAST_LOW)),
        _ => None,
    }
}

fn signs() -> impl Iterator<Item = u8> {
    (1..=LAST_LOW).chain(FIRST_HIGH..=u8::MAX)
}

/// A phrase and its sign.
type Signed = (&'static [u8], u8);

/// The phrases by the hash of their first bytes.
struct Index {
    /// For each hash the place of its group, or [`NONE`]: small, since nearly every byte of a text
    /// is looked up in it.
    heads: [u8; SLOTS],
    /// The phrases that share a hash, the longer ones first.
    groups: Vec<Vec<Signed>>,
}

/// So many that nearly every place in a text is known to begin no phrase at the first look.
const SLOTS: usize = 1024;
/// How many bytes are hashed.
const HEAD: usize = 4;
const NONE: u8 = u8::MAX;

fn slot(start: [u8; HEAD]) -> usize {
    let hash = u32::from_le_bytes(start).wrapping_mul(0x9e37_79b1);
    hash as usize >> 22
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut heads = [NONE; SLOTS];
    let mut groups: Vec<Vec<Signed>> = Vec::new();
    for (sign, phrase) in signs().zip(PHRASES) {
        let phrase = phrase.as_bytes();
        // The line break is its own sign.
        let Some(start) = phrase.first_chunk() else {
            continue;
        };
        let head = &mut heads[slot(*start)];
        if *head == NONE {
            *head = groups.len() as u8;
            groups.push(Vec::new());
        }
        groups[usize::from(*head)].push((phrase, sign));
    }
    for group in &mut groups {
        group.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.len()));
    }
    Index { heads, groups }
});

impl Index {
    /// The next place from here on where a phrase may begin, and those that may.
    fn next(&self, json: &[u8], from: usize) -> Option<(usize, &[Signed])> {
        let mut starts = json[from..].array_windows();
        let ahead = starts.position(|start| self.heads[slot(*start)] != NONE)?;
        let at = from + ahead;
        let head = self.heads[slot(*json[at..].first_chunk()?)];
        Some((at, &self.groups[usize::from(head)]))
    }
}

/// Writes JSON of one or more lines with signs for phrases.
pub(crate) fn shorten(json: &[u8]) -> Vec<u8> {
    let index = &*INDEX;
    let mut out = Vec::with_capacity(json.len() / 2);
    let (mut done, mut from) = (0, 0);
    while let Some((at, phrases)) = index.next(json, from) {
        let here = &json[at..];
        match phrases.iter().find(|(phrase, _)| here.starts_with(phrase)) {
            Some((phrase, sign)) => {
                out.extend_from_slice(&json[done..at]);
                out.push(*sign);
                from = at + phrase.len();
                done = from;
            }
            None => from = at + 1,
        }
    }
    out.extend_from_slice(&json[done..]);
    out
}

/// The JSON again. Signs that stand for nothing are left as they are: the JSON is then broken, and
/// whoever reads it says so.
pub(crate) fn expand(stored: &[u8], out: &mut Vec<u8>) {
    let mut rest = stored;
    loop {
        let (plain, behind) = rest.split_at(before_sign(rest));
        out.extend_from_slice(plain);
        let Some((sign, behind)) = behind.split_first() else {
            return;
        };
        match place(*sign).and_then(|place| PHRASES.get(place)) {
            Some(phrase) => out.extend_from_slice(phrase.as_bytes()),
            None => out.push(*sign),
        }
        rest = behind;
    }
}

/// How many bytes there are before the next sign. Long texts have none: they are looked through in
/// pieces, which the compiler does at once.
fn before_sign(text: &[u8]) -> usize {
    let (pieces, _) = text.as_chunks::<16>();
    let has_sign = |piece: &[u8; 16]| piece.iter().fold(false, |has, byte| has | is_sign(*byte));
    let clean = pieces.iter().take_while(|piece| !has_sign(piece)).count() * 16;
    let rest = &text[clean..];
    let sign = rest.iter().position(|byte| is_sign(*byte));
    clean + sign.unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(stored: &[u8]) -> String {
        let mut out = Vec::new();
        expand(stored, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_step_takes_a_third_of_its_json() {
        let step = concat!(
            r#"{"position":4,"at":"2026-11-17T02:05:56.540044382Z","event":"stepped","#,
            r#""reply":{"text":"I look it up.","calls":[{"id":"call_2","name":"lookup","#,
            r#""arguments":"{\"key\":\"item-2\"}"}],"usage":{"requests":1,"input_tokens":100,"#,
            r#""output_tokens":20,"cached_input_tokens":0,"reasoning_tokens":0},"#,
            r#""finish":"tool_calls","attempts":1},"calls":[{"id":"call_2","name":"lookup","#,
            r#""args":{"key":"item-2"}}],"outcome":"act","duration_ns":589608}"#,
        );
        let stored = shorten(step.as_bytes());
        assert!(
            stored.len() * 3 < step.len(),
            "{} of {}",
            stored.len(),
            step.len()
        );
        assert_eq!(expanded(&stored), step);
    }

    #[test]
    fn every_phrase_has_its_sign() {
        for (sign, phrase) in signs().zip(PHRASES) {
            assert_eq!(shorten(phrase.as_bytes()), [sign], "{phrase}");
            assert_eq!(expanded(&[sign]), phrase);
            let is_plain = |byte: u8| place(byte).is_none() || byte == b'\n';
            assert!(phrase.bytes().all(is_plain), "{phrase}");
        }
    }

    #[test]
    fn the_phrases_are_those_that_files_were_written_with() {
        let phrases = PHRASES.join("|");
        let sum = crate::log::checksum("phrases", 42, phrases.as_bytes());
        assert_eq!(
            sum, 3_477_200_870_576_624_400,
            "a new phrase is a new version of the schema"
        );
    }

    #[test]
    fn whatever_json_says_comes_back() {
        // Phrases inside of texts, of one another, and cut off.
        let nested = serde_json::json!({"text": PHRASES.to_vec(), "\u{1}\n": "\u{2}é😀", "more": PHRASES.concat()});
        let lines = format!("{nested}\n{nested}");
        assert_eq!(expanded(&shorten(lines.as_bytes())), lines);
        for end in (0..lines.len()).filter(|end| lines.is_char_boundary(*end)) {
            assert_eq!(expanded(&shorten(&lines.as_bytes()[..end])), lines[..end]);
        }
    }
}
