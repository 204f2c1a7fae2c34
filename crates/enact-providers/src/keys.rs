//! Keys that are kept elsewhere than in the environment.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use enact_core::model::{ModelError, ModelErrorKind};
use secrecy::SecretString;

use crate::Provider;
use crate::hosted::host;
use crate::provider::{environment, given};

/// Other variables that people keep keys in.
const KEY_ALIASES: [(&str, &str); 4] = [
    ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    ("OPEN_ROUTER_API_KEY", "OPENROUTER_API_KEY"),
    ("BEDROCK_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
    ("ALIYUN_API_KEY", "DASHSCOPE_API_KEY"),
];

static KEPT: OnceLock<BTreeMap<String, SecretString>> = OnceLock::new();

/// Gives keys, by the name of their provider, for providers whose variable is not set. They are set
/// once in a process, before models are made; a second time changes nothing. Such a key goes to the
/// provider's own address, or to the one of its variable, and never to another server that speaks
/// like OpenAI.
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

/// The key that is kept for a provider.
fn kept(provider: &str) -> Option<SecretString> {
    KEPT.get()?.get(provider).cloned()
}

/// Where the key of a provider comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeySource {
    /// From this variable of the environment.
    Variable(&'static str),
    /// From [`keep_keys`].
    Kept,
}

/// A key, and where it comes from.
pub(crate) type Key = (SecretString, KeySource);

impl Provider {
    /// The variable that holds the key, if it needs one.
    pub fn key_variable(&self) -> Option<&'static str> {
        match self.is_local() {
            true => None,
            false => self.kind.default_key_env_name(),
        }
    }

    /// The variables that are looked at for its key, in this order.
    pub fn key_variables(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = self.key_variable();
        let other = KEY_ALIASES.iter().find(|(known, _)| Some(*known) == name);
        name.into_iter().chain(other.map(|(_, other)| *other))
    }

    /// Where its key comes from, if there is one.
    pub fn key_source(&self) -> Option<KeySource> {
        self.key_source_at(&self.base_url())
    }

    /// The same for the key that goes to another address.
    pub fn key_source_at(&self, base_url: &str) -> Option<KeySource> {
        let found = self.key(base_url, &environment);
        found.map(|(_, source)| source)
    }

    /// The key for this address, and where it comes from.
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
            // Whoever kept a key for OpenAI did not mean every server that speaks like it.
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
