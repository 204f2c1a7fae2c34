//! Images as inputs: `photo=@cat.png`, `photo=https://…`.

use enact::Type;
use enact::model::Image;
use serde_json::Value;

/// Whether a field takes an image.
pub(crate) fn is_wanted(ty: &Type) -> bool {
    match ty {
        Type::Image => true,
        Type::Optional(inner) => **inner == Type::Image,
        _ => false,
    }
}

/// The image that these bytes are; or what is wrong with them.
pub(crate) fn of_bytes(bytes: &[u8]) -> Result<Value, String> {
    let image = Image::from_bytes(bytes);
    value(&image.ok_or("is not a PNG, JPEG, GIF or WebP image")?)
}

/// The image at an address. JSON is taken as it is.
pub(crate) fn of_text(name: &str, text: &str) -> Result<Value, String> {
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
