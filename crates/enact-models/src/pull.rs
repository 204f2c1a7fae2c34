//! Downloads a model from a hub.

use std::fs::{self, File, TryLockError};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;

use futures_util::StreamExt as _;
use reqwest::StatusCode;
use reqwest::header::CONTENT_RANGE;

use crate::checksum::{self, Checksum, Summing};
use crate::error::{ShelfError, ShelfErrorKind};
use crate::hub::{Hub, Listed};
use crate::progress::Progress;
use crate::shelf::{self, Kept, Shelf};

/// What to download: `owner/repo/file.gguf`, or `owner/repo` if the repository has a single model file.
///
/// ```
/// use enact_models::Wanted;
///
/// let wanted: Wanted = "owner/repo/small.gguf".parse()?;
/// let wanted = wanted.with_name("small");
/// assert!("small.gguf".parse::<Wanted>().is_err());
/// # Ok::<(), enact_models::ShelfError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    repository: String,
    file: Option<String>,
    name: Option<String>,
    sha256: Option<Checksum>,
}

impl Wanted {
    /// Sets the name of the model. Default: the file name without its extension.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
            ..self
        }
    }

    /// Sets the expected checksum, overriding the hub's. Required if the hub reports none.
    #[must_use]
    pub fn with_sha256(self, sha256: Checksum) -> Self {
        Self {
            sha256: Some(sha256),
            ..self
        }
    }
}

impl FromStr for Wanted {
    type Err = ShelfError;

    fn from_str(text: &str) -> Result<Self, ShelfError> {
        let parts: Vec<&str> = text.trim().split('/').collect();
        let is_plain = |part: &&str| !part.is_empty() && !matches!(*part, "." | "..");
        match parts[..] {
            [owner, repository, ref file @ ..] if parts.iter().all(is_plain) => Ok(Self {
                repository: format!("{owner}/{repository}"),
                file: (!file.is_empty()).then(|| file.join("/")),
                name: None,
                sha256: None,
            }),
            _ => {
                let message = format!(
                    "`{}` names no model of a hub: give owner/repo/file.gguf, or owner/repo",
                    text.trim()
                );
                Err(ShelfError::new(ShelfErrorKind::Name, message))
            }
        }
    }
}

impl Shelf {
    /// Downloads a model and adds it to the shelf. An interrupted download is resumed. The file gets its
    /// name only when its checksum is correct. `watcher` receives the number of bytes
    /// so far.
    ///
    /// # Errors
    /// If the hub doesn't have the file, doesn't send it, or sends a different one.
    pub async fn pull(
        &self,
        hub: &Hub,
        wanted: &Wanted,
        watcher: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Kept, ShelfError> {
        let files = hub.files(&wanted.repository).await?;
        let listed = choose(wanted, &files)?;
        let source = format!("{}/{}", wanted.repository, listed.path);
        let place = place(&source)?;
        let name = shelf::name_of(wanted.name.as_deref(), &place)?;
        self.must_be_free(&name, Some(&source))?;
        let Some(sha256) = wanted.sha256.clone().or_else(|| listed.sha256.clone()) else {
            let message = format!(
                "the hub tells no checksum of `{source}`: give the one that you trust with \
                 `--sha256`"
            );
            return Err(ShelfError::new(ShelfErrorKind::Checksum, message));
        };
        let path = self.folder().join(&place);
        if !is_there(&path, listed.bytes, &sha256)? {
            let part = Part::open(&path, &sha256)?;
            part.fetch(hub, &wanted.repository, listed, &sha256, watcher)
                .await?;
        }
        self.put(Kept {
            name,
            file: place,
            bytes: listed.bytes,
            sha256,
            source: Some(source),
        })
    }
}

/// Resolves the file.
fn choose<'a>(wanted: &Wanted, files: &'a [Listed]) -> Result<&'a Listed, ShelfError> {
    let is_model = |path: &str| path.to_ascii_lowercase().ends_with(".gguf");
    let models: Vec<&Listed> = files.iter().filter(|file| is_model(&file.path)).collect();
    let repository = &wanted.repository;
    let names = || {
        let names: Vec<&str> = models.iter().map(|file| file.path.as_str()).collect();
        names.join(", ")
    };
    let chosen = match (&wanted.file, &models[..]) {
        (_, []) => {
            let message = format!("`{repository}` has no GGUF file: take another repository");
            return Err(ShelfError::new(ShelfErrorKind::NotFound, message));
        }
        (Some(path), _) => models
            .iter()
            .find(|file| file.path == *path)
            .ok_or_else(|| {
                let message = format!("`{repository}` has no `{path}`; it has {}", names());
                ShelfError::new(ShelfErrorKind::NotFound, message)
            })?,
        (None, [only]) => only,
        (None, _) => {
            let message = format!(
                "`{repository}` has several models: name one, as {repository}/FILE: {}",
                names()
            );
            return Err(ShelfError::new(ShelfErrorKind::Ambiguous, message));
        }
    };
    if is_part(&chosen.path) {
        let message = format!(
            "`{}` is one of several parts, which cannot be fetched: take a file that is whole",
            chosen.path
        );
        return Err(ShelfError::new(ShelfErrorKind::NotAModel, message));
    }
    Ok(chosen)
}

/// Whether a name has the form `…-00001-of-00003.gguf`.
fn is_part(path: &str) -> bool {
    let stem = path.get(..path.len().saturating_sub(".gguf".len()));
    let Some((before, count)) = stem.and_then(|stem| stem.rsplit_once("-of-")) else {
        return false;
    };
    let is_number = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = before.rsplit_once('-').map_or(before, |(_, number)| number);
    is_number(count) && is_number(number)
}

/// The path of a file in the directory of the shelf: never outside, whatever its name on the hub.
fn place(source: &str) -> Result<PathBuf, ShelfError> {
    let place = PathBuf::from(source);
    let is_inside = place
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if is_inside && !source.contains('\\') {
        return Ok(place);
    }
    let message = format!("`{source}` would lie outside of the shelf: take another file");
    Err(ShelfError::new(ShelfErrorKind::Name, message))
}

fn is_there(path: &Path, bytes: u64, sha256: &Checksum) -> Result<bool, ShelfError> {
    match fs::metadata(path) {
        Ok(found) if found.len() == bytes => {
            let summing = checksum::of_file(path, &mut |_| {})?;
            Ok(summing.finish() == *sha256)
        }
        _ => Ok(false),
    }
}

/// A file that is being downloaded, beside its final place. Its name contains the checksum, so that a
/// download never continues with the bytes of another file.
struct Part {
    path: PathBuf,
    target: PathBuf,
    file: File,
}

impl Part {
    fn open(target: &Path, sha256: &Checksum) -> Result<Self, ShelfError> {
        let mut name = target.as_os_str().to_owned();
        name.push(format!(".{}.part", &sha256.as_str()[..8]));
        let path = PathBuf::from(name);
        let wrong = |error| ShelfError::io(&path, error);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| ShelfError::io(folder, error))?;
        }
        let file = File::options().create(true).append(true).open(&path);
        let file = file.map_err(wrong)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let message = "another process is fetching this file: wait for it";
                return Err(ShelfError::new(ShelfErrorKind::Busy, message));
            }
            Err(TryLockError::Error(error)) => return Err(wrong(error)),
        }
        Ok(Self {
            path,
            target: target.to_owned(),
            file,
        })
    }

    async fn fetch(
        mut self,
        hub: &Hub,
        repository: &str,
        listed: &Listed,
        sha256: &Checksum,
        watcher: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), ShelfError> {
        let mut summing = checksum::of_file(&self.path, &mut |_| {})?;
        if summing.bytes() > listed.bytes {
            summing = self.start_anew()?;
        }
        while summing.bytes() < listed.bytes {
            let before = summing.bytes();
            let done = self
                .fetch_on(hub, repository, listed, &mut summing, watcher)
                .await;
            match done {
                // What arrived is kept; the download continues as long as it makes progress.
                Err(error)
                    if error.kind() != ShelfErrorKind::Connection || summing.bytes() == before =>
                {
                    return Err(error);
                }
                Ok(()) if summing.bytes() == before => {
                    let message = "the hub gives nothing more, although the file is not whole: \
                                   pull again";
                    return Err(ShelfError::new(ShelfErrorKind::Connection, message));
                }
                _ => {}
            }
        }
        let bytes = summing.bytes();
        let found = summing.finish();
        if bytes != listed.bytes || found != *sha256 {
            self.start_anew()?;
            fs::remove_file(&self.path).map_err(|error| ShelfError::io(&self.path, error))?;
            let message = format!(
                "`{}` has the checksum {found} and should have {sha256}: it was thrown away; pull \
                 again, or take another file",
                listed.path
            );
            return Err(ShelfError::new(ShelfErrorKind::Checksum, message));
        }
        self.finish()
    }

    /// A request for the missing part.
    async fn fetch_on(
        &mut self,
        hub: &Hub,
        repository: &str,
        listed: &Listed,
        summing: &mut Summing,
        watcher: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<(), ShelfError> {
        let from = summing.bytes();
        let response = hub.bytes(repository, &listed.path, from).await?;
        let range = response.headers().get(CONTENT_RANGE);
        let begins = range.and_then(|range| range.to_str().ok());
        let is_on = response.status() == StatusCode::PARTIAL_CONTENT
            && begins.is_some_and(|range| range.starts_with(&format!("bytes {from}-")));
        if from > 0 && !is_on {
            // It doesn't support ranges, so everything is sent again.
            *summing = self.start_anew()?;
        }
        let mut blocks = response.bytes_stream();
        while let Some(block) = blocks.next().await {
            let block = block.map_err(|error| hub.lost(error))?;
            self.file
                .write_all(&block)
                .map_err(|error| ShelfError::io(&self.path, error))?;
            summing.add(&block);
            watcher(Progress {
                done: summing.bytes(),
                total: listed.bytes,
            });
            if summing.bytes() > listed.bytes {
                break;
            }
        }
        Ok(())
    }

    fn start_anew(&mut self) -> Result<Summing, ShelfError> {
        let emptied = self.file.set_len(0);
        emptied.map_err(|error| ShelfError::io(&self.path, error))?;
        Ok(Summing::default())
    }

    /// The file is complete: it gets its name.
    fn finish(self) -> Result<(), ShelfError> {
        shelf::must_be_model(&self.path)?;
        let synced = self.file.sync_all();
        synced.map_err(|error| ShelfError::io(&self.path, error))?;
        fs::rename(&self.path, &self.target).map_err(|error| ShelfError::io(&self.target, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_model_are_known_by_their_names() {
        assert!(is_part("big/model-00001-of-00003.gguf"));
        assert!(!is_part("model-one-of-many.gguf"));
        assert!(!is_part("model.gguf"));
        assert!(!is_part("x"));
    }

    #[test]
    fn no_file_lies_outside_of_the_shelf() {
        assert!(place("owner/repo/a/b.gguf").is_ok());
        for outside in [
            "owner/repo/../../b.gguf",
            "/b.gguf",
            "owner/repo/..\\b.gguf",
        ] {
            assert!(place(outside).is_err(), "{outside}");
        }
    }
}
