//! Distinguishes runs that a program started itself from those of other sources.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::log::Run;
use super::started::Started;
use crate::signature::{canonical_json, hexadecimal};

/// A secret key by which a program recognises the runs that it started. A log determines which commands
/// its agent starts and which addresses it contacts, so resuming the log of someone else means doing
/// what they specified.
///
/// Pass it to [`Settings::seal_key`](crate::Settings::seal_key), and every new run is sealed. The seal
/// covers the start of the run: its id, the agent with its notes and tools, inputs, limits and rules.
/// It doesn't cover later events.
///
/// ```
/// use enact::run::SealKey;
/// use enact::{Settings, configure};
///
/// // Keep the key in a file that only this user can read.
/// let key = SealKey::new([7; 32]);
/// configure(Settings::new().seal_key(key));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey([u8; 32]);

impl std::fmt::Debug for SealKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SealKey(…)")
    }
}

impl SealKey {
    /// A key of 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The seal of a run with this key, whether the run has it or not.
    pub fn seal_of(&self, run: &Run) -> String {
        self.seal(run.started())
    }

    pub(crate) fn seal(&self, started: &Started) -> String {
        let unsealed = Started {
            seal: None,
            ..started.clone()
        };
        let text = serde_json::to_value(&unsealed).map(|value| canonical_json(&value));
        // Keys of any length are valid, so this can't fail; without a seal, a run is not trusted.
        let (Ok(text), Ok(mut mac)) = (text, Hmac::<Sha256>::new_from_slice(&self.0)) else {
            return String::new();
        };
        mac.update(text.as_bytes());
        hexadecimal(&mac.finalize().into_bytes())
    }
}

impl Run {
    /// Whether the run was started with this key, and its start has not been changed.
    pub fn is_sealed_by(&self, key: &SealKey) -> bool {
        let seal = self.started().seal.as_deref().unwrap_or_default();
        !seal.is_empty() && seal == key.seal_of(self)
    }
}
