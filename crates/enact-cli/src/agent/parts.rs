//! The agents that do a part of the work of another: each is one request to a model.

use std::path::Path;

use enact::signature::SignatureError;
use enact::{Predict, ReAct, Signature};

use super::resolved::Agent;
use super::source::{Source, below};
use super::{Problem, Reading, of_file};
use crate::args::{PartArgs, usual_limits};
use crate::exit::Failure;

/// A part of the work of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartName {
    /// It produces the outputs after the loop.
    Extraction,
    /// It summarises what no longer fits into a prompt.
    Compaction,
}

impl PartName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Extraction => "extraction",
            Self::Compaction => "compaction",
        }
    }

    /// The signature of its request. The name `trajectory` is reserved, so that no file says it.
    pub(crate) fn signature(self, declared: &Signature) -> Result<Signature, SignatureError> {
        match self {
            Self::Extraction => declared.with_trajectory(),
            Self::Compaction => Ok(declared.clone()),
        }
    }
}

impl Agent {
    /// The agents that do parts of its work.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (PartName, &Self)> {
        let all = [
            (PartName::Extraction, &self.extraction),
            (PartName::Compaction, &self.compaction),
        ];
        all.into_iter()
            .filter_map(|(name, part)| Some((name, &**part.as_ref()?)))
    }

    /// The same under the flags of a command.
    pub(super) fn with_parts(mut self, args: &PartArgs) -> Result<Self, Failure> {
        let read = |path: &Path| of_file(path).map(Box::new);
        if let Some(path) = &args.extraction {
            self.extraction = Some(read(path)?);
        }
        if let Some(path) = &args.compaction {
            self.compaction = Some(read(path)?);
        }
        match self.check_parts() {
            Ok(()) => Ok(self),
            Err((name, message)) => {
                let message = format!("`--{}`: {message}", name.as_str());
                Err(Failure::usage("agent_file", message))
            }
        }
    }

    /// Whether the agents that do parts of its work fit.
    fn check_parts(&self) -> Result<(), (PartName, String)> {
        for (name, part) in self.parts() {
            if let Some(key) = part.key_without_effect() {
                let message = format!(
                    "an agent for the {} makes a single request: leave `{key}` out of its file",
                    name.as_str()
                );
                return Err((name, message));
            }
            self.check_part(name, part)
                .map_err(|error| (name, error.to_string()))?;
        }
        Ok(())
    }

    fn check_part(&self, name: PartName, part: &Self) -> Result<(), enact::Error> {
        let module = Predict::builder(name.signature(&part.signature)?).build()?;
        let mut builder = ReAct::builder(self.signature.clone());
        if self.reasoning.confidence == Some(true) {
            builder = builder.confidence();
        }
        let builder = match name {
            PartName::Extraction => builder.extraction(module),
            PartName::Compaction => builder.compaction(module),
        };
        builder.build().map(drop)
    }

    /// A key of the file that says something of steps, where there is but one request.
    fn key_without_effect(&self) -> Option<&'static str> {
        let reasoning = &self.reasoning;
        let mut usual = usual_limits();
        usual.max_repairs = self.limits.max_repairs;
        let said = [
            ("tools", !self.own.tools.is_empty()),
            ("files", self.own.files.is_some()),
            ("mcp", self.mcp.is_some()),
            ("agents", !self.agents.is_empty()),
            ("hooks", !self.hooks.is_empty()),
            ("extraction", self.extraction.is_some()),
            ("compaction", self.compaction.is_some()),
            ("rules", self.rules != enact::run::Rules::default()),
            ("limits", self.limits != usual),
            ("prices", self.prices.is_some()),
            ("thought_prompt", reasoning.thought_prompt.is_some()),
            ("step_adapter", reasoning.step_adapter.is_some()),
            ("confidence", reasoning.confidence == Some(true)),
        ];
        said.into_iter()
            .find_map(|(key, is_said)| is_said.then_some(key))
    }
}

impl Reading {
    /// The agent of a file with those that do parts of its work.
    pub(super) fn with_parts(
        &mut self,
        mut agent: Agent,
        path: &Path,
        source: &Source,
        args: &PartArgs,
    ) -> Agent {
        let before = self.problems.len();
        agent.extraction = self.part(path, source, PartName::Extraction, &args.extraction);
        agent.compaction = self.part(path, source, PartName::Compaction, &args.compaction);
        if self.problems.len() == before
            && let Err((name, message)) = agent.check_parts()
        {
            let pointer = below("", name.as_str());
            self.problems.push(source.at(&pointer, message));
        }
        agent
    }

    fn part(
        &mut self,
        path: &Path,
        source: &Source,
        name: PartName,
        file: &Option<impl AsRef<Path>>,
    ) -> Option<Box<Agent>> {
        let folder = path.parent().unwrap_or(Path::new(""));
        match self.file(&folder.join(file.as_ref()?)) {
            Ok(agent) => agent.map(Box::new),
            Err(message) => {
                let problem: Problem = source.at(&below("", name.as_str()), message);
                self.problems.push(problem);
                None
            }
        }
    }
}
