//! Locks on runs. The holder of the lock on a run's file works on the run. The operating system releases the
//! lock when the process ends, in any case.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::connect;

/// How often a file can disappear while it is being locked.
const MAX_ATTEMPTS: usize = 1000;

/// The lock on a run. Its file exists while it is held, and is only left behind by a crash.
#[derive(Debug)]
pub(crate) struct RunLock {
    file: File,
    path: PathBuf,
}

impl RunLock {
    /// Locks a run, unless another process has the lock.
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
            // A file that is not empty was removed by its holder after we opened it: others
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

/// Whether the lock on a run is held.
pub(crate) fn is_held(folder: &Path, run_id: &str) -> io::Result<bool> {
    let file = match File::open(folder.join(file_name(run_id))) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    // Shared, so that those who check don't see each other. It is released when the file is closed.
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
        // Closing is not enough: a child process that is just starting may have a copy of the handle.
        let _ = self.file.unlock();
    }
}

/// A valid file name for any run id.
fn file_name(run_id: &str) -> String {
    let mut name = String::new();
    for byte in Sha256::digest(run_id).iter().take(16) {
        let _ = write!(name, "{byte:02x}");
    }
    name + ".lock"
}
