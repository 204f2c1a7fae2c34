//! The required form of a reply, and the grammars that enforce it.

use enact_core::model::{
    Function, ModelError, ModelErrorKind, Request, ResponseFormat, ToolChoice,
};
use serde_json::{Value, json};

/// The first rule of a grammar.
pub(crate) const ROOT: &str = "entry";

/// The form of a reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    /// Any text.
    Text,
    /// Any text, followed by a call of one of these, if the model starts one.
    TextOrCall(Vec<Function>),
    /// A call of one of these.
    Call(Vec<Function>),
    /// JSON according to this grammar.
    Json(String),
}

impl Form {
    /// The form that a request requires.
    pub(crate) fn of(request: &Request) -> Result<Self, ModelError> {
        let tools = request.tools.list();
        match &request.tool_choice {
            _ if tools.is_empty() => text(&request.response_format),
            ToolChoice::None => text(&request.response_format),
            ToolChoice::Auto if request.response_format == ResponseFormat::Text => {
                Ok(Self::TextOrCall(tools.to_vec()))
            }
            ToolChoice::Auto => Err(invalid(
                "a response schema beside tools of free choice is more than an embedded model can \
                 be held to: demand a call, offer no tools, or ask for text",
            )),
            ToolChoice::Required => Ok(Self::Call(tools.to_vec())),
            ToolChoice::Named(name) => {
                let named = tools.iter().find(|tool| tool.name == *name);
                let named = named.ok_or_else(|| {
                    invalid(format!(
                        "the call of `{name}` is demanded, which is no tool on offer"
                    ))
                })?;
                Ok(Self::Call(vec![named.clone()]))
            }
        }
    }
}

fn text(format: &ResponseFormat) -> Result<Form, ModelError> {
    match format {
        ResponseFormat::Text => Ok(Form::Text),
        ResponseFormat::JsonObject => {
            grammar("the reply", &json!({"type": "object"})).map(Form::Json)
        }
        ResponseFormat::Schema { name, schema } => grammar(name, schema).map(Form::Json),
    }
}

/// The grammar of JSON for a schema.
pub(crate) fn grammar(name: &str, schema: &Value) -> Result<String, ModelError> {
    let rules = llama_cpp_2::json_schema_to_grammar(&schema.to_string()).map_err(|error| {
        let message = format!(
            "llama.cpp has no grammar for the schema of `{name}`: write it in simpler terms"
        );
        invalid(message).with_source(error)
    })?;
    // Most models prefer a space before an object.
    Ok(format!("{ROOT} ::= \" \"? root\n{rules}"))
}

/// The grammar for one of these names and the closing quotation mark.
pub(crate) fn names(tools: &[Function]) -> String {
    let names = tools.iter().map(|tool| {
        let quoted = format!("{}\"", tool.name);
        Value::String(quoted).to_string()
    });
    format!("{ROOT} ::= {}", names.collect::<Vec<_>>().join(" | "))
}

fn invalid(message: impl Into<String>) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use enact::model::Functions;

    use super::*;

    fn tool(name: &str) -> Function {
        Function {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        }
    }

    fn asking(choice: ToolChoice) -> Request {
        let tools = Functions::new(vec![tool("add"), tool("divide")]);
        Request::default()
            .with_tools(Arc::new(tools))
            .with_tool_choice(choice)
    }

    #[test]
    fn a_demand_for_a_tool_leaves_no_other() {
        let both = vec![tool("add"), tool("divide")];
        let form = |choice| Form::of(&asking(choice)).unwrap();
        assert_eq!(form(ToolChoice::Auto), Form::TextOrCall(both.clone()));
        assert_eq!(form(ToolChoice::Required), Form::Call(both));
        assert_eq!(
            form(ToolChoice::Named("divide".to_owned())),
            Form::Call(vec![tool("divide")])
        );
        assert_eq!(form(ToolChoice::None), Form::Text);
        let error = Form::of(&asking(ToolChoice::Named("fly".to_owned()))).unwrap_err();
        assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    }

    #[test]
    fn what_cannot_be_enforced_is_refused() {
        let request = asking(ToolChoice::Auto).with_response_format(ResponseFormat::JsonObject);
        let error = Form::of(&request).unwrap_err();
        assert!(error.to_string().contains("demand a call"), "{error}");
    }

    #[test]
    fn names_are_literals_with_their_quotation_mark() {
        assert_eq!(
            names(&[tool("add"), tool("divide")]),
            r#"entry ::= "add\"" | "divide\"""#
        );
    }
}
