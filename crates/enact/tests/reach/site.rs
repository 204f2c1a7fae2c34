//! A site on this machine.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that answers every path by one function, and remembers the heads of the requests.
pub(super) struct Site {
    pub(super) at: SocketAddr,
    pub(super) asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    /// The function gives status and headers, and the body.
    pub(super) async fn start(answer: impl Fn(&str) -> (String, Vec<u8>) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self {
            at: listener.local_addr().unwrap(),
            asked: Arc::default(),
        };
        let asked = Arc::clone(&site.asked);
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let path = head.split(' ').nth(1).unwrap().to_owned();
                asked.lock().unwrap().push(head);
                let (status, body) = answer(&path);
                let head = format!("HTTP/1.1 {status}\r\nconnection: close\r\n\r\n");
                let _ = stream.write_all(head.as_bytes()).await;
                let _ = stream.write_all(&body).await;
            }
        });
        site
    }

    pub(super) fn count(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

/// Status and type, for a page.
pub(super) fn page(content_type: &str, body: impl Into<Vec<u8>>) -> (String, Vec<u8>) {
    (
        format!("200 OK\r\ncontent-type: {content_type}"),
        body.into(),
    )
}

pub(super) fn moved(to: &str) -> (String, Vec<u8>) {
    (format!("302 Found\r\nlocation: {to}"), Vec::new())
}
