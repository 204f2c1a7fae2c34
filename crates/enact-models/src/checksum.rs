//! SHA-256 checksums of files.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::error::{ShelfError, ShelfErrorKind};

/// The size of a read.
const BLOCK: usize = 1 << 20;

/// The SHA-256 of a file, as 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Checksum(String);

impl Checksum {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Checksum {
    type Err = ShelfError;

    fn from_str(text: &str) -> Result<Self, ShelfError> {
        let digits = text.trim().to_ascii_lowercase();
        if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(digits));
        }
        let message = format!(
            "`{}` is no SHA-256: give 64 hexadecimal digits",
            text.trim()
        );
        Err(ShelfError::new(ShelfErrorKind::Checksum, message))
    }
}

impl TryFrom<String> for Checksum {
    type Error = ShelfError;

    fn try_from(text: String) -> Result<Self, ShelfError> {
        text.parse()
    }
}

impl From<Checksum> for String {
    fn from(checksum: Checksum) -> Self {
        checksum.0
    }
}

/// A checksum in progress.
#[derive(Clone, Default)]
pub(crate) struct Summing {
    hash: Sha256,
    bytes: u64,
}

impl Summing {
    pub(crate) fn add(&mut self, block: &[u8]) {
        self.hash.update(block);
        self.bytes += u64::try_from(block.len()).unwrap_or(u64::MAX);
    }

    /// The number of bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn finish(self) -> Checksum {
        let digest = self.hash.finalize();
        let digits = digest.iter().map(|byte| format!("{byte:02x}"));
        Checksum(digits.collect())
    }
}

/// Reads a file to its end. `watcher` receives the number of bytes read.
pub(crate) fn of_file(path: &Path, watcher: &mut dyn FnMut(u64)) -> Result<Summing, ShelfError> {
    let wrong = |error| ShelfError::io(path, error);
    let mut file = File::open(path).map_err(wrong)?;
    let mut block = vec![0; BLOCK];
    let mut summing = Summing::default();
    loop {
        let read = file.read(&mut block).map_err(wrong)?;
        if read == 0 {
            return Ok(summing);
        }
        summing.add(&block[..read]);
        watcher(summing.bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_checksum_that_other_tools_tell() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let mut heard = Vec::new();
        let summing = of_file(&path, &mut |bytes| heard.push(bytes)).unwrap();
        assert_eq!(heard, [3]);
        assert_eq!(
            summing.finish().as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn what_is_no_checksum_is_refused() {
        assert!("abc".parse::<Checksum>().is_err());
        assert!("g".repeat(64).parse::<Checksum>().is_err());
        assert_eq!(
            "A".repeat(64).parse::<Checksum>().unwrap().as_str(),
            "a".repeat(64)
        );
    }
}
