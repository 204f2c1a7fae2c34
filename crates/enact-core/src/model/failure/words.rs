//! What a client calls what it needs.

/// How a client names what it needs.
#[derive(Debug, Clone, Copy)]
pub struct Words<'a> {
    /// What kind of server it speaks to, such as `an OpenAI-compatible chat-completions server`.
    pub server: &'a str,
    /// The variable that can hold the key, if there is one.
    pub key_variable: Option<&'a str>,
    /// The method that takes the key.
    pub key_method: &'a str,
}

impl Words<'_> {
    pub(super) fn to_give_a_key(self) -> String {
        let method = self.key_method;
        match self.key_variable {
            Some(variable) => format!("set {variable}, or pass the key to `{method}`"),
            None => format!("pass the key to `{method}`"),
        }
    }

    /// The key, by where it comes from.
    pub(super) fn key_from(self, origin: KeyOrigin<'_>) -> String {
        match origin {
            KeyOrigin::Given => format!("the API key passed to `{}`", self.key_method),
            KeyOrigin::Header => "the API key in a header set with `with_header`".to_owned(),
            KeyOrigin::Variable(name) => format!("the API key in {name}"),
            KeyOrigin::Stored(provider) => format!("the API key stored for `{provider}`"),
        }
    }

    /// How to use another key than the one from there.
    pub fn to_replace(self, origin: KeyOrigin<'_>) -> String {
        match origin {
            KeyOrigin::Given => format!("pass another key to `{}`", self.key_method),
            KeyOrigin::Header => "set another key".to_owned(),
            KeyOrigin::Variable(name) => format!("set {name} to another key"),
            KeyOrigin::Stored(provider) => {
                format!("store another key with `enact keys set {provider}`")
            }
        }
    }
}

/// Where the key of a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrigin<'a> {
    /// The program passed it to the client.
    Given,
    /// A header that the program set holds it.
    Header,
    /// This variable of the environment.
    Variable(&'a str),
    /// The stored keys, under the name of this provider.
    Stored(&'a str),
}
