//! JSON with a fixed order of fields and a stable prefix.

use enact_core::model::{ModelError, ModelErrorKind, Request};
use serde::Serialize;
use serde_json::{Map, Value};

/// Space for the parts of a request besides its messages, allocated at once.
const FRAME_BYTES: usize = 1024;

/// Writes the fields of a request before its messages. A field of `extra` replaces ours; `null` removes
/// it.
pub(crate) struct Fields<'a> {
    out: String,
    extra: &'a Map<String, Value>,
    placed: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Starts the object. `reserved` fields cannot be replaced: parsing the reply depends on them.
    pub(crate) fn new(request: &'a Request, reserved: &[&str]) -> Result<Self, ModelError> {
        let extra = &request.options.extra;
        if let Some(key) = reserved.iter().find(|key| extra.contains_key(**key)) {
            return Err(ModelError::new(
                ModelErrorKind::InvalidRequest,
                format!(
                    "`{key}` cannot be an extra model option: remove it from `ModelOptions::extra`"
                ),
            ));
        }
        let mut out = String::with_capacity(request.prompt.room() + FRAME_BYTES);
        out.push('{');
        Ok(Self {
            out,
            extra,
            placed: Vec::with_capacity(16),
        })
    }

    pub(crate) fn put(&mut self, key: &'static str, value: Option<impl Serialize>) {
        self.placed.push(key);
        match (self.extra.get(key), value) {
            (Some(Value::Null), _) | (None, None) => {}
            (Some(value), _) => push_value(self.begin(key), value),
            (None, Some(value)) => push_value(self.begin(key), &value),
        }
    }

    /// Omits a field, whatever was requested.
    pub(crate) fn leave_out(&mut self, key: &'static str) {
        self.placed.push(key);
    }

    /// Starts a field, whose value is written next.
    pub(crate) fn begin(&mut self, key: &str) -> &mut String {
        if !self.out.ends_with('{') {
            self.out.push(',');
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        match key.bytes().all(is_plain) {
            true => self.out.extend(["\"", key, "\""]),
            false => push_value(&mut self.out, key),
        }
        self.out.push(':');
        &mut self.out
    }

    pub(crate) fn finish(mut self) -> String {
        for (key, value) in self.extra {
            if !value.is_null() && !self.placed.contains(&key.as_str()) {
                push_value(self.begin(key), value);
            }
        }
        self.out
    }
}

pub(crate) fn push_value(out: &mut String, value: &(impl Serialize + ?Sized)) {
    out.push_str(&encoded(value));
}

/// A value as JSON. Texts, numbers, lists and objects of these can always be written.
pub(crate) fn encoded(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
