//! `http_get`: what is allowed, and what a page becomes.

use std::time::{Duration, Instant};

use enact::tool::Effect;
use enact::tool::builtin::Web;
use enact::{Tool as _, ToolContext, values};
use serde_json::{Value, json};

use super::site::{Site, moved, page};

async fn get(web: &Web, url: &str) -> Result<Value, String> {
    let tool = web.http_get();
    let got = tool
        .call(values! { url: url }, ToolContext::detached("c"))
        .await;
    got.map(|output| output.value)
        .map_err(|error| error.to_string())
}

/// The site is allowed, and private addresses are.
fn web(site: &Site) -> Web {
    Web::new()
        .allow_host(&site.at.to_string())
        .unwrap()
        .allow_private()
}

#[tokio::test]
async fn pages_are_read_as_text() {
    let site = Site::start(|path| match path {
        "/html" => page(
            "text/html; charset=utf-8",
            "<p>Hello,</p><script>x()</script> <b>you</b>",
        ),
        "/json" => page("application/json", r#"{"a": 1}"#),
        "/picture" => page("image/png", vec![0x89, 0x50]),
        "/long" => page("text/plain", "x".repeat(5000)),
        _ => (
            "404 Not Found\r\ncontent-type: text/plain".to_owned(),
            b"nothing here".to_vec(),
        ),
    })
    .await;
    let at = |path: &str| format!("http://{}{path}", site.at);
    let web = web(&site).with_max_bytes(1000);
    let html = get(&web, &at("/html")).await.unwrap();
    assert_eq!(html["text"], "Hello,\nyou");
    let read = get(&web, &at("/json")).await.unwrap();
    let expected = json!({
        "url": at("/json"),
        "status": 200,
        "content_type": "application/json",
        "text": "{\"a\": 1}",
    });
    assert_eq!(read, expected);
    let missing = get(&web, &at("/no")).await.unwrap();
    assert_eq!(
        (&missing["status"], &missing["text"]),
        (&json!(404), &json!("nothing here"))
    );
    let long = get(&web, &at("/long")).await.unwrap();
    assert_eq!(
        (long["text"].as_str().unwrap().len(), &long["is_cut"]),
        (1000, &json!(true))
    );
    let picture = get(&web, &at("/picture")).await.unwrap_err();
    assert_eq!(
        picture,
        "the page is `image/png` (status 200): only text can be shown"
    );
    // Nobody is told who runs the agent, and nothing but GET is asked.
    let asked = site.asked.lock().unwrap().clone();
    assert!(
        asked
            .iter()
            .all(|head| head.starts_with("GET ") && !head.contains("cookie"))
    );
}

#[tokio::test]
async fn only_allowed_hosts_are_asked() {
    let site = Site::start(|_| page("text/plain", "secret")).await;
    let url = format!("http://{}/", site.at);
    let nobody = get(&Web::new().allow_private(), &url).await.unwrap_err();
    assert!(nobody.contains("is not allowed: none is"), "{nobody}");
    let another = Web::new().allow_host("docs.rs").unwrap().allow_private();
    let another = get(&another, &url).await.unwrap_err();
    assert!(
        another.contains("is not allowed: there are docs.rs"),
        "{another}"
    );
    for (url, problem) in [
        ("ftp://docs.rs/", "only http and https"),
        ("file:///etc/passwd", "only http and https"),
        ("http://me:pw@docs.rs/", "a name or a password"),
        ("docs.rs", "this is no address"),
        ("http://docs.rs:8080/", "port 8080 is not allowed"),
    ] {
        let web = Web::new().allow_host("docs.rs").unwrap();
        let said = get(&web, url).await.unwrap_err();
        assert!(said.contains(problem), "{url}: {said}");
    }
    assert_eq!(site.count(), 0);
}

#[tokio::test]
async fn private_addresses_are_refused_however_they_are_written() {
    let site = Site::start(|_| page("text/plain", "secret")).await;
    let port = site.at.port();
    let web = Web::new().allow_host(&format!("*:{port}")).unwrap();
    for host in [
        "127.0.0.1",
        "localhost",
        "localhost.",
        "127.1",
        "0x7f000001",
        "2130706433",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "169.254.169.254",
        "10.0.0.1",
    ] {
        let said = get(&web, &format!("http://{host}:{port}/"))
            .await
            .unwrap_err();
        let is_refused = said.contains("private address") || said.contains("there is no host");
        assert!(is_refused, "{host}: {said}");
    }
    assert_eq!(site.count(), 0);
    // A name is looked up once, and that address is asked.
    let web = web.allow_private();
    let read = get(&web, &format!("http://localhost:{port}/"))
        .await
        .unwrap();
    assert_eq!(read["text"], "secret");
}

#[tokio::test]
async fn every_redirect_is_checked() {
    let inner = Site::start(|_| page("text/plain", "secret")).await;
    let (inside, port) = (inner.at, inner.at.port());
    let site = Site::start(move |path| match path {
        "/inside" => moved(&format!("http://{inside}/")),
        "/file" => moved("file:///etc/passwd"),
        "/round" => moved("/round"),
        "/here" => moved("there?x=1"),
        "/there?x=1" => page("text/plain", "arrived"),
        _ => moved("http://[::ffff:127.0.0.1]/"),
    })
    .await;
    let at = |path: &str| format!("http://{}{path}", site.at);
    let web = web(&site);
    let arrived = get(&web, &at("/here")).await.unwrap();
    assert_eq!(
        (&arrived["text"], &arrived["url"]),
        (&json!("arrived"), &json!(at("/there?x=1")))
    );
    let refused = get(&web, &at("/inside")).await.unwrap_err();
    assert!(
        refused.contains(&format!("port {port} is not allowed")),
        "{refused}"
    );
    let file = get(&web, &at("/file")).await.unwrap_err();
    assert!(file.contains("only http and https"), "{file}");
    let round = get(&web, &at("/round")).await.unwrap_err();
    assert!(round.contains("more than 5 times"), "{round}");
    assert_eq!(inner.count(), 0);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    let web = Web::new()
        .allow_host(&at.to_string())
        .unwrap()
        .allow_private();
    let began = Instant::now();
    let web = web.with_timeout(Duration::from_millis(300));
    let said = get(&web, &format!("http://{at}/")).await.unwrap_err();
    assert_eq!(said, "the page cannot be read: it took too long");
    assert!(began.elapsed() < Duration::from_secs(10));
    drop(listener);
    let said = get(&web, &format!("http://{at}/")).await.unwrap_err();
    assert_eq!(said, "the page cannot be read: no connection");
}

#[test]
fn it_changes_nothing_and_what_it_reads_changes() {
    let tool = Web::new().http_get();
    assert_eq!(
        (tool.spec().effect, tool.spec().volatile),
        (Effect::ReadOnly, true)
    );
}

#[tokio::test]
async fn truth_a_page_of_ampersands_is_read_at_once() {
    let site = Site::start(|_| page("text/html", "&".repeat(499_000))).await;
    let began = Instant::now();
    let read = get(&web(&site), &format!("http://{}/", site.at))
        .await
        .unwrap();
    assert_eq!(read["text"].as_str().unwrap().len(), 499_000);
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}
