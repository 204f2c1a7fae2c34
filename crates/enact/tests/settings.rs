//! The settings of the program: alone in this binary, because they hold for all of it.
#![allow(missing_docs, clippy::unwrap_used)]

use enact::adapter::{Chat, Json, Xml};
use enact::model::{Capabilities, ScriptedModel, say};
use enact::{Predict, Settings, values};

fn model(text: &str) -> ScriptedModel {
    ScriptedModel::new([say(text)]).with_capabilities(Capabilities::TEXT)
}

const CHAT: &str = "[[ ## answer ## ]]\nyes";
const XML: &str = "<answer>yes</answer>";
const JSON: &str = r#"{"answer": "yes"}"#;

#[tokio::test]
async fn dspy_ex_module_over_scope_over_program() {
    enact::configure(Settings::new().adapter(Xml));
    let ask = async |module: Option<Json>, scope: Option<Chat>, reply: &str| {
        let mut qa = Predict::builder("question -> answer").model(model(reply));
        if let Some(adapter) = module {
            qa = qa.adapter(adapter);
        }
        let qa = qa.build().unwrap();
        let call = async {
            qa.call(values! { question: "q" })
                .await
                .unwrap()
                .finished()
                .unwrap()
        };
        let done = match scope {
            Some(adapter) => enact::scope(Settings::new().adapter(adapter), call).await,
            None => call.await,
        };
        assert_eq!(done.outputs["answer"], "yes");
        done.run().started().agent.adapter.clone()
    };
    assert_eq!(ask(None, None, XML).await, "xml");
    assert_eq!(ask(None, Some(Chat), CHAT).await, "chat");
    assert_eq!(ask(Some(Json), Some(Chat), JSON).await, "json");
    enact::configure(Settings::new());
    assert_eq!(ask(None, None, CHAT).await, "chat");
}
