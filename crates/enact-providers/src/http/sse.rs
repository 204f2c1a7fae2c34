//! Parses server-sent events incrementally, wherever the bytes are split.

/// A longer event is not plausible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLong;

/// Takes bytes, and returns the data of complete events.
#[derive(Debug)]
pub(super) struct SseParser {
    /// Limits how much a broken server can make us store.
    max_event_bytes: usize,
    /// The incomplete line.
    line: Vec<u8>,
    /// The data lines of the incomplete event.
    data: Vec<u8>,
    has_data: bool,
    /// A carriage return ended the last line, so a line feed now belongs to it.
    after_return: bool,
    /// A byte order mark can only precede the first line.
    is_started: bool,
}

impl SseParser {
    /// Limits events to this many bytes.
    pub(super) fn within(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            after_return: false,
            is_started: false,
        }
    }

    /// Parses more bytes. Calls `emit` with the data of each complete event.
    pub(super) fn push(
        &mut self,
        mut bytes: &[u8],
        mut emit: impl FnMut(&[u8]),
    ) -> Result<(), TooLong> {
        while let Some(&first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let taken = end.unwrap_or(bytes.len());
            if self.line.len() + self.data.len() + taken > self.max_event_bytes {
                return Err(TooLong);
            }
            let Some(end) = end else {
                self.line.extend_from_slice(bytes);
                break;
            };
            let is_event = if self.line.is_empty() {
                // The usual case: the line is complete and is parsed in place.
                self.end_line(&bytes[..end])
            } else {
                self.line.extend_from_slice(&bytes[..end]);
                self.end_kept_line()
            };
            self.after_return = bytes[end] == b'\r';
            bytes = &bytes[end + 1..];
            if is_event {
                emit(&self.data);
                self.data.clear();
            }
        }
        Ok(())
    }

    /// The data of an event that ends with the stream instead of an empty line. Some servers omit it.
    pub(super) fn finish(&mut self) -> Option<Vec<u8>> {
        let is_event = self.end_kept_line() || std::mem::take(&mut self.has_data);
        is_event.then(|| std::mem::take(&mut self.data))
    }

    fn end_kept_line(&mut self) -> bool {
        let mut line = std::mem::take(&mut self.line);
        let is_event = self.end_line(&line);
        line.clear();
        self.line = line;
        is_event
    }

    /// Parses a line; returns whether it ends an event with data.
    fn end_line(&mut self, mut line: &[u8]) -> bool {
        if !std::mem::replace(&mut self.is_started, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return std::mem::take(&mut self.has_data);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[..0]),
        };
        // Comments (`: ping`), `event`, `id` and `retry` are not needed for replies.
        if field == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            if std::mem::replace(&mut self.has_data, true) {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut parser = SseParser::within(1000);
        let mut events = Vec::new();
        for piece in pieces {
            parser
                .push(piece, |data| {
                    events.push(String::from_utf8(data.to_vec()).unwrap());
                })
                .unwrap();
        }
        events.extend(parser.finish().map(|data| String::from_utf8(data).unwrap()));
        events
    }

    #[test]
    fn every_line_ending_counts() {
        for body in [
            "data: a\n\ndata: b\n\n",
            "data: a\r\n\r\ndata: b\r\n\r\n",
            "data: a\r\rdata: b\r\r",
        ] {
            assert_eq!(parse([body.as_bytes()]), ["a", "b"], "{body:?}");
        }
    }

    #[test]
    fn comments_and_other_fields_are_skipped() {
        let body = b": ping\n\nevent: x\nid: 1\nretry: 5\ndata:a\n\n: ping\n\n";
        assert_eq!(parse([&body[..]]), ["a"]);
    }

    #[test]
    fn several_data_lines_are_one_event() {
        assert_eq!(parse([&b"data: a\ndata:\ndata:  b\n\n"[..]]), ["a\n\n b"]);
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        assert_eq!(parse([&b"\xef\xbb\xbfdata: a\n\n"[..]]), ["a"]);
    }

    #[test]
    fn the_last_event_needs_no_empty_line() {
        assert_eq!(parse([&b"data: a\n\ndata: [DONE]"[..]]), ["a", "[DONE]"]);
        assert_eq!(parse([&b"data: a\n\ndata: [DONE]\n"[..]]), ["a", "[DONE]"]);
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut parser = SseParser::within(1000);
        let piece = [b'x'; 501];
        assert_eq!(parser.push(&piece, |_| {}), Ok(()));
        assert_eq!(parser.push(&piece, |_| {}), Err(TooLong));
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_are_split(
            events in proptest::collection::vec("[a-zäß€😀 :{}\"]{0,12}", 0..6),
            ending in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
            cuts in proptest::collection::vec(0usize..200, 0..12),
        ) {
            let body: String = events
                .iter()
                .map(|event| format!(": c{ending}data: {event}{ending}{ending}"))
                .collect();
            let bytes = body.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| *cut < bytes.len()).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
            prop_assert_eq!(parse(pieces), events);
        }
    }
}
