//! The model files of this machine, by name.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::checksum::{self, Checksum};
use crate::error::{ShelfError, ShelfErrorKind};
use crate::gguf;
use crate::progress::Progress;

/// The variable with the path of the directory.
const VARIABLE: &str = "ENACT_MODELS";
const INDEX: &str = "index.json";
const LOCK: &str = "index.lock";
/// The version of the index.
const VERSION: u32 = 1;

/// A model file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Kept {
    /// The name.
    pub name: String,
    /// The path: absolute, or relative to the shelf's directory.
    pub(crate) file: PathBuf,
    /// The size in bytes.
    pub bytes: u64,
    /// The checksum.
    pub sha256: Checksum,
    /// The source, such as `owner/repo/file.gguf`; none if it was added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Index {
    version: u32,
    models: Vec<Kept>,
}

/// A directory with downloaded model files, and an index of these and of other files.
///
/// Processes can share it: the index is replaced as a whole, by one process at a time.
///
/// ```
/// use enact_models::Shelf;
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let shelf = Shelf::at(folder);
/// assert!(shelf.list()?.is_empty());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// The shelf in this directory, which is created when the first model is added.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The shelf of this user: in the directory in `ENACT_MODELS`, otherwise `enact/models` in the platform's
    /// data directory.
    ///
    /// # Errors
    /// If neither is known.
    pub fn open() -> Result<Self, ShelfError> {
        let folder = default_folder(std::env::consts::OS, |name| std::env::var_os(name));
        folder.map(Self::at).ok_or_else(|| {
            let message = format!("the directory for models is unknown: set one with {VARIABLE}");
            ShelfError::new(ShelfErrorKind::NotFound, message)
        })
    }

    /// The directory.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// All models, by name.
    ///
    /// # Errors
    /// If the index cannot be read.
    pub fn list(&self) -> Result<Vec<Kept>, ShelfError> {
        let path = self.folder.join(INDEX);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(ShelfError::io(&path, error)),
        };
        let wrong = |what: String| {
            let message = format!("the index `{}` {what}", path.display());
            ShelfError::new(ShelfErrorKind::Io, message)
        };
        let index: Index = serde_json::from_str(&text).map_err(|error| {
            wrong(format!("cannot be read: {error}; mend or remove it")).with_source(error)
        })?;
        if index.version != VERSION {
            return Err(wrong(
                "was written by another version of enact: take that one".to_owned(),
            ));
        }
        Ok(index.models)
    }

    /// The path of a model's file.
    pub fn path(&self, kept: &Kept) -> PathBuf {
        self.folder.join(&kept.file)
    }

    /// The model with this name, if its file exists and has its size.
    ///
    /// # Errors
    /// If it doesn't exist, or its file is missing or was changed.
    pub fn find(&self, name: &str) -> Result<Kept, ShelfError> {
        let models = self.list()?;
        let Some(kept) = models.iter().find(|kept| kept.name == name) else {
            let names: Vec<&str> = models.iter().map(|kept| kept.name.as_str()).collect();
            let known = match names[..] {
                [] => "there are none yet".to_owned(),
                _ => format!("there are {}", names.join(", ")),
            };
            let message = format!(
                "there is no model `{name}` on the shelf ({known}): fetch one with `enact model \
                 pull`, or register a file with `enact model add`"
            );
            return Err(ShelfError::new(ShelfErrorKind::NotFound, message));
        };
        self.check(kept)?;
        Ok(kept.clone())
    }

    /// Checks that the file of a model exists and has its size.
    ///
    /// # Errors
    /// If it is missing or was changed.
    pub fn check(&self, kept: &Kept) -> Result<(), ShelfError> {
        let path = self.path(kept);
        let bytes = fs::metadata(&path)
            .map_err(|error| ShelfError::io(&path, error))?
            .len();
        if bytes == kept.bytes {
            return Ok(());
        }
        let message = format!(
            "the file of `{}` has {bytes} bytes and should have {}: remove the model, and fetch or \
             add it again",
            kept.name, kept.bytes
        );
        Err(ShelfError::new(ShelfErrorKind::Checksum, message))
    }

    /// Registers an existing file, which stays where it is, under this name, or under the file name without
    /// its extension. `watcher` receives the number of bytes read.
    ///
    /// # Errors
    /// If it cannot be read, is not a model, or the name belongs to another file.
    pub fn add(
        &self,
        file: &Path,
        name: Option<&str>,
        watcher: &mut dyn FnMut(Progress),
    ) -> Result<Kept, ShelfError> {
        let file = std::path::absolute(file).map_err(|error| ShelfError::io(file, error))?;
        must_be_model(&file)?;
        let total = fs::metadata(&file).map_err(|error| ShelfError::io(&file, error))?;
        let total = total.len();
        let summing = checksum::of_file(&file, &mut |done| watcher(Progress { done, total }))?;
        let kept = Kept {
            name: name_of(name, &file)?,
            bytes: summing.bytes(),
            sha256: summing.finish(),
            file,
            source: None,
        };
        self.put(kept)
    }

    /// Removes a model. A downloaded file is deleted; an added file stays.
    ///
    /// # Errors
    /// If the model doesn't exist, or its file cannot be deleted.
    pub fn remove(&self, name: &str) -> Result<Kept, ShelfError> {
        let _lock = self.lock()?;
        let mut models = self.list()?;
        let Some(place) = models.iter().position(|kept| kept.name == name) else {
            let message = format!("no model `{name}`: `enact model list` lists the models");
            return Err(ShelfError::new(ShelfErrorKind::NotFound, message));
        };
        let kept = models.remove(place);
        let path = self.path(&kept);
        let is_shared = models.iter().any(|other| other.file == kept.file);
        if kept.source.is_some() && !is_shared {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(ShelfError::io(&path, error));
                }
                _ => {}
            }
        }
        self.write(models)?;
        Ok(kept)
    }

    /// Whether this name is available for a file from this source, or for an existing one.
    pub(crate) fn must_be_free(&self, name: &str, source: Option<&str>) -> Result<(), ShelfError> {
        let models = self.list()?;
        let other = models.iter().find(|kept| kept.name == name);
        match other.filter(|kept| kept.source.as_deref() != source) {
            None => Ok(()),
            Some(_) => Err(taken(name)),
        }
    }

    /// Adds a model to the index.
    pub(crate) fn put(&self, kept: Kept) -> Result<Kept, ShelfError> {
        let _lock = self.lock()?;
        let mut models = self.list()?;
        match models.iter_mut().find(|other| other.name == kept.name) {
            Some(same) if same.file == kept.file => *same = kept.clone(),
            Some(_) => return Err(taken(&kept.name)),
            None => models.push(kept.clone()),
        }
        models.sort_by(|a, b| a.name.cmp(&b.name));
        self.write(models)?;
        Ok(kept)
    }

    /// Only the holder can change the index.
    fn lock(&self) -> Result<File, ShelfError> {
        fs::create_dir_all(&self.folder).map_err(|error| ShelfError::io(&self.folder, error))?;
        let path = self.folder.join(LOCK);
        let opened = File::options()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path);
        let locked = opened.and_then(|file| file.lock().map(|()| file));
        locked.map_err(|error| ShelfError::io(&path, error))
    }

    fn write(&self, models: Vec<Kept>) -> Result<(), ShelfError> {
        let index = Index {
            version: VERSION,
            models,
        };
        let path = self.folder.join(INDEX);
        let fresh = self.folder.join(format!("{INDEX}.new"));
        let text = serde_json::to_string_pretty(&index)
            .map_err(|error| ShelfError::io(&path, error.into()))?;
        fs::write(&fresh, text).map_err(|error| ShelfError::io(&fresh, error))?;
        fs::rename(&fresh, &path).map_err(|error| ShelfError::io(&path, error))
    }
}

fn taken(name: &str) -> ShelfError {
    let message = format!(
        "the name `{name}` belongs to another model: give one with `--name`, or remove that model"
    );
    ShelfError::new(ShelfErrorKind::Name, message)
}

pub(crate) fn must_be_model(file: &Path) -> Result<(), ShelfError> {
    match gguf::is_gguf(file) {
        Ok(true) => Ok(()),
        Ok(false) => {
            let message = format!(
                "`{}` is no GGUF file: llama.cpp loads no other",
                file.display()
            );
            Err(ShelfError::new(ShelfErrorKind::NotAModel, message))
        }
        Err(error) => Err(ShelfError::io(file, error)),
    }
}

/// The given name, or that of the file.
pub(crate) fn name_of(given: Option<&str>, file: &Path) -> Result<String, ShelfError> {
    let stem = || {
        file.file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
    };
    let name = given.map(str::to_owned).or_else(stem).unwrap_or_default();
    let mut parts = Path::new(&name).components();
    let is_plain = matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    );
    if is_plain && name.trim() == name && !name.contains(['/', '\\', ',']) {
        return Ok(name);
    }
    let message = format!("`{name}` cannot be the name of a model: give another with `--name`");
    Err(ShelfError::new(ShelfErrorKind::Name, message))
}

fn default_folder(platform: &str, variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let given = variable(VARIABLE).filter(|folder| !folder.is_empty());
    if let Some(folder) = given {
        return Some(folder.into());
    }
    // A relative path would depend on the working directory.
    let folder = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.has_root())
    };
    let data = match platform {
        "windows" => folder("APPDATA"),
        "macos" => folder("HOME").map(|home| home.join("Library/Application Support")),
        _ => {
            folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
        }
    };
    data.map(|data| data.join("enact/models"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_one_that_is_named_else_that_of_the_platform() {
        let with = |pairs: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = pairs.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            }
        };
        let named = default_folder("linux", with(&[(VARIABLE, "here"), ("HOME", "/h")]));
        assert_eq!(named, Some("here".into()));
        let linux = default_folder(
            "linux",
            with(&[("HOME", "/h"), ("XDG_DATA_HOME", "not/rooted")]),
        );
        assert_eq!(linux, Some("/h/.local/share/enact/models".into()));
        let macos = default_folder("macos", with(&[("HOME", "/h")]));
        assert_eq!(
            macos,
            Some("/h/Library/Application Support/enact/models".into())
        );
        assert_eq!(default_folder("linux", with(&[])), None);
    }

    #[test]
    fn a_name_is_one_word_of_a_path() {
        let file = Path::new("/models/small.Q4_1.gguf");
        assert_eq!(name_of(None, file).unwrap(), "small.Q4_1");
        assert_eq!(name_of(Some("small"), file).unwrap(), "small");
        for wrong in ["", "..", "a/b", "a\\b", " a", "a,b"] {
            let error = name_of(Some(wrong), file).unwrap_err();
            assert_eq!(error.kind(), ShelfErrorKind::Name, "{wrong}");
        }
    }
}
