//! Which runs are resumed without asking: those that this user started on this machine.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use enact::Run;
use enact::run::SealKey;
use enact_sqlite::SqliteStore;

use crate::exit::Failure;
use crate::interrupt;
use crate::person::Person;
use crate::run::deeds;
use crate::view::exact;
use crate::view::{Ink, Narrator, show_deed, text};

/// The variable with the path of the key file.
const VARIABLE: &str = "ENACT_SEAL_KEY";
const KEY: &str = "seal.key";
/// The directory of the runs that a person agreed to, beside the key.
const TRUSTED: &str = "trusted";
/// The maximum length of an action in an error, which is one line.
const MAX_DEED: usize = 200;

/// Who agrees to resuming a run from another source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// The user at the terminal.
    Ask,
    /// No one can be asked.
    Refuse,
    /// The command line already agrees.
    Given,
}

/// The key of this user on this machine, created if needed. Without a key, runs are not sealed, and
/// resuming them asks for consent.
pub(crate) fn key() -> Option<SealKey> {
    let path = path()?;
    read(&path).or_else(|| make(&path))
}

fn path() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => SqliteStore::default_path().map(|runs| runs.with_file_name(KEY)),
    }
}

fn read(path: &Path) -> Option<SealKey> {
    let bytes = std::fs::read(path).ok()?;
    bytes.try_into().ok().map(SealKey::new)
}

fn make(path: &Path) -> Option<SealKey> {
    let folder = path.parent()?;
    private_folder(folder).ok()?;
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).ok()?;
    // Only the owner can read it, and only as a whole.
    let mut file = tempfile::NamedTempFile::new_in(folder).ok()?;
    file.write_all(&bytes).ok()?;
    file.as_file().sync_all().ok()?;
    match file.persist_noclobber(path) {
        Ok(_) => Some(SealKey::new(bytes)),
        // Another process was faster.
        Err(_) => read(path),
    }
}

/// Creates a directory and its parents, accessible only to the owner.
fn private_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether a run may be resumed: one that came from somewhere else says which commands are started
/// and where keys are sent, so a person has to agree to that first. `way_out` is what to do where
/// nobody can be asked.
pub(crate) async fn check(
    run: &Run,
    key: Option<&SealKey>,
    consent: Consent,
    way_out: &str,
    narrator: &Narrator,
) -> Result<(), Failure> {
    let remembered =
        key.and_then(|key| Some(path()?.with_file_name(TRUSTED).join(key.seal_of(run))));
    let is_remembered = remembered.as_ref().is_some_and(|file| file.exists());
    let is_own = key.is_some_and(|key| run.is_sealed_by(key));
    if is_own || is_remembered || consent == Consent::Given {
        return Ok(());
    }
    let deeds = deeds(run)?;
    let person = match consent {
        Consent::Ask => Person::here(narrator),
        _ => Person::Nobody,
    };
    if !person.is_there() {
        return Err(refused(run, &deeds, way_out));
    }
    let screen = person.screen(narrator);
    let mark = screen.paint(Ink::Question, "?");
    screen.line(&format!(
        "   {mark} this run was not started by you on this machine. To resume it, enact:"
    ));
    for (what, how) in &deeds {
        show_deed(screen, what, how);
    }
    let interrupted = interrupt::watch();
    let prompt = "do you want this? [y]es / [n]o:";
    if !person.agrees(narrator, prompt, &interrupted).await {
        let message = "the run was not started by you on this machine, and was not resumed: nothing \
                       was started";
        return Err(Failure::usage("untrusted", message));
    }
    if let Some(file) = remembered {
        // If this fails, the next resume asks again.
        let _ = file.parent().map(private_folder);
        let _ = std::fs::write(file, run.id());
    }
    Ok(())
}

fn refused(run: &Run, deeds: &[(String, String)], way_out: &str) -> Failure {
    let deeds = deeds.iter().map(|(what, how)| {
        let how = exact::spelled_out(how);
        format!("{what}: {}", text::ends(&how, MAX_DEED))
    });
    let deeds: Vec<String> = deeds.collect();
    let message = format!(
        "the run was not started by this user on this machine, and nobody can be asked whether to \
         resume it, which means: {}; {way_out} (`enact show {}` shows it)",
        deeds.join("; "),
        run.id()
    );
    Failure::usage("untrusted", message)
}
