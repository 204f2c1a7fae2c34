//! Images as inputs: `photo=@cat.png`, `photo=https://…`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use enact::Type;
use enact::model::Image;
use serde_json::Value;

/// The first bytes of the image formats that models accept.
const KINDS: [(&[u8], &str); 3] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
];

/// Whether a field is an image.
pub(super) fn is_wanted(ty: &Type) -> bool {
    match ty {
        Type::Image => true,
        Type::Optional(inner) => **inner == Type::Image,
        _ => false,
    }
}

/// The image in these bytes, or what is wrong with them.
pub(super) fn of_bytes(bytes: &[u8]) -> Result<Value, String> {
    let known = KINDS.iter().find(|(begin, _)| bytes.starts_with(begin));
    let is_webp = bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP");
    let kind = match known {
        Some((_, kind)) => kind,
        None if is_webp => "image/webp",
        None => return Err("is not a PNG, JPEG, GIF or WebP image".to_owned()),
    };
    value(&Image::from_base64(STANDARD.encode(bytes), kind))
}

/// The image at an address. JSON is used unchanged.
pub(super) fn of_text(name: &str, text: &str) -> Result<Value, String> {
    if text.trim_start().starts_with('{') || text.is_empty() {
        return Ok(text.into());
    }
    if !text.starts_with("https://") && !text.starts_with("http://") {
        return Err(format!(
            "the input `{name}` is an image: use `{name}=@FILE`, or an address that starts with \
             https://"
        ));
    }
    let path = text.split(['?', '#']).next().unwrap_or(text);
    let extension = path.rsplit('.').next().unwrap_or_default();
    let kind = match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => "image/jpeg",
    };
    value(&Image::from_url(text, kind))
}

fn value(image: &Image) -> Result<Value, String> {
    serde_json::to_value(image).map_err(|error| error.to_string())
}
