//! Recognises hosted servers of providers with known capabilities.

use std::collections::HashSet;
use std::sync::LazyLock;

use genai::adapter::AdapterKind;
use reqwest::Url;

use crate::OpenAi;
use crate::genai::client;
use crate::http::is_loopback;

/// Providers with an address for each region or customer.
const SUFFIXES: [&str; 3] = [".amazonaws.com", ".googleapis.com", ".openai.azure.com"];

/// Whether this is the address of a known provider's hosted API: its models call tools and stop by
/// themselves. For any other server (Ollama, llama.cpp, vLLM, a proxy) that is unknown.
///
/// ```
/// assert!(enact_providers::is_hosted("https://api.groq.com/openai/v1"));
/// assert!(!enact_providers::is_hosted("http://localhost:11434/v1"));
/// ```
pub fn is_hosted(base_url: &str) -> bool {
    static HOSTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let kinds = AdapterKind::all().iter();
        let addresses = kinds.map(|kind| client::usual_address(*kind));
        addresses.filter_map(|address| host(&address)).collect()
    });
    host(base_url).is_some_and(|host| {
        HOSTS.contains(&host) || SUFFIXES.iter().any(|suffix| host.ends_with(suffix))
    })
}

/// The host of an address, unless it is this machine.
pub(crate) fn host(address: &str) -> Option<String> {
    let url = Url::parse(address.trim()).ok()?;
    let host = url.host_str().filter(|host| !is_loopback(host));
    host.map(str::to_owned)
}

/// Configures a client for its server. A hosted model stops by itself, and a limit could cut off its
/// reasoning. Any other model may write without end, so its replies are always streamed.
pub(crate) fn suited(client: OpenAi, base_url: &str) -> OpenAi {
    match is_hosted(base_url) {
        true => client.with_default_max_tokens(None),
        false => client.with_replies_streamed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosted_servers_are_told_from_others() {
        for address in [
            "https://api.openai.com/v1",
            "https://api.anthropic.com/v1",
            "https://openrouter.ai/api/v1/",
            "https://generativelanguage.googleapis.com/v1beta",
            "https://bedrock-runtime.eu-west-1.amazonaws.com",
            "https://mine.openai.azure.com/openai/v1",
        ] {
            assert!(is_hosted(address), "{address}");
        }
        for address in [
            "http://127.0.0.1:11434/v1",
            "http://localhost:8080/v1",
            "https://api.openai.com.example/v1",
            "https://llm.example.com/v1",
            "http://10.0.0.3:8000/v1",
            "nowhere",
            "",
        ] {
            assert!(!is_hosted(address), "{address}");
        }
    }
}
