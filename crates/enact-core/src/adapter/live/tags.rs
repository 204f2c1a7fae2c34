//! Fields between tags.

use super::{Fields, Live, Reads, Speech, Tell};
use crate::adapter::xml;

/// The longest thing between angle brackets, and the longest entity, that is waited for.
const LONGEST_TAG: usize = 200;
const LONGEST_ENTITY: usize = 6;

/// Reads fields between tags of known names.
pub(in crate::adapter) struct TagReader {
    fields: Fields,
    names: Vec<String>,
    open: Option<String>,
    /// What may be a tag or an entity.
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

    /// Goes into a field, or out of it.
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
        let mut data = String::new();
        for c in text.chars() {
            match (self.held.chars().next(), c) {
                // A bracket or an ampersand that was none begins anew.
                (_, '<' | '&') => {
                    data.push_str(&std::mem::take(&mut self.held));
                    self.held.push(c);
                }
                (None, c) => data.push(c),
                (Some('<'), '>') => {
                    self.held.push(c);
                    let tag = std::mem::take(&mut self.held);
                    if self.is_known(&tag) {
                        self.fields.push(&data, tell);
                        data.clear();
                        self.turn(&tag);
                    } else {
                        data.push_str(&tag);
                    }
                }
                (Some('&'), ';') => {
                    self.held.push(c);
                    let entity = std::mem::take(&mut self.held);
                    data.push_str(&xml::unescape(&entity));
                }
                (Some(first), c) => {
                    self.held.push(c);
                    let longest = if first == '<' {
                        LONGEST_TAG
                    } else {
                        LONGEST_ENTITY
                    };
                    if self.held == "<![CDATA[" {
                        // It is told when it is whole.
                        self.held.clear();
                        self.fields.close();
                    } else if self.held.len() > longest {
                        data.push_str(&std::mem::take(&mut self.held));
                    }
                }
            }
        }
        self.fields.push(&data, tell);
    }
}
