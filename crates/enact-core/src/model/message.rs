//! Messages to a model, and the append-only prompt that contains them.

use std::borrow::Cow;
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// How the files of images begin that models read.
const KINDS: [(&[u8], &str); 3] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
];

/// A picture, by reference or by value.
///
/// ```
/// use enact::model::Image;
///
/// let image = Image::from_base64("iVBORw0KGgo=", "image/png");
/// assert_eq!(image.url(), "data:image/png;base64,iVBORw0KGgo=");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Image {
    /// Such as `image/png`.
    pub media_type: String,
    /// Where the bytes are.
    pub source: ImageSource,
}

impl Image {
    /// An image that the provider downloads.
    pub fn from_url(url: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self {
            media_type: media_type.into(),
            source: ImageSource::Url(url.into()),
        }
    }

    /// An image as base64 text.
    pub fn from_base64(data: impl Into<String>, media_type: impl Into<String>) -> Self {
        Self {
            media_type: media_type.into(),
            source: ImageSource::Base64(data.into()),
        }
    }

    /// The image in these bytes: PNG, JPEG, GIF or WebP, as their beginning says. `None` for anything
    /// else.
    ///
    /// ```
    /// use enact::model::Image;
    ///
    /// let image = Image::from_bytes(b"GIF89a...").unwrap();
    /// assert_eq!(image.media_type, "image/gif");
    /// assert!(Image::from_bytes(b"some text").is_none());
    /// ```
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Option<Self> {
        let bytes = bytes.as_ref();
        let known = KINDS.iter().find(|(begin, _)| bytes.starts_with(begin));
        let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
        let media_type = match known {
            Some((_, media_type)) => media_type,
            None if is_webp => "image/webp",
            None => return None,
        };
        Some(Self::from_base64(STANDARD.encode(bytes), media_type))
    }

    /// The image in a file.
    ///
    /// ```
    /// use enact::model::Image;
    ///
    /// # fn main() -> std::io::Result<()> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("cat.gif");
    /// # std::fs::write(&path, b"GIF89a...")?;
    /// let image = Image::from_file(&path)?;
    /// assert_eq!(image.media_type, "image/gif");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the file can't be read, or isn't a PNG, JPEG, GIF or WebP image.
    pub fn from_file(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let unknown = || {
            let message = format!("`{}` is not a PNG, JPEG, GIF or WebP image", path.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        Self::from_bytes(std::fs::read(path)?).ok_or_else(unknown)
    }

    /// The picture as a URL: its own, or a `data:` URL.
    pub fn url(&self) -> String {
        match &self.source {
            ImageSource::Url(url) => url.clone(),
            ImageSource::Base64(data) => format!("data:{};base64,{data}", self.media_type),
        }
    }
}

/// Where the bytes of an [`Image`] are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImageSource {
    /// At an address that the provider can reach.
    Url(String),
    /// Here, in base64.
    Base64(String),
}

/// A part of a user or tool message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
}

/// A tool call as the model wrote it: the arguments are text and may be malformed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RawCall {
    /// The provider's id, if it gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The name of the tool as written.
    pub name: String,
    /// The arguments as written, normally a JSON object.
    pub arguments: String,
}

/// A message of a conversation with a model.
///
/// ```
/// use enact::model::Message;
///
/// assert_eq!(Message::user("Capital of France?").text(), "Capital of France?");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "role")]
pub enum Message {
    /// Instructions for the conversation.
    System {
        /// The instructions.
        text: String,
    },
    /// A message of the person, or of enact on their behalf.
    User {
        /// Text and images.
        parts: Vec<Part>,
    },
    /// An earlier reply of the model.
    Assistant {
        /// Its text; can be empty if there are calls.
        text: String,
        /// Its tool calls.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<RawCall>,
        /// Data that the provider requires unchanged, such as signed reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<serde_json::Value>,
    },
    /// The result of one tool call.
    Tool {
        /// The call that it answers.
        call_id: String,
        /// The name of the tool.
        name: String,
        /// Text and images.
        parts: Vec<Part>,
    },
}

impl Message {
    /// A user message with text only.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User {
            parts: vec![Part::Text(text.into())],
        }
    }

    /// An assistant message with text only.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant {
            text: text.into(),
            calls: Vec::new(),
            opaque: None,
        }
    }

    /// The approximate size in bytes; an image counts as a page of text.
    pub fn bytes(&self) -> usize {
        /// Roles and separators.
        const FRAME: usize = 16;
        const PICTURE: usize = 4_500;
        let parts = |parts: &[Part]| -> usize {
            let sizes = parts.iter().map(|part| match part {
                Part::Text(text) => text.len(),
                Part::Image(_) => PICTURE,
            });
            sizes.sum()
        };
        FRAME
            + match self {
                Self::System { text } => text.len(),
                Self::User { parts: said } => parts(said),
                Self::Assistant {
                    text,
                    calls,
                    opaque,
                } => {
                    let calls = calls.iter();
                    let calls = calls.map(|call| FRAME + call.name.len() + call.arguments.len());
                    let opaque = opaque.as_ref().map_or(0, |opaque| opaque.to_string().len());
                    text.len() + calls.sum::<usize>() + opaque
                }
                Self::Tool {
                    call_id,
                    name,
                    parts: said,
                } => call_id.len() + name.len() + parts(said),
            }
    }

    /// The text parts, joined by line breaks.
    pub fn text(&self) -> String {
        match self {
            Self::System { text } | Self::Assistant { text, .. } => text.clone(),
            Self::User { parts } | Self::Tool { parts, .. } => {
                let texts: Vec<&str> = parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Text(text) => Some(text.as_str()),
                        Part::Image(_) => None,
                    })
                    .collect();
                texts.join("\n")
            }
        }
    }
}

/// A wire form that is encoded once and reused by later requests.
#[derive(Debug, Default)]
pub(super) struct Wire(OnceLock<(&'static str, Box<str>)>);

impl Wire {
    /// The form for this dialect. It is encoded again if the stored form is for another dialect.
    pub(super) fn get(&self, dialect: &'static str, encode: impl Fn() -> String) -> Cow<'_, str> {
        let (kept_dialect, kept) = self.0.get_or_init(|| (dialect, encode().into_boxed_str()));
        match *kept_dialect == dialect {
            true => Cow::Borrowed(kept),
            false => Cow::Owned(encode()),
        }
    }
}

#[derive(Debug)]
struct Sealed {
    message: Message,
    wire: Wire,
}

/// An append-only list of messages that is cheap to clone.
///
/// Each message is stored once, however many requests contain it, and remembers its wire form: a
/// step of a long run only costs what it adds.
///
/// ```
/// use enact::model::{Message, Prompt};
///
/// let mut prompt = Prompt::new();
/// prompt.push(Message::user("Capital of France?"));
/// assert_eq!(prompt.len(), 1);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Prompt {
    messages: Arc<Vec<Arc<Sealed>>>,
    /// The approximate size of the messages in bytes.
    bytes: usize,
}

impl Prompt {
    /// An empty prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message. Earlier clones are not affected.
    pub fn push(&mut self, message: Message) {
        self.bytes += message.bytes();
        let sealed = Arc::new(Sealed {
            message,
            wire: Wire::default(),
        });
        Arc::make_mut(&mut self.messages).push(sealed);
    }

    /// The messages in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Message> {
        self.messages.iter().map(|sealed| &sealed.message)
    }

    /// The approximate size of the messages in bytes, from which tokens are estimated.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The approximate size of the wire form in bytes, including the structure around each text.
    #[doc(hidden)]
    pub fn room(&self) -> usize {
        self.bytes + self.messages.len() * 96
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Every message with its wire form. `dialect` names the form; a message that is already encoded in it
    /// is not encoded again.
    pub fn encoded<'a>(
        &'a self,
        dialect: &'static str,
        encode: impl Fn(&Message) -> String,
    ) -> impl Iterator<Item = (&'a Message, Cow<'a, str>)> {
        self.messages.iter().map(move |sealed| {
            let wire = sealed.wire.get(dialect, || encode(&sealed.message));
            (&sealed.message, wire)
        })
    }

    /// Writes the wire form of all messages to `out`, separated by commas. `dialect` names the form; a
    /// message that is already encoded in it is copied. `after` receives each message and the one that
    /// follows it, and can append to `out`, starting with a comma: for forms in which a message can add
    /// something later.
    pub fn write_wire_with<'a>(
        &'a self,
        dialect: &'static str,
        out: &mut String,
        encode: impl Fn(&Message) -> String,
        mut after: impl FnMut(&'a Message, Option<&'a Message>, &mut String),
    ) {
        out.reserve(self.room());
        for (index, (message, wire)) in self.encoded(dialect, encode).enumerate() {
            if index > 0 {
                out.push(',');
            }
            out.push_str(&wire);
            let next = self.messages.get(index + 1).map(|next| &next.message);
            after(message, next, out);
        }
    }
}

impl FromIterator<Message> for Prompt {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut prompt = Self::new();
        prompt.extend(messages);
        prompt
    }
}

impl Extend<Message> for Prompt {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        for message in messages {
            self.push(message);
        }
    }
}

impl PartialEq for Prompt {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
