//! Loads `local::NAME` as a language model.

use std::sync::Arc;

use enact::LanguageModel;

use crate::exit::Failure;

/// The model in a file, by its name on the shelf or its path.
#[cfg(feature = "local")]
pub(crate) fn load(name: &str) -> Result<Arc<dyn LanguageModel>, Failure> {
    use enact_llama::LocalModel;
    use enact_models::Shelf;

    use super::bar::Bar;

    let is_path = name.contains(['/', '\\']);
    let file = if is_path {
        name.into()
    } else {
        let shelf = Shelf::open()?;
        shelf.path(&shelf.find(name)?)
    };
    let bar = Bar::of_percent("loading");
    let watched = bar.clone();
    let mut loading = LocalModel::file(file).watched_by(move |part| watched.tell_part(part));
    if !is_path {
        loading = loading.with_name(name);
    }
    if let Some(tokens) = number("ENACT_LOCAL_CONTEXT")? {
        loading = loading.with_context_tokens(tokens);
    }
    if let Some(threads) = number("ENACT_LOCAL_THREADS")? {
        loading = loading.with_threads(threads);
    }
    let loaded = loading.load();
    bar.end();
    match loaded {
        Ok(model) => Ok(Arc::new(model)),
        Err(error) => Err(Failure::usage("model", error.to_string())),
    }
}

/// The value of a variable that holds a positive number.
#[cfg(feature = "local")]
fn number(variable: &str) -> Result<Option<std::num::NonZeroU32>, Failure> {
    let Ok(text) = std::env::var(variable) else {
        return Ok(None);
    };
    match text.trim() {
        "" => Ok(None),
        text => text.parse().map(Some).map_err(|_| {
            let message = format!("{variable} is `{text}`: give a number above zero");
            Failure::usage("model", message)
        }),
    }
}

/// Explains how to get a build that supports local models.
#[cfg(not(feature = "local"))]
pub(crate) fn load(name: &str) -> Result<Arc<dyn LanguageModel>, Failure> {
    let message = format!(
        "`local::{name}` cannot be run: this build of enact can't run models in the process. Build one that \
         can with `cargo install --path crates/enact-cli --features local` (it needs cmake, a C++ \
         compiler and libclang), or start a llama.cpp server and take `llamacpp::{name}`"
    );
    Err(Failure::usage("no_local_models", message))
}
