//! Secrets that are never shown: provider keys, and the values of variables that the user names.

use enact::Settings;
use enact::model::{SecretError, Secrets};
use enact::run::SealKey;
use enact_providers::Provider;

use crate::agent::Agent;
use crate::exit::Failure;
use crate::keys;

/// The variable that lists variables with secret values.
const VARIABLE: &str = "ENACT_SECRETS";

/// Real keys are longer; a shorter value is a placeholder where no key is needed, and may
/// be an ordinary word.
const SHORTEST_KEY: usize = 16;

/// Keeps secrets out of all runs of this process: those of the environment, the values of the
/// variables that an agent names, the passwords in its addresses, and those in the commands of its
/// servers and hooks. With a key, the runs that begin are sealed.
pub(crate) fn configure(plan: Option<&Agent>, seal: Option<SealKey>) -> Result<(), Failure> {
    let (mut secrets, mut problems) = gathered();
    let told = |problems: &[(String, SecretError)], who: &str| match problems.first() {
        None => Ok(()),
        Some((name, error)) => {
            let message = format!("{who} names {name}, which cannot be kept secret: {error}");
            Err(Failure::usage("secrets", message))
        }
    };
    told(&problems, VARIABLE)?;
    for name in plan.map(Agent::all_secrets).unwrap_or_default() {
        secrets = add(secrets, &name, &mut problems);
    }
    told(&problems, "`secrets` of the agent file")?;
    for address in plan.map(Agent::all_addresses).unwrap_or_default() {
        // A query may contain an ordinary word, such as the version of an API.
        let place = address.split('?').next().unwrap_or_default();
        for part in enact_providers::credentials(place) {
            // Values too short to be distinguished from other words are only kept out of errors.
            secrets = secrets.clone().with(&part).unwrap_or(secrets);
        }
    }
    if let Some(plan) = plan {
        secrets = plan.add_secrets(secrets);
    }
    let mut settings = Settings::new().secrets(secrets);
    if let Some(key) = seal {
        settings = settings.seal_key(key);
    }
    enact::configure(settings);
    Ok(())
}

/// A text without secrets.
pub(crate) fn redact(text: &str) -> String {
    // A failure can be reported before anything is configured.
    let text = gathered().0.redact(text).into_owned();
    enact::secrets().redact(&text).into_owned()
}

/// All secrets in the environment, and the variables without one.
fn gathered() -> (Secrets, Vec<(String, SecretError)>) {
    let (mut secrets, mut problems) = (Secrets::new(), Vec::new());
    let providers = Provider::all();
    for name in providers.iter().flat_map(Provider::key_variables) {
        let key = std::env::var(name).unwrap_or_default();
        if key.trim().len() >= SHORTEST_KEY {
            secrets = add(secrets, name, &mut problems);
        }
    }
    // Values too short to be distinguished from other words are not keys.
    for key in keys::keys().unwrap_or_default().values() {
        secrets = secrets.clone().with(key).unwrap_or(secrets);
    }
    let names = std::env::var(VARIABLE).unwrap_or_default();
    let names = names.split(',').map(str::trim);
    for name in names.filter(|name| !name.is_empty()) {
        secrets = add(secrets, name, &mut problems);
    }
    (secrets, problems)
}

fn add(secrets: Secrets, name: &str, problems: &mut Vec<(String, SecretError)>) -> Secrets {
    match secrets.clone().with_variable(name) {
        Ok(more) => more,
        Err(error) => {
            problems.push((name.to_owned(), error));
            secrets
        }
    }
}
