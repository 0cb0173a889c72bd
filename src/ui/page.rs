//! A report laid out for people: lines, facts and tables, one after another.

use comfy_table::{ContentArrangement, Table, presets};

/// What a report looks like as text. Blocks are separated by an empty line.
#[derive(Debug, Default)]
pub struct Page {
    blocks: Vec<Block>,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Facts(Vec<(String, String)>),
    Table(Vec<String>, Vec<Vec<String>>),
}

impl Page {
    /// An empty page.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds lines as they are.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.blocks.push(Block::Text(text.into()));
        self
    }

    /// Adds names with their values, one a line. Facts with an empty value are left out.
    #[must_use]
    pub fn facts<K: Into<String>, V: Into<String>>(mut self, facts: impl IntoIterator<Item = (K, V)>) -> Self {
        let facts = facts.into_iter().map(|(k, v)| (k.into(), v.into())).filter(|(_, v)| !v.is_empty()).collect();
        self.blocks.push(Block::Facts(facts));
        self
    }

    /// Adds a table. Headers are upper case by habit; the header line stands even without rows.
    #[must_use]
    pub fn table<const N: usize>(mut self, headers: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> Self {
        let headers = headers.iter().map(|h| (*h).to_owned()).collect();
        let rows = rows.into_iter().map(Vec::from).collect();
        self.blocks.push(Block::Table(headers, rows));
        self
    }

    /// The page as text. On a terminal long cells are wrapped to its width; elsewhere a row is a line.
    #[must_use]
    pub fn render(self, terminal: bool) -> String {
        let mut out = String::new();
        for block in self.blocks {
            if !out.is_empty() {
                out.push('\n');
            }
            match block {
                Block::Text(text) => out.push_str(&text),
                Block::Facts(facts) => {
                    let width = facts.iter().map(|(k, _)| k.chars().count()).max().unwrap_or(0);
                    for (key, value) in facts {
                        let value = value.replace('\n', &format!("\n{:width$}  ", ""));
                        out.push_str(&format!("{key}:{:pad$} {value}\n", "", pad = width - key.chars().count()));
                    }
                }
                Block::Table(headers, rows) => {
                    let mut table = Table::new();
                    table.load_style(presets::NOTHING).set_content_arrangement(if terminal {
                        ContentArrangement::Dynamic
                    } else {
                        ContentArrangement::Disabled
                    });
                    table.set_header(headers);
                    table.add_rows(rows);
                    for column in table.column_iter_mut() {
                        column.set_padding((0, 2));
                    }
                    for line in table.lines() {
                        out.push_str(line.trim_end());
                        out.push('\n');
                    }
                }
            }
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_one_line_a_row_and_no_trailing_blanks() {
        let page = Page::new()
            .facts([("Table", "Orders"), ("Note", ""), ("Id", "7")])
            .table(["NAME", "STATUS"], [["a".to_owned(), "ACTIVE".to_owned()], ["bcd".to_owned(), "X".to_owned()]]);
        assert_eq!(page.render(false), "Table: Orders\nId:    7\n\nNAME  STATUS\na     ACTIVE\nbcd   X\n");
    }
}
