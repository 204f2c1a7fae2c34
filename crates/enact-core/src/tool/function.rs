//! Tools made from closures.

use std::time::Duration;

use enact_signature::{Values, trim_schema};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::confirmation::Policy;
use super::{
    Confirmation, ConfirmationRule, Effect, IntoToolResult, Tool, ToolContext, ToolError,
    ToolFuture, ToolSpec,
};

type Run = Box<dyn Fn(Values, ToolContext) -> ToolFuture<'static> + Send + Sync>;

/// A tool made from a closure.
///
/// ```
/// use enact::{FnTool, ToolError, Tools};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     b: i64,
/// }
///
/// let add = FnTool::new("add", "Adds two numbers.", |args: Add, _context| async move {
///     Ok::<_, ToolError>(args.a + args.b)
/// });
/// let tools = Tools::new().with(add.read_only());
/// # assert_eq!(tools.names().collect::<Vec<_>>(), ["add"]);
/// ```
pub struct FnTool {
    spec: ToolSpec,
    run: Run,
    /// Says which calls need a person, if some do.
    policy: Option<Policy>,
}

impl FnTool {
    /// Creates a tool whose arguments have the schema of `A`.
    pub fn new<A, F, Fut, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send,
        F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
        R: IntoToolResult,
    {
        let spec = ToolSpec::new(name, description, parameters_of::<A>());
        let run: Run = Box::new(move |args, context| match read_args::<A>(args) {
            Ok(args) => {
                let future = function(args, context);
                Box::pin(async move { future.await?.into_tool_result() })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        });
        Self::with_run(spec, run)
    }

    /// Creates a tool with a schema that is only known at run time.
    pub fn from_spec<F, Fut, R>(spec: ToolSpec, function: F) -> Self
    where
        F: Fn(Values, ToolContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
        R: IntoToolResult,
    {
        let run: Run = Box::new(move |args, context| {
            let future = function(args, context);
            Box::pin(async move { future.await?.into_tool_result() })
        });
        Self::with_run(spec, run)
    }

    fn with_run(spec: ToolSpec, run: Run) -> Self {
        Self {
            spec,
            run,
            policy: None,
        }
    }

    /// Marks the tool as built in. For tools that come with enact.
    #[doc(hidden)]
    #[must_use]
    pub fn built_in(mut self) -> Self {
        self.spec = self.spec.with_source("built-in");
        self
    }

    /// Declares that calls change nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.spec = self.spec.with_effect(Effect::ReadOnly);
        self
    }

    /// Declares that a repeated call has no further effect.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.spec = self.spec.with_effect(Effect::Idempotent);
        self
    }

    /// Requires approval for every call.
    #[must_use]
    pub fn require_confirmation(self) -> Self {
        self.with_confirmation(Confirmation::Always)
    }

    /// Asks a person by this rule: a [`Confirmation`], or a function of the arguments made by
    /// [`Confirmation::when`].
    #[must_use]
    pub fn with_confirmation(mut self, rule: impl Into<ConfirmationRule>) -> Self {
        let rule = rule.into();
        self.spec = self.spec.with_confirmation(rule.confirmation);
        self.policy = rule.policy;
        self
    }

    /// Declares that results change over time: a repeated call runs again instead of being answered from
    /// the log.
    #[must_use]
    pub fn volatile(mut self) -> Self {
        self.spec = self.spec.volatile();
        self
    }

    /// Runs one call at a time.
    #[must_use]
    pub fn serial(mut self) -> Self {
        self.spec = self.spec.serial();
        self
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec = self.spec.with_timeout(timeout);
        self
    }
}

impl Tool for FnTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn needs_confirmation(&self, args: &Values) -> bool {
        match &self.policy {
            Some(policy) => policy.asks(args),
            None => true,
        }
    }

    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a> {
        (self.run)(args, context)
    }
}

/// The argument schema of a type, without parts that only cost tokens.
pub fn parameters_of<A: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(A).to_value();
    trim_schema(&mut schema);
    if let Some(object) = schema.as_object_mut() {
        object
            .entry("properties")
            .or_insert_with(|| Value::Object(Values::new()));
        // The description of the argument struct is not the description of the tool.
        object.shift_remove("description");
    }
    schema
}

/// Deserialises validated arguments for a tool function.
pub fn read_args<A: DeserializeOwned>(args: Values) -> Result<A, ToolError> {
    serde_json::from_value(Value::Object(args))
        .map_err(|error| ToolError::new(format!("the arguments do not fit: {error}")))
}
