//! Converts genai's errors. Their texts are never shown: some contain the prompt.

use enact_core::model::failure::{Failures, Limit, retry_after};
use enact_core::model::{ModelError, ModelErrorKind};
use genai::webc::StreamTimeout;

use crate::http::{DecodeError, transport};

/// Converts an error.
pub(crate) fn tell(error: &genai::Error, failures: Failures<'_>) -> ModelError {
    use genai::Error as E;
    match error {
        E::HttpError {
            status,
            body,
            headers,
            ..
        } => {
            let wait = retry_after(|name| headers.get(name)?.to_str().ok());
            failures.status(status.as_u16(), wait, body.as_bytes())
        }
        E::WebStream { error, .. } => stream(error.as_ref(), failures),
        E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => {
            web(webc_error, failures)
        }
        E::ChatResponse { body, .. } if body.get("error").is_none() && is_without_reply(body) => {
            failures.filtered()
        }
        E::ChatResponse { body, .. } => failures.reported(body),
        E::RequiresApiKey { .. }
        | E::NoAuthResolver { .. }
        | E::NoAuthData { .. }
        | E::Resolver { .. } => failures.status(401, None, b""),
        E::StreamParse { serde_error, .. } => DecodeError::malformed(serde_error).told(failures),
        E::NoChatResponse { .. }
        | E::InvalidJsonResponseElement { .. }
        | E::JsonValueExt(_)
        | E::SerdeJson(_) => failures.protocol("is not a chat reply"),
        E::MessageContentTypeNotSupported { cause, .. } => invalid(cause),
        E::AdapterNotSupported { feature, .. } => {
            invalid(&format!("the provider does not support {feature}"))
        }
        _ => invalid("genai could not make a request out of this"),
    }
}

/// Gemini returns no candidate and no reason if its filter rejects the prompt.
fn is_without_reply(body: &serde_json::Value) -> bool {
    body.get("finishReason")
        .is_some_and(|reason| reason.is_null())
}

fn stream(
    error: &(dyn std::error::Error + Send + Sync + 'static),
    failures: Failures<'_>,
) -> ModelError {
    if let Some(inner) = error.downcast_ref::<genai::Error>() {
        return tell(inner, failures);
    }
    if let Some(timeout) = error.downcast_ref::<StreamTimeout>() {
        let limit = match timeout {
            StreamTimeout::Headers => Limit::FirstByte,
            StreamTimeout::Read => Limit::Idle,
        };
        return failures.timeout(limit, None);
    }
    match error.downcast_ref::<reqwest::Error>() {
        Some(error) => transport(failures, error),
        None => failures.protocol("cannot be read"),
    }
}

fn web(error: &genai::webc::Error, failures: Failures<'_>) -> ModelError {
    use genai::webc::Error as E;
    match error {
        E::ResponseFailedStatus {
            status,
            body,
            headers,
        } => {
            let wait = retry_after(|name| headers.get(name)?.to_str().ok());
            failures.status(status.as_u16(), wait, body.as_bytes())
        }
        E::ResponseFailedNotJson { body, .. } | E::ResponseFailedInvalidJson { body, .. } => {
            failures.not_json(body.as_bytes())
        }
        E::Reqwest(error) => transport(failures, error),
        E::JsonValueExt(_) => failures.protocol("is not what was asked for"),
    }
}

fn invalid(message: &str) -> ModelError {
    let message = format!("{message}: take another model, or another kind of input");
    ModelError::new(ModelErrorKind::InvalidRequest, message)
}
