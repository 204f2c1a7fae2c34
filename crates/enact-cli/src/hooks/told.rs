//! Failures of hooks are shown to the person, however the run is shown.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::secrets;
use crate::view::{Narrator, Screen, Stream, text};

/// Who tells the run of this process.
static NARRATOR: Mutex<Weak<Narrator>> = Mutex::new(Weak::new());

/// Shows failures among the steps that this narrator tells.
pub(crate) fn tell(narrator: &Arc<Narrator>) {
    *NARRATOR.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(narrator);
}

/// Shows a failure: among the steps, or else on standard error.
pub(super) fn failure(message: &str) {
    let message = secrets::redact(message);
    let narrator = NARRATOR.lock().unwrap_or_else(PoisonError::into_inner);
    match narrator.upgrade().filter(|one| one.screen().is_anywhere()) {
        Some(narrator) => narrator.aside(&message),
        None => {
            let line = text::one_line(&format!("warning: {message}"));
            Screen::new(Stream::Stderr).line(&line);
        }
    }
}
