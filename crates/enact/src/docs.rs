// Pages link to each other by labels. The definitions at the end of a page lead to files; those in
// `docs_links.md` come first here, so they win and lead to the modules below. Doctests omit them, so
// that they are reported with the lines of their pages.
#![cfg_attr(not(doctest), doc = include_str!("docs_links.md"))]
#![doc = include_str!("../docs/README.md")]

/// A page whose snippets are compiled and run with the tests of this crate.
macro_rules! page {
    ($name:ident, $path:literal) => {
        #[cfg_attr(not(doctest), doc = include_str!("docs_links.md"))]
        #[doc = include_str!(concat!("../docs/", $path))]
        pub mod $name {}
    };
}

/// A page whose snippets need another crate, which compiles and runs them.
macro_rules! page_of_another_crate {
    ($name:ident, $path:literal) => {
        #[cfg_attr(not(doctest), doc = include_str!("docs_links.md"))]
        #[cfg_attr(not(doctest), doc = include_str!(concat!("../docs/", $path)))]
        #[cfg_attr(doctest, doc = "See the other crate.")]
        pub mod $name {}
    };
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Tasks, from a first agent to MCP servers.
pub mod guide {
    page!(first_agent, "guide/first-agent.md");
    page!(models, "guide/models.md");
    page_of_another_crate!(local_models, "guide/local-models.md");
    page!(tools, "guide/tools.md");
    page!(approval, "guide/approval.md");
    page!(follow_ups, "guide/follow-ups.md");
    page!(programs, "guide/programs.md");
    page!(streaming, "guide/streaming.md");
    page!(testing, "guide/testing.md");
    page!(errors, "guide/errors.md");
    page!(command_line, "guide/command-line.md");
    page!(agent_files, "guide/agent-files.md");
    page!(structured_data, "guide/structured-data.md");
    page_of_another_crate!(observability, "guide/observability.md");
    page_of_another_crate!(mcp, "guide/mcp.md");
}

/// How enact works, and its guarantees.
pub mod concepts {
    page!(signatures, "concepts/signatures.md");
    page!(adapters, "concepts/adapters.md");
    page!(runs, "concepts/runs.md");
    page!(limits_and_endings, "concepts/limits-and-endings.md");
    page!(promises, "concepts/promises.md");
}

page!(architecture, "architecture.md");

/// The command, files and formats in detail.
pub mod reference {
    page!(command, "reference/command.md");
    page!(agent_file, "reference/agent-file.md");
    page!(options, "reference/options.md");
    page!(settings, "reference/settings.md");
    page!(arrow_grammar, "reference/arrow-grammar.md");
    page!(json_output, "reference/json-output.md");
    page!(log_format, "reference/log-format.md");
    page!(adapters, "reference/adapters.md");
    page!(evaluation, "reference/evaluation.md");
    page!(bench, "reference/bench.md");
}

/// For users of other frameworks: equivalents, differences, and what is missing.
pub mod coming_from {
    page!(dspy, "coming-from/dspy.md");
    page!(udspy, "coming-from/udspy.md");
    page!(langgraph, "coming-from/langgraph.md");
    page!(pydantic_ai, "coming-from/pydantic-ai.md");
    page!(rig, "coming-from/rig.md");
    page!(openai_agents, "coming-from/openai-agents.md");
}

page!(limits, "limits.md");
