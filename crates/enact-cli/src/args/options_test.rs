//! The table of all options in the book is that of the flags, of agent files and of the builder.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::CommandFactory as _;
use enact::model::{ModelOptions, Prices, ScriptedModel};
use enact::run::{Limits, Rules, ThoughtsInContext};
use enact::tool::Confirmation;
use enact::{ChainOfThought, Completion, Module, ReAct, Signature, Tools};
use serde_json::Value;

use super::Cli;

type Names = BTreeSet<String>;

fn repository(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join(path)).unwrap()
}

/// What stands between backticks in a column of the tables.
fn column(index: usize) -> Names {
    let page = repository("docs/reference/options.md");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("| —"));
    let cells = rows.map(|row| {
        row.split(" | ")
            .nth(index)
            .unwrap()
            .trim_matches(['|', ' '])
    });
    let names = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
    names.map(str::to_owned).collect()
}

fn assert_same(what: &str, documented: &Names, known: &Names) {
    let missing: Vec<_> = known.difference(documented).collect();
    let unknown: Vec<_> = documented.difference(known).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "docs/reference/options.md, {what}: missing {missing:?}, unknown {unknown:?}"
    );
}

/// The names between backticks in the first three columns of each row.
fn rows() -> Vec<[Vec<String>; 3]> {
    let page = repository("docs/reference/options.md");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| `") || line.starts_with("| —"));
    let names = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    rows.map(|row| {
        let mut cells = row.split(" | ").map(names);
        std::array::from_fn(|_| cells.next().unwrap())
    })
    .collect()
}

/// Options whose flag is called otherwise than their key.
const OTHER_FLAGS: [(&str, &str); 13] = [
    ("rules.success_phrases", "--success-phrase"),
    ("rules.failure_phrases", "--failure-phrase"),
    ("tools = [\"ask_user\"]", "--tools ask_user"),
    ("http_get.hosts", "--allow-host"),
    ("http_get.private", "--allow-private"),
    ("http_get.timeout", "--http-timeout"),
    ("http_get.max_bytes", "--http-max-bytes"),
    ("hooks.before_call", "--before-call"),
    ("hooks.after_call", "--after-call"),
    ("hooks.ends_when", "--ends-when"),
    ("hooks.env", "--hook-env"),
    ("hooks.timeout", "--hook-timeout"),
    ("approval", "--allow"),
];

/// Options that the library calls otherwise than agent files do.
const OTHER_NAMES: [(&str, &str); 17] = [
    ("ReAct::builder", "signature"),
    ("ReAct::builder", "types"),
    ("AgentTool::new", "description"),
    ("AgentTool::new", "agents"),
    ("Limited::with_concurrency", "concurrent_requests"),
    ("Cached::in_folder", "cache"),
    ("Tags::thought", "thought_tag"),
    ("Tags::action", "action_tag"),
    ("Tags::observation", "observation_tag"),
    ("builtin::ask_user", "tools = [\"ask_user\"]"),
    ("Files::open", "files"),
    ("Web::allow_host", "http_get.hosts"),
    ("Web::allow_private", "http_get.private"),
    ("Shell::with_variables", "shell.env"),
    ("confirmation", "approval"),
    ("Mcp::stdio", "mcp"),
    ("ending_when", "hooks.ends_when"),
];

#[test]
fn a_row_of_the_table_is_one_option_in_its_spellings() {
    for [library, keys, flags] in rows() {
        let Some(key) = keys.first() else { continue };
        assert_eq!(keys.len(), 1, "{keys:?}");
        let bare = key.strip_prefix("rules.").or(key.strip_prefix("limits."));
        let flag = format!("--{}", bare.unwrap_or(key).replace(['_', '.'], "-"));
        let is_known = |flag: &String| OTHER_FLAGS.contains(&(key.as_str(), flag.as_str()));
        let is_same = flags.contains(&flag) || flags.iter().any(is_known);
        assert!(flags.is_empty() || is_same, "`{key}` beside {flags:?}");

        let last = key.rsplit('.').next().unwrap();
        for name in &library {
            let name = name.trim_end_matches("_async");
            let is_known = OTHER_NAMES.contains(&(name, key.as_str()));
            assert!(name.ends_with(last) || is_known, "`{name}` beside `{key}`");
        }
    }
}

#[test]
fn the_table_of_options_has_the_defaults_of_limits() {
    let limits = Limits::default();
    let page = repository("docs/reference/options.md");
    for (name, known) in [
        ("max_iterations", limits.max_iterations.to_string()),
        ("max_repairs", limits.max_repairs.to_string()),
        ("stall_threshold", limits.stall_threshold.to_string()),
        (
            "max_observation_tokens",
            limits.max_observation_tokens.to_string(),
        ),
    ] {
        let start = format!("| `limits.{name}`");
        let row = page.lines().find(|line| line.starts_with(&start));
        let default = row.unwrap().split(" | ").nth(3).unwrap();
        assert_eq!(default, known, "{name}");
    }
}

#[test]
fn the_table_says_what_files_and_flags_cannot_say() {
    let page = repository("docs/reference/options.md");
    assert!(page.contains("To ask depending on the arguments, use\n`Confirmation::when`"));
    let rule = serde_json::to_value(Confirmation::Always).unwrap();
    assert_eq!(rule, "always");
    let scratchpad = rows()
        .into_iter()
        .find(|[library, ..]| library == &["Run::scratchpad"]);
    let [_, keys, flags] = scratchpad.unwrap();
    assert!(keys.is_empty() && flags.is_empty());
}

#[test]
fn the_table_of_options_has_every_flag() {
    let mut cli = Cli::command();
    cli.build();
    let run = cli.find_subcommand("run").unwrap();
    let flags = run.get_arguments().filter_map(|flag| flag.get_long());
    let flags = flags.filter(|flag| *flag != "help");
    let known = flags.map(|flag| format!("--{flag}")).collect();
    let documented = column(2).into_iter();
    // `--tools ask_user` is a flag with a value.
    let documented = documented.map(|flag| flag.split(' ').next().unwrap().to_owned());
    assert_same("flags", &documented.collect(), &known);
}

#[test]
fn the_table_of_options_has_every_key_of_agent_files() {
    fn keys(schema: &Value, path: &str, known: &mut Names) {
        let properties = schema.get("properties").and_then(Value::as_object);
        match properties {
            Some(properties) => {
                for (name, schema) in properties {
                    let dot = if path.is_empty() { "" } else { "." };
                    keys(schema, &format!("{path}{dot}{name}"), known);
                }
            }
            None => drop(known.insert(path.to_owned())),
        }
    }
    let schema = repository("docs/reference/agent.schema.json");
    let mut known = Names::new();
    keys(&serde_json::from_str(&schema).unwrap(), "", &mut known);
    let documented = column(1).into_iter();
    let documented = documented.map(|key| key.split(' ').next().unwrap().to_owned());
    assert_same("keys of agent.toml", &documented.collect(), &known);
}

/// Calls methods of a builder, and tells their names.
macro_rules! called {
    ($builder:expr => $($method:ident($($value:expr),*))*) => {{
        let _ = $builder$(.$method($($value),*))*;
        [$(stringify!($method)),*].map(str::to_owned)
    }};
}

/// Sets fields of options, and tells their paths.
macro_rules! set {
    ($options:ident => $($($field:ident).+ = $value:expr;)*) => {{
        $($options.$($field).+ = $value;)*
        [$([stringify!($options), $(stringify!($field)),+].join(".")),*]
    }};
}

#[test]
fn the_table_of_options_has_everything_that_the_builder_takes() {
    let part = || -> Box<dyn FnOnce() -> ChainOfThought> {
        Box::new(|| {
            let signature = Signature::parse("task, transcript -> summary").unwrap();
            ChainOfThought::builder(signature).build().unwrap()
        })
    };
    let saved = part()().save();
    let mut known: Names = called!(ReAct::builder("question -> answer") =>
        model(ScriptedModel::new([]))
        adapter(enact::adapter::Json)
        instructions("")
        demos([])
        max_repairs(1)
        options(ModelOptions::default())
        load(saved)
        tools(Tools::new())
        completion(Completion::Finish)
        confidence()
        step_adapter(enact::adapter::Json)
        max_iterations(1)
        limits(|_| ())
        rules(|_| ())
        thought_prompt("")
        prices(Prices::default())
        before_call(|_| enact::Verdict::Allow)
        before_call_async(|_| async { enact::Verdict::Allow })
        after_call(|_, observation| observation)
        after_call_async(|_, observation| async { observation })
        ending_when(|_| false)
        ending_when_async(|_| async { Ok::<_, String>(false) })
        confirmation("tool", Confirmation::Never)
        extraction(part()())
        compaction(part()())
    )
    .into();
    let (mut limits, mut rules) = (Limits::default(), Rules::default());
    known.extend(set!(limits =>
        max_iterations = 1;
        max_repairs = 1;
        stall_threshold = 1;
        max_observation_tokens = 1;
        max_tool_calls = None;
        token_budget = None;
        cost_budget = None;
        time_budget = None;
        answer_within = None;
    ));
    known.extend(set!(rules =>
        success_phrases = Vec::new();
        failure_phrases = Vec::new();
        judges = true;
        condenses = true;
        reads_again = true;
        thoughts.required = true;
        thoughts.min_length = 1;
        thoughts.substantive = true;
        thoughts.new = true;
        thoughts_in_context = ThoughtsInContext::None;
    ));
    assert!(limits != Limits::default() && rules != Rules::default());
    // The list above is whole: nothing else is declared.
    let core = "crates/enact-core/src";
    let methods = repository(&format!("{core}/module/builder.rs"));
    let methods = methods
        .lines()
        .filter_map(|line| line.strip_prefix("    pub fn "));
    let declared: Names = methods.map(|line| name(line).to_owned()).collect();
    let fields: Names = ["limits", "rules"]
        .iter()
        .flat_map(|file| {
            let text = repository(&format!("{core}/run/{file}.rs"));
            let fields = text
                .lines()
                .filter_map(|line| line.strip_prefix("    pub "));
            let fields = fields.filter(|line| line.contains(": ") && !line.contains("fn "));
            fields.map(|line| name(line).to_owned()).collect::<Vec<_>>()
        })
        .collect();
    let last = |name: &String| name.rsplit('.').next().unwrap().to_owned();
    let listed: Names = known
        .iter()
        .map(last)
        .chain(["thoughts".to_owned()])
        .collect();
    assert_eq!(declared.union(&fields).cloned().collect::<Names>(), listed);

    // What has to be in the table; it names further types of the library.
    let documented = column(0);
    known.retain(|name| !["limits", "rules"].contains(&name.as_str()));
    let mut of_builder = documented.clone();
    of_builder.retain(|name| !name.contains("::") && !name.starts_with("options."));
    assert_same("methods of the builder", &of_builder, &known);
}

fn name(line: &str) -> &str {
    let end = line.find(|one: char| !one.is_ascii_alphanumeric() && one != '_');
    &line[..end.unwrap_or(line.len())]
}
