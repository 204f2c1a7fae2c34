//! The text of a page.

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use serde::Serialize;

use super::{failed, html};
use crate::off_thread;
use enact_core::model::Secrets;
use enact_core::tool::ToolError;

/// A page as a model sees it.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    /// The final address.
    url: String,
    status: u16,
    content_type: String,
    text: String,
    /// Whether there is more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

/// Reads a page, up to a number of bytes, without secrets.
pub(super) async fn read(
    url: &str,
    mut response: Response,
    max_bytes: usize,
    secrets: &Secrets,
) -> Result<Page, ToolError> {
    let status = response.status().as_u16();
    let declared = response.headers().get(CONTENT_TYPE);
    let declared = declared.and_then(|declared| declared.to_str().ok());
    let content_type = declared.unwrap_or("text/plain").to_ascii_lowercase();
    let sort = content_type.split(';').next().unwrap_or_default().trim();
    if !is_text(sort) {
        let problem = format!("the page is `{sort}` (status {status}): only text can be shown");
        return Err(ToolError::new(problem));
    }
    let is_html = sort.contains("html");
    let sort = sort.to_owned();
    let (mut bytes, mut is_cut) = (Vec::new(), false);
    while let Some(piece) = response.chunk().await.map_err(failed)? {
        let room = max_bytes - bytes.len();
        is_cut = piece.len() > room;
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if is_cut {
            break;
        }
    }
    let secrets = secrets.clone();
    // Half a megabyte of markup takes a moment, in which other tasks should run.
    let text = off_thread(move || Ok(shown(&bytes, is_html, is_cut, &secrets))).await?;
    Ok(Page {
        url: url.to_owned(),
        status,
        content_type: sort,
        text,
        is_cut,
    })
}

/// The text of a page for a reader.
fn shown(bytes: &[u8], is_html: bool, is_cut: bool, secrets: &Secrets) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut text = &*text;
    if is_cut {
        // An incomplete character or reference could hide part of a secret before it.
        text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        text = match is_html {
            true => html::without_half_reference(text),
            false => text,
        };
    }
    let text = match is_html {
        true => html::text(text),
        false => text.to_owned(),
    };
    match is_cut {
        true => secrets.redact_head(&text),
        false => secrets.redact(&text).into_owned(),
    }
}

fn is_text(sort: &str) -> bool {
    const OTHERS: [&str; 5] = ["json", "xml", "yaml", "javascript", "x-www-form-urlencoded"];
    sort.starts_with("text/")
        || sort.strip_prefix("application/").is_some_and(|rest| {
            let last = rest.rsplit(['+', '-']).next().unwrap_or_default();
            OTHERS.contains(&rest) || OTHERS.contains(&last)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_known_by_its_type() {
        for sort in [
            "text/html",
            "application/json",
            "application/ld+json",
            "application/xhtml+xml",
            "application/x-yaml",
        ] {
            assert!(is_text(sort), "{sort}");
        }
        for sort in [
            "image/png",
            "application/pdf",
            "application/octet-stream",
            "audio/xml",
            "",
        ] {
            assert!(!is_text(sort), "{sort}");
        }
    }
}
