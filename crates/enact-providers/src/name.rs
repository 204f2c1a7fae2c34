//! Parses model names into provider and model.

use enact_core::model::{ModelError, ModelErrorKind};
use enact_core::signature::did_you_mean;

use crate::Provider;
use crate::provider::ALIASES;

/// The separator between provider and model.
const SEPARATOR: &str = "::";
/// Prefixes of model names that are known for one provider.
const FAMILIES: [(&str, &str); 6] = [
    ("claude-", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("gemini-", "gemini"),
    ("grok-", "xai"),
    ("deepseek-", "deepseek"),
];
/// Prefixes of open models, which many providers serve.
const OPEN: [&str; 2] = ["gpt-oss", "deepseek-r1"];

/// The provider and the model of a full name, `PROVIDER::MODEL`.
///
/// ```
/// assert_eq!(enact_providers::split("groq::llama"), Some(("groq", "llama")));
/// assert_eq!(enact_providers::split("llama"), None);
/// ```
pub fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR)
}

/// The provider and the model of a name: `openai::gpt-4o`, or for short `openai/gpt-4o`,
/// `openai:gpt-4o` or `gpt-4o`. Short names work if a provider is known for them.
///
/// ```
/// use enact_providers::resolve;
///
/// for name in ["openai::gpt-4o", "openai/gpt-4o", "openai:gpt-4o", "gpt-4o"] {
///     assert_eq!(resolve(name), Some(("openai", "gpt-4o")));
/// }
/// assert_eq!(resolve("claude-sonnet-4-5"), Some(("anthropic", "claude-sonnet-4-5")));
/// assert_eq!(resolve("llama3.1:8b"), None);
/// ```
pub fn resolve(name: &str) -> Option<(&str, &str)> {
    if let Some(split) = split(name) {
        return Some(split);
    }
    let known = |separator| {
        let (provider, model) = name.split_once(separator)?;
        let known = Provider::named(provider).ok()?;
        (!model.is_empty()).then_some((known.name(), model))
    };
    known('/').or_else(|| known(':')).or_else(|| {
        let is_numbered = name.strip_prefix('o').is_some_and(|rest| {
            let number = rest.split('-').next().unwrap_or_default();
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        let family = FAMILIES.iter().find(|(begin, _)| name.starts_with(begin));
        let is_open = OPEN.iter().any(|open| name.starts_with(open));
        match family.filter(|_| !is_open) {
            Some((_, provider)) => Some((*provider, name)),
            None => is_numbered.then_some(("openai", name)),
        }
    })
}

/// The provider doesn't exist.
pub(crate) fn unknown(name: &str) -> ModelError {
    let providers = Provider::all();
    let known = providers.iter().map(Provider::name);
    let known = known.chain(ALIASES.iter().map(|(alias, _)| *alias));
    let hint = match did_you_mean(name, known)[..] {
        [nearest, ..] => format!("did you mean `{nearest}`? Run"),
        [] => "run".to_owned(),
    };
    let message = format!("there is no provider `{name}`: {hint} `enact models` to list them");
    ModelError::new(ModelErrorKind::InvalidRequest, message)
}

/// A name without a provider.
pub(crate) fn incomplete(name: &str) -> ModelError {
    let message = format!(
        "`{name}` does not say who serves the model: write `PROVIDER::MODEL`, such as \
         `ollama::{name}`. Run `enact models` to list providers"
    );
    ModelError::new(ModelErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_understood() {
        for (name, provider, model) in [
            ("o3", "openai", "o3"),
            ("o4-mini", "openai", "o4-mini"),
            ("gpt-5-mini", "openai", "gpt-5-mini"),
            ("gemini-2.5-flash", "gemini", "gemini-2.5-flash"),
            ("google/gemini-2.5-flash", "gemini", "gemini-2.5-flash"),
            ("ollama:llama3.1:8b", "ollama", "llama3.1:8b"),
            ("groq:openai/gpt-oss-20b", "groq", "openai/gpt-oss-20b"),
            ("openrouter/openai/gpt-4o", "open_router", "openai/gpt-4o"),
            ("nobody::m", "nobody", "m"),
        ] {
            assert_eq!(resolve(name), Some((provider, model)), "{name}");
        }
        for name in [
            "llama3.1",
            "llama3.1:8b",
            "qwen3",
            "o",
            "olmo",
            "o3x",
            "gpt-oss:20b",
            "openai/",
            "meta-llama/Llama-3",
            "",
        ] {
            assert_eq!(resolve(name), None, "{name}");
        }
    }

    #[test]
    fn a_misspelt_provider_gets_a_suggestion_and_no_list() {
        let told = unknown("antropic").to_string();
        assert!(told.contains("did you mean `anthropic`?"), "{told}");
        assert!(told.contains("`enact models`"), "{told}");
        assert!(told.len() < 120, "{told}");
        assert!(!unknown("zzzzzz").to_string().contains("did you mean"));
    }
}
