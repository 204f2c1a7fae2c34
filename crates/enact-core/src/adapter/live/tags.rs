//! Fields between tags.

use super::{Fields, Live, Reads, Speech, Tell};
use crate::adapter::xml;

/// The maximum length of a tag or entity to wait for.
const LONGEST_TAG: usize = 200;
const LONGEST_ENTITY: usize = 6;

/// Reads fields between tags with known names.
pub(in crate::adapter) struct TagReader {
    fields: Fields,
    names: Vec<String>,
    open: Option<String>,
    /// A possible tag or entity.
    held: String,
}

impl TagReader {
    pub(in crate::adapter) fn live(fields: Fields, names: Vec<String>) -> Box<dyn Live> {
        Speech::live(Self {
            fields,
            names,
            open: None,
            held: String::new(),
        })
    }

    fn is_known(&self, tag: &str) -> bool {
        self.names.iter().any(|name| name == label(tag))
    }

    /// Enters a field, or leaves it.
    fn turn(&mut self, tag: &str) {
        let name = label(tag).to_owned();
        if tag.starts_with("</") {
            if self.open.as_deref() == Some(&*name) {
                self.fields.close();
                self.open = None;
            }
        } else if !tag.ends_with("/>") {
            self.fields.open(&name);
            self.open = Some(name);
        }
    }
}

/// The name in a tag.
fn label(tag: &str) -> &str {
    let inside = tag.trim_start_matches(['<', '/']);
    let inside = inside.trim_end_matches(['>', '/']);
    inside.split_whitespace().next().unwrap_or_default()
}

impl Reads for TagReader {
    fn take(&mut self, text: &str, tell: &mut Tell<'_>) {
        self.held.push_str(text);
        loop {
            let start = self.held.find(['<', '&']).unwrap_or(self.held.len());
            let data: String = self.held.drain(..start).collect();
            self.fields.push(&data, tell);
            let (end, longest) = match self.held.chars().next() {
                Some('<') => ('>', LONGEST_TAG),
                Some(_) => (';', LONGEST_ENTITY),
                None => return,
            };
            if self.held.starts_with("<![CDATA[") {
                // It is reported when it is complete.
                self.fields.close();
            }
            // A bracket or an ampersand that was none starts again.
            let next = self.held[1..].find(['<', '&', end]).map(|at| at + 1);
            let is_whole = next.is_some_and(|at| self.held[at..].starts_with(end));
            let length = match next {
                None if self.held.len() <= longest => return,
                None => self.held.len(),
                Some(at) => at + usize::from(is_whole),
            };
            let piece: String = self.held.drain(..length).collect();
            match end {
                '>' if is_whole && length <= longest && self.is_known(&piece) => {
                    self.turn(&piece);
                }
                ';' if is_whole => self.fields.push(&xml::unescape(&piece), tell),
                _ => self.fields.push(&piece, tell),
            }
        }
    }
}
