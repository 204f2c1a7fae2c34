//! The options in `#[tool(…)]`.

use enact_signature::is_tool_name;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::LitStr;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;

use crate::crate_path;

const ALLOWED: &str = "the options are `read_only`, `idempotent`, `require_confirmation`, \
                       `confirm_when = function`, `volatile`, `serial`, `timeout = \"5s\"`, `name = \"…\"` and `description = \"…\"`";

#[derive(Default)]
pub(crate) struct Options {
    read_only: bool,
    idempotent: bool,
    require_confirmation: bool,
    confirm_when: Option<syn::Expr>,
    volatile: bool,
    serial: bool,
    timeout: Option<u64>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
}

impl Options {
    pub(crate) fn parse(tokens: TokenStream) -> syn::Result<Self> {
        let mut options = Self::default();
        let mut contradiction = None;
        let parser = syn::meta::parser(|option| {
            options.read(&option)?;
            if let (Some(problem), None) = (options.contradiction(), &contradiction) {
                contradiction = Some(option.error(problem));
            }
            Ok(())
        });
        parser.parse2(tokens)?;
        match contradiction {
            Some(error) => Err(error),
            None => Ok(options),
        }
    }

    fn contradiction(&self) -> Option<&'static str> {
        if self.read_only && self.idempotent {
            Some(
                "`read_only` and `idempotent` exclude each other: a tool that changes nothing is \
                 `read_only`, one that may change something once is `idempotent`",
            )
        } else if self.require_confirmation && self.confirm_when.is_some() {
            Some(
                "`require_confirmation` and `confirm_when` exclude each other: the one asks \
                 before every call, the other before those that its function picks",
            )
        } else {
            None
        }
    }

    fn read(&mut self, option: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let Some(key) = option.path.get_ident().map(ToString::to_string) else {
            return Err(option.error(format!("not an option of `#[tool]`; {ALLOWED}")));
        };
        match key.as_str() {
            "read_only" => flag(&mut self.read_only, &key, option),
            "idempotent" => flag(&mut self.idempotent, &key, option),
            "require_confirmation" => flag(&mut self.require_confirmation, &key, option),
            "confirm_when" => {
                if !option.input.peek(syn::Token![=]) {
                    return Err(option.error(
                        "`confirm_when` takes a function from the arguments to `bool`: write \
                         `confirm_when = is_large`",
                    ));
                }
                let policy = option.value()?.parse()?;
                once(&mut self.confirm_when, policy, &key, option)
            }
            "volatile" => flag(&mut self.volatile, &key, option),
            "serial" => flag(&mut self.serial, &key, option),
            "timeout" => {
                let text = text(&key, "5s", option)?;
                let milliseconds = milliseconds(&text.value());
                let milliseconds = milliseconds.ok_or_else(|| {
                    let message = format!(
                        "`{}` is not a duration: write a number and `ms`, `s`, `m` or `h`, such as \
                         `500ms`, `5s` or `1m30s`, more than zero",
                        text.value()
                    );
                    syn::Error::new(text.span(), message)
                })?;
                once(&mut self.timeout, milliseconds, &key, option)
            }
            "name" => {
                let text = text(&key, "weather", option)?;
                if !is_tool_name(&text.value()) {
                    let message = format!(
                        "`{}` cannot be the name of a tool: use 1 to 64 of the characters a-z A-Z \
                         0-9 _ -",
                        text.value()
                    );
                    return Err(syn::Error::new(text.span(), message));
                }
                once(&mut self.name, text, &key, option)
            }
            "description" => once(
                &mut self.description,
                text(&key, "…", option)?,
                &key,
                option,
            ),
            _ => Err(option.error(format!("`{key}` is not an option of `#[tool]`; {ALLOWED}"))),
        }
    }

    /// The method calls that apply these options to a spec.
    pub(crate) fn spec_calls(&self) -> TokenStream {
        let enact = crate_path::enact();
        let effect = match (self.read_only, self.idempotent) {
            (true, _) => Some(quote!(.with_effect(#enact::tool::Effect::ReadOnly))),
            (false, true) => Some(quote!(.with_effect(#enact::tool::Effect::Idempotent))),
            (false, false) => None,
        };
        let confirmation = match (&self.confirm_when, self.require_confirmation) {
            (Some(policy), _) => {
                Some(quote!(.with_confirmation(#enact::tool::Confirmation::when(#policy))))
            }
            (None, true) => Some(quote!(.with_confirmation(#enact::tool::Confirmation::Always))),
            (None, false) => None,
        };
        let volatile = self.volatile.then(|| quote!(.volatile()));
        let serial = self.serial.then(|| quote!(.serial()));
        let timeout = self.timeout.map(|milliseconds| {
            quote!(.with_timeout(::core::time::Duration::from_millis(#milliseconds)))
        });
        quote!(#effect #confirmation #volatile #serial #timeout)
    }
}

fn flag(flag: &mut bool, key: &str, option: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if !option.input.is_empty() && !option.input.peek(syn::Token![,]) {
        return Err(option.error(format!("`{key}` takes no value: write `{key}` alone")));
    }
    if std::mem::replace(flag, true) {
        return Err(option.error(format!("`{key}` is given twice")));
    }
    Ok(())
}

fn text(key: &str, example: &str, option: &ParseNestedMeta<'_>) -> syn::Result<LitStr> {
    let wanted = format!("`{key}` takes a text: write `{key} = \"{example}\"`");
    if !option.input.peek(syn::Token![=]) {
        return Err(option.error(wanted));
    }
    let value = option.value()?;
    let span: Span = value.span();
    value.parse().map_err(|_| syn::Error::new(span, wanted))
}

fn once<T>(
    place: &mut Option<T>,
    value: T,
    key: &str,
    option: &ParseNestedMeta<'_>,
) -> syn::Result<()> {
    match place.replace(value) {
        Some(_) => Err(option.error(format!("`{key}` is given twice"))),
        None => Ok(()),
    }
}

/// `1m30s` in milliseconds.
fn milliseconds(text: &str) -> Option<u64> {
    let mut rest = text.trim();
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let factor = match rest[..unit].trim() {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => return None,
        };
        rest = &rest[unit..];
        total = total.checked_add(number.checked_mul(factor)?)?;
    }
    (total > 0).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(milliseconds("500ms"), Some(500));
        assert_eq!(milliseconds("5s"), Some(5_000));
        assert_eq!(milliseconds("1m30s"), Some(90_000));
        assert_eq!(milliseconds("2 h"), Some(7_200_000));
        for wrong in [
            "",
            "5",
            "s",
            "0s",
            "-1s",
            "1.5s",
            "5 days",
            "99999999999999999999s",
            "5é",
        ] {
            assert_eq!(milliseconds(wrong), None, "{wrong}");
        }
    }
}
