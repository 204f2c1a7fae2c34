//! The context of a loaded model: the tokens it has processed, and the next one.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use enact_core::model::{ModelError, ModelErrorKind, ModelOptions};
use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use super::form::ROOT;

/// The number of tokens per batch, after which cancellation is checked. Larger batches are hardly faster
/// on a CPU.
const BATCH: usize = 64;
/// The only sequence in the context.
const SEQUENCE: i32 = 0;
/// The value for a random seed in llama.cpp.
const ANY_SEED: u32 = u32::MAX;

/// Why a reply is not continued.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// No one waits for it.
    Abandoned,
    /// It failed.
    Failed(ModelError),
}

impl From<ModelError> for Stopped {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

/// A model with its context.
#[derive(Debug)]
pub(crate) struct Engine<'m> {
    pub(crate) model: &'m LlamaModel,
    context: LlamaContext<'m>,
    batch: LlamaBatch<'static>,
    /// The tokens in the context.
    read: Vec<LlamaToken>,
    /// The index of the next token's logits in the last batch.
    odds: i32,
    evaluated: Arc<AtomicU64>,
}

impl<'m> Engine<'m> {
    pub(crate) fn new(
        backend: &LlamaBackend,
        model: &'m LlamaModel,
        context_tokens: NonZeroU32,
        threads: i32,
        evaluated: Arc<AtomicU64>,
    ) -> Result<Self, ModelError> {
        let batch = u32::try_from(BATCH).unwrap_or(u32::MAX);
        let params = LlamaContextParams::default()
            .with_n_ctx(Some(context_tokens))
            .with_n_batch(batch)
            .with_n_ubatch(batch)
            .with_n_threads(threads)
            .with_n_threads_batch(threads);
        let context = model.new_context(backend, params).map_err(|error| {
            let message = format!(
                "there is no memory for a context of {context_tokens} tokens: take a smaller one"
            );
            ModelError::new(ModelErrorKind::InvalidRequest, message).with_source(error)
        })?;
        Ok(Self {
            model,
            context,
            batch: LlamaBatch::new(BATCH, 1),
            read: Vec::new(),
            odds: 0,
            evaluated,
        })
    }

    /// The size of the context in tokens.
    pub(crate) fn size(&self) -> usize {
        usize::try_from(self.context.n_ctx()).unwrap_or(usize::MAX)
    }

    /// The remaining number of tokens.
    pub(crate) fn room(&self) -> usize {
        self.size().saturating_sub(self.read.len())
    }

    /// Processes a prompt. The prefix that it shares with the last one is not processed again; returns the
    /// length of that prefix.
    pub(crate) fn begin(
        &mut self,
        prompt: &[LlamaToken],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<usize, Stopped> {
        let pairs = self.read.iter().zip(prompt);
        let common = pairs.take_while(|(read, asked)| read == asked).count();
        // The logits come with the last token, so one token is always processed.
        let common = common.min(prompt.len().saturating_sub(1));
        let kept = self.forget_behind(common);
        self.push(&prompt[kept..], is_wanted)?;
        Ok(kept)
    }

    /// Discards the tokens after a position; returns the number that is left. Models with a recurrent state
    /// can't discard a part.
    fn forget_behind(&mut self, kept: usize) -> usize {
        if kept == self.read.len() {
            return kept;
        }
        let from = u32::try_from(kept).ok();
        let is_done = from.is_some_and(|from| {
            let removed = self.context.kv_cache_seq_rm(SEQUENCE, Some(from), None);
            removed.is_ok()
        });
        if is_done {
            self.read.truncate(kept);
        } else {
            self.forget();
        }
        self.read.len()
    }

    fn forget(&mut self) {
        self.context.clear_kv_cache();
        self.read.clear();
    }

    /// Processes more tokens.
    pub(crate) fn push(
        &mut self,
        tokens: &[LlamaToken],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<(), Stopped> {
        for part in tokens.chunks(BATCH) {
            if !is_wanted() {
                return Err(Stopped::Abandoned);
            }
            if let Err(error) = self.evaluate(part) {
                // The state of the context is unknown now.
                self.forget();
                return Err(Stopped::Failed(error));
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, tokens: &[LlamaToken]) -> Result<(), ModelError> {
        self.batch.clear();
        for (index, token) in tokens.iter().enumerate() {
            let place = i32::try_from(self.read.len() + index).map_err(failed)?;
            let is_last = index + 1 == tokens.len();
            self.batch
                .add(*token, place, &[SEQUENCE], is_last)
                .map_err(failed)?;
        }
        self.context.decode(&mut self.batch).map_err(failed)?;
        self.odds = self.batch.n_tokens() - 1;
        self.read.extend_from_slice(tokens);
        let count = u64::try_from(tokens.len()).unwrap_or(u64::MAX);
        self.evaluated.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }

    fn odds(&self) -> LlamaTokenDataArray {
        self.context.token_data_array_ith(self.odds)
    }

    /// The sampler of a grammar.
    pub(crate) fn held_to(&self, grammar: &str) -> Result<LlamaSampler, ModelError> {
        LlamaSampler::grammar(self.model, grammar, ROOT).map_err(|error| {
            ModelError::new(
                ModelErrorKind::InvalidRequest,
                "llama.cpp cannot read the grammar of the reply's schema: write it in simpler \
                 terms",
            )
            .with_source(error)
        })
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> ModelError {
    let message = format!("llama.cpp could not evaluate the prompt: {error}");
    ModelError::new(ModelErrorKind::Server, message).with_source(error)
}

/// Selects the next token: the most likely one, unless a temperature is set.
pub(crate) struct Picker(LlamaSampler);

impl Picker {
    pub(crate) fn new(options: &ModelOptions) -> Self {
        let temperature = options.temperature.filter(|value| value.is_finite());
        Self(match temperature {
            Some(temperature) if temperature > 0.0 => {
                let seed = options.seed.map_or(ANY_SEED, |seed| {
                    // Any fixed seed is fine.
                    u32::try_from(seed % u64::from(ANY_SEED)).unwrap_or(0)
                });
                LlamaSampler::chain_simple([
                    LlamaSampler::temp(temperature as f32),
                    LlamaSampler::dist(seed),
                ])
            }
            _ => LlamaSampler::greedy(),
        })
    }

    /// The next token.
    pub(crate) fn pick(&mut self, engine: &Engine<'_>) -> Result<LlamaToken, ModelError> {
        let mut all = engine.odds();
        self.0.apply(&mut all);
        all.selected_token().ok_or_else(nothing_fits)
    }

    /// The next token that the grammar allows.
    pub(crate) fn pick_allowed(
        &mut self,
        engine: &Engine<'_>,
        grammar: &mut LlamaSampler,
    ) -> Result<LlamaToken, ModelError> {
        // Checking one token is far cheaper than checking all, and usually enough.
        let wished = self.pick(engine)?;
        let mut one = LlamaTokenDataArray::new(vec![LlamaTokenData::new(wished, 0.0, 0.0)], false);
        grammar.apply(&mut one);
        if one.data.iter().any(|data| data.logit().is_finite()) {
            return Ok(wished);
        }
        let mut allowed = engine.odds();
        grammar.apply(&mut allowed);
        allowed.data.retain(|data| data.logit().is_finite());
        if allowed.data.is_empty() {
            return Err(nothing_fits());
        }
        self.0.apply(&mut allowed);
        allowed.selected_token().ok_or_else(nothing_fits)
    }
}

fn nothing_fits() -> ModelError {
    ModelError::new(
        ModelErrorKind::Server,
        "no token of the model fits the form of the reply: take another model file",
    )
}
