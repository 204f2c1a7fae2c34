//! Comma-separated values, as spreadsheets write them (RFC 4180).

/// A row and the number of its first line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) line: usize,
    pub(crate) cells: Vec<String>,
}

/// The rows of a text, without empty lines; or the line of an invalid quote, with the reason.
pub(crate) fn rows(text: &str) -> Result<Vec<Row>, (usize, String)> {
    let mut chars = text.chars().peekable();
    let (mut rows, mut line) = (Vec::new(), 1);
    while chars.peek().is_some() {
        let mut row = Row {
            line,
            cells: Vec::new(),
        };
        loop {
            let mut cell = String::new();
            if chars.next_if_eq(&'"').is_some() {
                let begin = line;
                loop {
                    match chars.next() {
                        Some('"') if chars.next_if_eq(&'"').is_none() => break,
                        Some(one) => {
                            line += usize::from(one == '\n');
                            cell.push(one);
                        }
                        None => {
                            let message = "a quoted cell begins here and is not closed: end it \
                                           with `\"`, and write `\"\"` for a quote inside of it";
                            return Err((begin, message.to_owned()));
                        }
                    }
                }
            } else {
                while let Some(one) = chars.next_if(|one| !matches!(one, ',' | '\n' | '\r')) {
                    cell.push(one);
                }
            }
            row.cells.push(cell);
            match chars.next() {
                Some(',') => {}
                Some('\r') => {
                    chars.next_if_eq(&'\n');
                    break;
                }
                Some('\n') | None => break,
                Some(other) => {
                    let message = format!(
                        "`{other}` follows a closing quote: put the whole cell in quotes, and \
                         write `\"\"` for a quote inside of it"
                    );
                    return Err((line, message));
                }
            }
        }
        line += 1;
        if row.cells != [""] {
            rows.push(row);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, Vec<String>)> {
        let rows = rows(text).unwrap();
        rows.into_iter().map(|row| (row.line, row.cells)).collect()
    }

    #[test]
    fn rows_with_quotes_and_line_breaks() {
        let row =
            |line, cells: &[&str]| (line, cells.iter().map(|&cell| cell.to_owned()).collect());
        assert_eq!(
            read("a,b\r\n\"1, \"\"x\"\"\",\"two\nlines\"\n\n,\nlast,\"\""),
            [
                row(1, &["a", "b"]),
                row(2, &["1, \"x\"", "two\nlines"]),
                row(5, &["", ""]),
                row(6, &["last", ""]),
            ]
        );
        assert_eq!(read(""), []);
    }

    #[test]
    fn wrong_quotes_have_a_line() {
        assert_eq!(rows("a\n\"b\n\nc").unwrap_err().0, 2);
        assert_eq!(rows("a\n\"b\" c\n").unwrap_err().0, 2);
    }
}
