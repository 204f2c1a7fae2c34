//! What tokens cost.

use std::collections::BTreeMap;

use enact::model::Usage;
use serde::{Deserialize, Serialize};

use crate::statistics::float;

/// The prices of one model, each for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
    /// Tokens read from the provider's cache; as `input` unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<f64>,
}

/// Prices by model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices {
    by_model: BTreeMap<String, Price>,
}

impl Prices {
    /// Reads `{"model": {"input": 0.15, "output": 0.6, "cached": 0.075}}`.
    pub fn read(json: &str) -> Result<Self, String> {
        let prices: Self = serde_json::from_str(json).map_err(|error| error.to_string())?;
        for (model, price) in &prices.by_model {
            let all = [price.input, price.output, price.cached.unwrap_or(0.0)];
            if all.iter().any(|one| !one.is_finite() || *one < 0.0) {
                return Err(format!("the prices of `{model}` are numbers of 0 or more"));
            }
        }
        Ok(prices)
    }

    /// What this much of a model costs; none if its price is not known.
    pub fn cost(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.by_model.get(model)?;
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let total = float(usage.input_tokens - cached) * price.input
            + float(cached) * price.cached.unwrap_or(price.input)
            + float(usage.output_tokens) * price.output;
        Some(total / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_tokens_have_their_own_price() {
        let prices = Prices::read(
            r#"{"m": {"input": 2, "output": 10, "cached": 0.5}, "n": {"input": 2, "output": 10}}"#,
        )
        .unwrap();
        let mut usage = Usage::of_request(1_000_000, 100_000);
        usage.cached_input_tokens = 400_000;
        assert_eq!(prices.cost("m", &usage), Some(1.2 + 0.2 + 1.0));
        assert_eq!(prices.cost("n", &usage), Some(3.0));
        assert_eq!(prices.cost("other", &usage), None);
    }

    #[test]
    fn wrong_prices_are_refused() {
        for bad in [
            "",
            "[]",
            r#"{"m": {"input": 1}}"#,
            r#"{"m": {"input": -1, "output": 1}}"#,
        ] {
            assert!(Prices::read(bad).is_err(), "{bad}");
        }
    }
}
