//! Keys that are stored outside the environment.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use enact_core::model::{ModelError, ModelErrorKind};
use secrecy::SecretString;

use crate::Provider;
use crate::hosted::host;
use crate::provider::{environment, given};

/// Alternative variables for keys.
const KEY_ALIASES: [(&str, &str); 4] = [
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ("OPEN_ROUTER_API_KEY", "OPENROUTER_API_KEY"),
    ("BEDROCK_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
    ("ALIYUN_API_KEY", "DASHSCOPE_API_KEY"),
];

static KEPT: OnceLock<BTreeMap<String, SecretString>> = OnceLock::new();

/// Sets stored keys, by provider name, for providers whose variable is not set. This can be done once in
/// a process, before models are created; further calls have no effect. Such a key is sent to the
/// provider's own address, or to the one in its variable, and never to another OpenAI-compatible
/// server.
///
/// ```
/// let keys = [("anthropic".to_owned(), "sk-…".to_owned())];
/// enact_providers::keep_keys(keys);
/// assert!(enact_providers::Provider::named("anthropic")?.is_configured());
/// # Ok::<(), enact::model::ModelError>(())
/// ```
pub fn keep_keys(keys: impl IntoIterator<Item = (String, String)>) {
    let keys = keys.into_iter();
    let keys = keys.map(|(provider, key)| (provider, SecretString::from(key)));
    // They were set before.
    let _ = KEPT.set(keys.collect());
}

/// The stored key of a provider.
fn kept(provider: &str) -> Option<SecretString> {
    KEPT.get()?.get(provider).cloned()
}

/// The source of a provider's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Variable(&'static str),
    /// A stored key, see [`keep_keys`].
    Kept,
}

/// A key, and where it comes from.
pub(crate) type Key = (SecretString, KeySource);

impl Provider {
    /// The variable for the key, if the provider needs one.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self.is_local() {
            true => None,
            false => self.kind.default_key_env_name(),
        }
    }

    /// The variables to check for its key, in this order.
    pub fn key_variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = self.key_variable();
        let other = KEY_ALIASES.iter().find(|(known, _)| Some(*known) == name);
        name.into_iter().chain(other.map(|(_, other)| *other))
    }

    /// The source of its key, if there is one.
    pub fn key_source(&self) -> Option<KeySource> {
        self.key_source_at(&self.base_url())
    }

    /// The source of the key for another address.
    pub fn key_source_at(&self, base_url: &str) -> Option<KeySource> {
        let found = self.key(base_url, &environment);
        found.map(|(_, source)| source)
    }

    /// The key for this address, and its source.
    pub(crate) fn key(
        &self,
        base_url: &str,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Key> {
        self.key_variable()?;
        let mut found = self.key_variables().filter_map(|name| {
            let key = given(variable, name)?;
            Some((SecretString::from(key), KeySource::Variable(name)))
        });
        found.next().or_else(|| {
            // A stored key for OpenAI is not meant for other OpenAI-compatible servers.
            let usual = self.usual_address();
            let is_own = match self.name() {
                "openai" => host(base_url).is_some() && host(base_url) == host(&usual),
                _ => base_url == usual || base_url == self.address(variable),
            };
            let key = is_own.then(|| kept(self.name())).flatten()?;
            Some((key, KeySource::Kept))
        })
    }

    pub(crate) fn no_key(&self) -> ModelError {
        let name = self.name();
        let to_do = match self.key_variable() {
            Some(variable) => {
                format!("set {variable}, or store a key with `enact keys set {name}`")
            }
            None => "it has no variable of its own".to_owned(),
        };
        let message = format!("no key for `{name}`: {to_do}");
        ModelError::new(ModelErrorKind::Authentication, message)
    }
}
