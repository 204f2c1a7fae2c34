//! Results of probes, stored on disk.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use enact::AdapterChoice;
use enact::model::Capabilities;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::view::{Screen, Stream, text};

/// The variable with the path of the file.
const VARIABLE: &str = "ENACT_PROBES";
const FILE: &str = "enact/probes.json";
/// The form of the file.
const VERSION: u32 = 2;
/// Another model may be behind the same name by then, or a newer server.
const MAX_AGE: SignedDuration = SignedDuration::from_hours(30 * 24);

/// The probe result for one model at one address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Probe {
    pub(crate) base_url: String,
    pub(crate) model: String,
    #[serde(flatten)]
    pub(crate) found: Capabilities,
    /// When the model was probed.
    pub(crate) at: Timestamp,
}

impl Probe {
    /// A new result.
    pub(crate) fn new(base_url: &str, model: &str, found: Capabilities) -> Self {
        Self {
            base_url: without_secrets(base_url),
            model: model.to_owned(),
            found,
            at: Timestamp::now(),
        }
    }

    /// The result in words.
    pub(crate) fn words(&self) -> &'static str {
        let found = self.found;
        match (found.tools, found.response_schema, self.obeys()) {
            (true, true, true) => "calls tools, obeys tool_choice, keeps to a schema",
            (true, true, false) => "calls tools, ignores tool_choice, keeps to a schema",
            (true, false, true) => "calls tools, obeys tool_choice, does not keep to a schema",
            (true, false, false) => "calls tools, ignores tool_choice, does not keep to a schema",
            (false, true, _) => "does not call tools reliably, keeps to a schema",
            (false, false, _) => "does not call tools reliably, nor keep to a schema",
        }
    }

    /// Whether it makes calls that are demanded.
    pub(crate) fn obeys(&self) -> bool {
        self.found.tools && !self.found.ignores_tool_choice
    }

    /// The adapter that `auto` is for it.
    pub(crate) fn adapter(&self) -> String {
        let adapter = AdapterChoice::Auto.resolve(self.found);
        adapter.name().to_owned()
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    version: u32,
    probes: Vec<Probe>,
}

/// The file with probe results. Processes can share it: it is replaced as a whole, by one
/// process at a time.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    path: PathBuf,
}

impl Memory {
    /// The file in ENACT_PROBES, else the one in the platform's cache directory; none if neither is
    /// known.
    pub(crate) fn open() -> Option<Self> {
        let path = default_path(std::env::consts::OS, |name| std::env::var_os(name));
        path.map(|path| Self { path })
    }

    /// The result for a model, unless it is too old.
    pub(crate) fn find(&self, base_url: &str, model: &str) -> Option<Probe> {
        let base_url = without_secrets(base_url);
        let mut known = self.list().into_iter();
        let found = known.find(|probe| probe.base_url == base_url && probe.model == model)?;
        let age = Timestamp::now().duration_since(found.at);
        (age < MAX_AGE).then_some(found)
    }

    /// All results. A file that can't be read counts as empty, with a warning.
    pub(crate) fn list(&self) -> Vec<Probe> {
        let wrong = |what: String| {
            let path = self.path.display();
            let line = format!("warning: `{path}` {what}: it is ignored, and will be replaced");
            Screen::new(Stream::Stderr).line(&text::one_line(&line));
            Vec::new()
        };
        let kept = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => return wrong(format!("cannot be read ({error})")),
        };
        match serde_json::from_slice::<Kept>(&kept) {
            Ok(kept) if kept.version == VERSION => kept.probes,
            // Less was asked then.
            Ok(kept) if kept.version < VERSION => Vec::new(),
            Ok(_) => wrong("was written by another version of enact".to_owned()),
            Err(error) => wrong(format!("is damaged ({error})")),
        }
    }

    /// Stores a result, replacing the earlier one for the same model.
    pub(crate) fn keep(&self, probe: Probe) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let lock = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(self.path.with_extension("lock"))?;
        lock.lock()?;
        let mut probes = self.list();
        probes.retain(|known| (&known.base_url, &known.model) != (&probe.base_url, &probe.model));
        probes.push(probe);
        probes.sort_by(|a, b| (&a.base_url, &a.model).cmp(&(&b.base_url, &b.model)));
        let kept = Kept {
            version: VERSION,
            probes,
        };
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &kept)?;
        file.flush()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// An address without user, password and query, which may contain a key.
fn without_secrets(base_url: &str) -> String {
    let base_url = base_url.trim();
    let end = base_url.find(['?', '#']).unwrap_or(base_url.len());
    let base_url = base_url[..end].trim_end_matches('/');
    let Some((scheme, rest)) = base_url.split_once("://") else {
        return base_url.to_owned();
    };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

fn default_path(platform: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(path) = variable(VARIABLE).filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    // A relative path would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.has_root())
    };
    let cache = match platform {
        "windows" => folder("LOCALAPPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Caches")),
        _ => folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache"))),
    };
    cache.map(|cache| cache.join(FILE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(folder: &tempfile::TempDir) -> Memory {
        Memory {
            path: folder.path().join("deep/probes.json"),
        }
    }

    #[test]
    fn truth_no_secret_is_kept_with_what_was_found_out() {
        for (address, kept) in [
            ("http://h:1/v1/", "http://h:1/v1"),
            ("https://user:p4ss@h/v1?key=k3y#x", "https://h/v1"),
            ("http://h?key=k3y", "http://h"),
            ("http://u:p/@s@h/v1", "http://u:p/@s@h/v1"),
            ("h", "h"),
        ] {
            assert_eq!(without_secrets(address), kept);
        }
    }

    #[test]
    fn truth_what_was_found_out_is_kept_for_a_model_at_an_address() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(&folder);
        assert_eq!(memory.find("http://h/v1", "a"), None);
        let found = Capabilities::FULL.with_tools(false);
        let probe = Probe::new("http://h/v1", "a", found);
        memory.keep(probe.clone()).unwrap();
        let other = Probe::new("http://h/v1", "b", Capabilities::FULL);
        memory.keep(other).unwrap();
        assert_eq!(memory.find("http://x:y@h/v1/?k=v", "a"), Some(probe));
        assert_eq!(memory.find("http://h/v2", "a"), None);
        let again = Probe::new("http://h/v1", "a", Capabilities::TEXT);
        memory.keep(again.clone()).unwrap();
        assert_eq!(memory.find("http://h/v1", "a"), Some(again.clone()));
        assert_eq!(memory.list().len(), 2);
        // Whoever serves that name by now is asked again.
        let old = Probe {
            at: again.at - MAX_AGE,
            ..again
        };
        memory.keep(old).unwrap();
        assert_eq!(memory.find("http://h/v1", "a"), None);
    }

    #[test]
    fn truth_many_may_keep_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let memory = memory(&folder);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let memory = &memory;
                scope.spawn(move || {
                    let model = number.to_string();
                    let probe = Probe::new("http://h", &model, Capabilities::TEXT);
                    memory.keep(probe).unwrap();
                });
            }
        });
        assert_eq!(memory.list().len(), 8);
    }

    #[test]
    fn the_file_is_the_one_that_is_named_else_that_of_the_platform() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            }
        };
        let named = default_path("linux", with(&[(VARIABLE, "here"), ("HOME", "/h")]));
        assert_eq!(named, Some("here".into()));
        let linux = default_path("linux", with(&[("HOME", "/h"), ("XDG_CACHE_HOME", "rel")]));
        assert_eq!(linux, Some("/h/.cache/enact/probes.json".into()));
        let macos = default_path("macos", with(&[("HOME", "/h")]));
        assert_eq!(macos, Some("/h/Library/Caches/enact/probes.json".into()));
        assert_eq!(default_path("linux", with(&[])), None);
    }
}
