//! Who works on a run: whoever holds the lock on the run's file. The operating system gives the
//! lock back when its process ends, however it ends.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::connect;

/// How often a file may vanish while it is being locked.
const MAX_ATTEMPTS: usize = 1000;

/// The lock on a run. Its file is there while it is held, and stays behind only after a crash.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// Locks a run, unless somebody has it.
    pub(crate) fn try_new(folder: &Path, run_id: &str) -> io::Result<Option<Self>> {
        connect::create_folder(folder)?;
        let path = folder.join(file_name(run_id));
        for _ in 0..MAX_ATTEMPTS {
            let mut options = OpenOptions::new();
            let file = options
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            // A file that is not empty was removed by its holder after we had opened it: others
            // lock the new one.
            if file.metadata()?.len() == 0 {
                return Ok(Some(Self { file, path }));
            }
        }
        Err(io::Error::other(format!(
            "the lock file `{}` is not empty: remove it",
            path.display()
        )))
    }
}

/// Whether somebody has the lock on a run.
pub(crate) fn is_held(folder: &Path, run_id: &str) -> io::Result<bool> {
    let file = match File::open(folder.join(file_name(run_id))) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // Shared, so that those who look do not see each other. It is gone when the file is closed.
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if std::fs::remove_file(&self.path).is_ok() {
            let _ = self.file.set_len(1);
        }
        // Closing is not enough: a child that is just being started may have a copy of the handle.
        let _ = self.file.unlock();
    }
}

/// A name that every file system takes, whatever is in the id of the run.
fn file_name(run_id: &str) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(run_id).iter().take(16) {
        let _ = write!(name, "{byte:02x}");
    }
    name + ".lock"
}
