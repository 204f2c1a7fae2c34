use serde_json::json;

use super::*;

const KEY: &str = "sk-secret-0123456789";

fn failures() -> Failures<'static> {
    let words = Words {
        server: "a chat server",
        key_variable: Some("OPENAI_API_KEY"),
        key_method: "OpenAi::with_api_key",
    };
    let key = KeyOrigin::Variable("OPENAI_API_KEY");
    Failures::new("m1", "http://host/v1", words, Some(key), &[KEY])
}

fn kind_of(status: u16, body: &str) -> ModelErrorKind {
    failures().status(status, None, body.as_bytes()).kind()
}

#[test]
fn statuses_have_kinds() {
    let expected = [
        (301, ModelErrorKind::NotFound),
        (400, ModelErrorKind::InvalidRequest),
        (401, ModelErrorKind::Authentication),
        (402, ModelErrorKind::InvalidRequest),
        (403, ModelErrorKind::Authentication),
        (404, ModelErrorKind::NotFound),
        (408, ModelErrorKind::Timeout),
        (413, ModelErrorKind::InvalidRequest),
        (422, ModelErrorKind::InvalidRequest),
        (429, ModelErrorKind::RateLimit),
        (500, ModelErrorKind::Server),
        (503, ModelErrorKind::Server),
        (504, ModelErrorKind::Timeout),
        (529, ModelErrorKind::Server),
    ];
    for (status, kind) in expected {
        assert_eq!(kind_of(status, "{}"), kind, "{status}");
    }
}

#[test]
fn a_prompt_that_is_too_long_is_recognised_on_every_server() {
    let bodies = [
        r#"{"error":{"message":"This model's maximum context length is 8192 tokens.","code":"context_length_exceeded"}}"#,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens","type":"BadRequestError","code":400}"#,
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}"#,
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
        r#"[{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}]"#,
        r#"{"detail":"Please reduce the length of the messages or completion."}"#,
    ];
    for body in bodies {
        assert_eq!(kind_of(400, body), ModelErrorKind::ContextLength, "{body}");
        assert_eq!(kind_of(413, body), ModelErrorKind::ContextLength, "{body}");
    }
}

#[test]
fn an_empty_account_is_not_a_rate_limit() {
    let body =
        r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#;
    let error = failures().status(429, None, body.as_bytes());
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    assert!(!error.is_retryable());
    assert!(error.to_string().contains("billing"), "{error}");
}

#[test]
fn a_content_filter_is_recognised() {
    let body = r#"{"error":{"message":"…content management policy…","code":"content_filter"}}"#;
    assert_eq!(kind_of(400, body), ModelErrorKind::ContentFilter);
}

#[test]
fn failures_inside_a_reply_have_kinds() {
    let expected = [
        (
            json!({"message": "slow down", "code": 429}),
            ModelErrorKind::RateLimit,
        ),
        (
            json!({"message": "m", "code": "502"}),
            ModelErrorKind::Server,
        ),
        (
            json!({"message": "Overloaded", "type": "overloaded_error"}),
            ModelErrorKind::Server,
        ),
        (json!("something broke"), ModelErrorKind::Server),
        (
            json!({"message": "maximum context length is 9"}),
            ModelErrorKind::ContextLength,
        ),
        (
            json!({"type": "invalid_request_error", "message": "m"}),
            ModelErrorKind::InvalidRequest,
        ),
    ];
    for (report, kind) in expected {
        let error = failures().reported(&report);
        assert_eq!(error.kind(), kind, "{report}");
    }
}

#[test]
fn the_servers_words_are_bounded_and_without_secrets() {
    let long = format!(
        "bad key {KEY} or sk-se***6789\n\n\tthen {}{}",
        "xxx ".repeat(20),
        "y".repeat(5000)
    );
    let body = json!({"error": {"message": long}}).to_string();
    let text = failures().status(401, None, body.as_bytes()).to_string();
    assert!(
        text.contains("bad key [redacted] or [redacted] then xxx"),
        "{text}"
    );
    assert!(
        !text.contains("yy"),
        "half a word may be half a secret: {text}"
    );
    assert!(text.contains("OPENAI_API_KEY"));
    assert!(text.chars().count() < 600, "{text}");
}

#[test]
fn a_missing_key_is_told_from_a_wrong_one() {
    let without = Failures {
        key: None,
        ..failures()
    };
    let text = without.status(401, None, b"").to_string();
    assert!(text.contains("none was sent"), "{text}");
}

#[test]
fn the_wish_to_wait_is_read_in_every_form() {
    let wait = |name: &str, value: &str| retry_after(|asked| (asked == name).then_some(value));
    assert_eq!(wait("retry-after", "7"), Some(Duration::from_secs(7)));
    assert_eq!(
        wait("retry-after", "1.5"),
        Some(Duration::from_millis(1500))
    );
    assert_eq!(
        wait("retry-after-ms", "250"),
        Some(Duration::from_millis(250))
    );
    assert_eq!(wait("retry-after", "-3"), Some(Duration::ZERO));
    assert_eq!(wait("retry-after", "soon"), None);
    assert_eq!(wait("retry-after", "1e300"), None);
    let past = wait("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
    assert_eq!(past, Some(Duration::ZERO));
    let future = wait("retry-after", "Fri, 31 Dec 2100 23:59:59 GMT");
    assert!(future > Some(Duration::from_secs(86_400)));
}

#[test]
fn a_refused_key_is_named_by_where_it_comes_from() {
    let refused = |key, status| {
        let failures = Failures {
            key: Some(key),
            ..failures()
        };
        failures.status(status, None, b"").to_string()
    };
    for (key, words) in [
        (KeyOrigin::Given, "`OpenAi::with_api_key`"),
        (KeyOrigin::Header, "`with_header`"),
        (KeyOrigin::Variable("GROQ_API_KEY"), "GROQ_API_KEY"),
        (KeyOrigin::Stored("groq"), "`enact keys set groq`"),
    ] {
        for status in [401, 403] {
            let text = refused(key, status);
            assert!(text.contains(words), "{text}");
            assert!(!text.contains("OPENAI_API_KEY"), "{text}");
        }
    }
}
