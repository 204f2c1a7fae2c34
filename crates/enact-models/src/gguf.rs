//! Recognises model files.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// The first bytes of every GGUF file.
const MAGIC: [u8; 4] = *b"GGUF";

/// Whether a file has the format that llama.cpp loads.
///
/// # Errors
/// If the file cannot be read.
pub fn is_gguf(path: &Path) -> io::Result<bool> {
    let mut magic = [0; MAGIC.len()];
    match File::open(path)?.read_exact(&mut magic) {
        Ok(()) => Ok(magic == MAGIC),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}
