//! Prices of tokens.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Usage;

const MILLION: f64 = 1_000_000.0;

/// Prices per million tokens of a model, in any currency.
///
/// ```
/// use enact::model::{Price, Usage};
///
/// // Per million tokens.
/// let price = Price { input: 3.0, cached_input: Some(0.3), output: 15.0 };
/// assert_eq!(price.of(Usage::of_request(1_000_000, 100_000)), 4.5);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// Input tokens.
    pub input: f64,
    /// Input tokens read from the prompt cache. Default: the price of `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input: Option<f64>,
    /// Output tokens.
    pub output: f64,
}

impl Price {
    /// The cost of this usage.
    pub fn of(&self, usage: Usage) -> f64 {
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        (fresh as f64 * self.input
            + cached as f64 * self.cached_input.unwrap_or(self.input)
            + usage.output_tokens as f64 * self.output)
            / MILLION
    }
}

/// Prices by model name. A price also applies to dated versions of the model, and to names that end
/// with `-latest` and `-preview`.
///
/// ```
/// use enact::model::Prices;
///
/// let prices = Prices::read(r#"{"large": {"input": 2.5, "cached_input": 1.25, "output": 10}}"#)?;
/// assert!(prices.get("large").is_some());
/// assert!(prices.get("large-2026-11-15").is_some());
/// assert!(prices.get("small").is_none());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices {
    by_model: BTreeMap<String, Price>,
}

impl Prices {
    /// No prices.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a price.
    #[must_use]
    pub fn with(mut self, model: impl Into<String>, price: Price) -> Self {
        self.by_model.insert(model.into(), price);
        self
    }

    /// Parses `{"model": {"input": 2.5, "cached_input": 1.25, "output": 10}}`. The error describes the
    /// problem.
    pub fn read(json: &str) -> Result<Self, String> {
        let prices: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        // A misspelt key would give a wrong price.
        let known = ["input", "cached_input", "output"];
        let written: BTreeMap<String, BTreeMap<String, f64>> =
            serde_json::from_str(json).map_err(|error| error.to_string())?;
        let unknown = written.values().flat_map(BTreeMap::keys);
        if let Some(name) = unknown
            .into_iter()
            .find(|name| !known.contains(&name.as_str()))
        {
            return Err(format!(
                "`{name}` is not a price: use `input`, `cached_input` or `output`"
            ));
        }
        for (model, price) in &prices.by_model {
            let all = [price.input, price.output, price.cached_input.unwrap_or(0.0)];
            if all.iter().any(|one| !one.is_finite() || *one < 0.0) {
                return Err(format!(
                    "the prices of `{model}` have to be numbers of 0 or more"
                ));
            }
        }
        Ok(prices)
    }

    /// The cost of this usage of a model; `None` if the price is unknown.
    pub fn cost(&self, model: &str, usage: Usage) -> Option<f64> {
        self.get(model).map(|price| price.of(usage))
    }

    /// The price of a model: under its own name, or under the longest name of which it is a version,
    /// such as `large` for `large-2026-11-15`, `large-20261115`, `large-latest` and
    /// `large-preview-11-15`. A different model, such as `large-mini`, needs a price of its own.
    pub fn get(&self, model: &str) -> Option<Price> {
        let is_of = |name: &str| model.strip_prefix(name).is_some_and(is_version);
        let fitting = self.by_model.iter().filter(|(name, _)| is_of(name));
        let longest = fitting.max_by_key(|(name, _)| name.len());
        longest.map(|(_, price)| *price)
    }
}

/// Whether the rest of a model name is a version, and doesn't name a different model.
fn is_version(suffix: &str) -> bool {
    let Some(suffix) = suffix.strip_prefix('-') else {
        return suffix.is_empty();
    };
    let mut parts = suffix.split('-').peekable();
    let has_word = parts.next_if(|part| matches!(*part, "latest" | "preview"));
    let digits = |part: &str| match part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.len(),
        false => 0,
    };
    let date: Vec<usize> = parts.map(digits).collect();
    match date[..] {
        [] => has_word.is_some(),
        // A year and a month, a month and a day, a date, or a numbered revision.
        [4 | 6 | 8] | [4, 2] | [4, 2, 2] => true,
        [2, 2] => has_word == Some("preview"),
        [3] => suffix.starts_with("00"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_cost_their_own_price() {
        let mut usage = Usage::of_request(1_000_000, 100_000);
        let price = Price {
            input: 2.0,
            cached_input: Some(0.5),
            output: 10.0,
        };
        assert_eq!(price.of(usage), 3.0);
        usage.cached_input_tokens = 400_000;
        assert_eq!(price.of(usage), 1.2 + 0.2 + 1.0);
    }

    #[test]
    fn wrong_prices_are_refused() {
        for bad in [
            "[]",
            r#"{"m": {"input": 1}}"#,
            r#"{"m": {"input": -1, "output": 1}}"#,
            r#"{"m": {"input": 1, "output": 1, "cashed": 1}}"#,
        ] {
            assert!(Prices::read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_dated_model_has_the_price_of_its_name() {
        let price = |input| Price {
            input,
            cached_input: None,
            output: 1.0,
        };
        let prices = Prices::new()
            .with("m", price(1.0))
            .with("m-mini", price(0.1));
        assert_eq!(
            prices.get("m-mini-2026").map(|price| price.input),
            Some(0.1)
        );
        assert_eq!(prices.get("m-2026").map(|price| price.input), Some(1.0));
        for version in [
            "m",
            "m-latest",
            "m-preview",
            "m-2026-11",
            "m-2026-11-15",
            "m-20261115",
            "m-1115",
            "m-preview-11-15",
            "m-001",
        ] {
            assert_eq!(
                prices.get(version).map(|price| price.input),
                Some(1.0),
                "{version}"
            );
        }
        for other in [
            "max",
            "m-foo",
            "m-4",
            "m-4-1",
            "m-32k",
            "m-",
            "m-latest-foo",
            "m-2026-foo",
            "m-123",
            "m2026",
        ] {
            assert_eq!(prices.get(other), None, "{other}");
        }
    }
}
