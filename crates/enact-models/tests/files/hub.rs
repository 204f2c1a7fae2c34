//! A hub that holds one repository, and can be clumsy.

use std::sync::{Arc, Mutex};

use enact_models::Checksum;
use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// A model as far as its first bytes tell.
pub(crate) fn model() -> Vec<u8> {
    let noise = (0..200_000_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8);
    b"GGUF".iter().copied().chain(noise).collect()
}

pub(crate) fn sha256(bytes: &[u8]) -> Checksum {
    let digits = Sha256::digest(bytes);
    let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.parse().unwrap()
}

/// An entry of the hub's list.
pub(crate) fn entry(path: &str, bytes: &[u8]) -> Value {
    let size = bytes.len();
    let oid = sha256(bytes).to_string();
    json!({"type": "file", "path": path, "size": size, "oid": "0",
           "lfs": {"oid": oid, "size": size, "pointerSize": 130}})
}

/// What the hub does with a request for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Gives what is asked for.
    Good,
    /// Breaks off after this many bytes.
    BreaksAfter(usize),
    /// Gives all of it, whatever range is asked for.
    IgnoresRanges,
    /// Gives the right number of wrong bytes.
    Lies,
    /// Refuses with this status.
    Refuses(u16),
}

/// A hub whose repository `owner/repo` has this list and, for every name in it, these bytes. It meets
/// each request for bytes in the next manner, and in the last one for ever.
pub(crate) fn hub(list: Value, bytes: Vec<u8>, manners: &[Manner]) -> TestServer {
    let manners = Arc::new(Mutex::new(manners.to_vec()));
    TestServer::answering_anywhere(move |received: &Received| {
        if received.path == "/v1/api/models/owner/repo/tree/main?recursive=true" {
            return Turn::status(200).body(list.to_string());
        }
        if !received.path.starts_with("/v1/owner/repo/resolve/main/") {
            return Turn::status(404);
        }
        let mut manners = manners.lock().unwrap();
        let manner = if manners.len() > 1 {
            manners.remove(0)
        } else {
            manners[0]
        };
        let from = received.header("range").map_or(0, |range| {
            let digits = range.strip_prefix("bytes=").unwrap().strip_suffix('-');
            digits.unwrap().parse().unwrap()
        });
        let rest = bytes[from..].to_vec();
        let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
        let given = match from {
            0 => Turn::status(200),
            _ => Turn::status(206).header("content-range", range.as_str()),
        };
        match manner {
            Manner::Good => given.body(rest),
            Manner::BreaksAfter(count) if from == 0 => {
                Turn::raw_chunks([rest[..count].to_vec()]).then_cut()
            }
            Manner::BreaksAfter(count) => given.body(rest[..count].to_vec()),
            Manner::IgnoresRanges => Turn::status(200).body(bytes.clone()),
            Manner::Lies => given.body(rest.iter().map(|byte| !byte).collect::<Vec<u8>>()),
            Manner::Refuses(status) => Turn::status(status),
        }
    })
}
