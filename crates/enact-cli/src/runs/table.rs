//! Rows under a header.

use console::measure_text_width;

use crate::view::{Ink, Screen, text};

/// The space between columns.
const GAP: usize = 2;

/// A table whose last column takes the remaining width.
pub(super) struct Table<const N: usize> {
    header: [&'static str; N],
    rows: Vec<Row<N>>,
}

/// A row, and the line beneath it.
struct Row<const N: usize> {
    cells: [(Ink, String); N],
    below: Option<String>,
}

impl<const N: usize> Table<N> {
    pub(super) fn new(header: [&'static str; N]) -> Self {
        Self {
            header,
            rows: Vec::new(),
        }
    }

    /// Adds a row of sanitised texts, and a line beneath it.
    pub(super) fn row(&mut self, cells: [(Ink, String); N], below: Option<String>) {
        self.rows.push(Row { cells, below });
    }

    /// The lines of the table, cut to the width of a terminal.
    pub(super) fn lines(&self, screen: &Screen) -> Vec<String> {
        let room = screen.room(0);
        let header = self.header.map(|name| (Ink::Quiet, name.to_owned()));
        let all = || std::iter::once(&header).chain(self.rows.iter().map(|row| &row.cells));
        let mut widths = [0; N];
        for cells in all() {
            for (width, (_, cell)) in widths.iter_mut().zip(cells) {
                *width = measure_text_width(cell).max(*width);
            }
        }
        let mut lines = vec![line(screen, &header, &widths, room)];
        for row in &self.rows {
            lines.push(line(screen, &row.cells, &widths, room));
            if let Some(below) = &row.below {
                let below = cut(below, room.map(|room| room.saturating_sub(3)));
                lines.push(format!("   {}", screen.paint(Ink::Question, &below)));
            }
        }
        lines
    }
}

fn line<const N: usize>(
    screen: &Screen,
    cells: &[(Ink, String); N],
    widths: &[usize; N],
    room: Option<usize>,
) -> String {
    let mut line = String::new();
    let mut used = 0;
    for (index, ((ink, cell), width)) in cells.iter().zip(widths).enumerate() {
        if index + 1 == N {
            let left = room.map(|room| room.saturating_sub(used).max(10));
            line.push_str(&screen.paint(*ink, &cut(cell, left)));
        } else if *width > 0 {
            let padding = width - measure_text_width(cell) + GAP;
            line.push_str(&screen.paint(*ink, cell));
            line.push_str(&" ".repeat(padding));
            used += width + GAP;
        }
    }
    line.trim_end().to_owned()
}

/// The beginning of a text that fits the width.
fn cut(cell: &str, room: Option<usize>) -> String {
    match room {
        Some(room) if measure_text_width(cell) > room => {
            console::truncate_str(cell, room, "…").into_owned()
        }
        Some(_) => cell.to_owned(),
        // In a pipe, only very long texts are cut.
        None => text::clipped(cell, 300).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::view::Stream;
    use super::*;

    #[test]
    fn columns_are_aligned_and_empty_ones_are_left_out() {
        let screen = Screen::new(Stream::Nowhere);
        let plain = |text: &str| (Ink::Plain, text.to_owned());
        let mut table = Table::new(["RUN", "", "WHAT"]);
        table.row([plain("a"), plain(""), plain("日本 one")], None);
        table.row(
            [plain("bcdef"), plain(""), plain("two")],
            Some("waits".to_owned()),
        );
        assert_eq!(
            table.lines(&screen),
            ["RUN    WHAT", "a      日本 one", "bcdef  two", "   waits"]
        );
    }
}
