//! SQL as text: what of it counts, and what is only spelling.

/// The text without comments, with every run of whitespace outside quotes as one blank.
///
/// Quotes `'…'`, `"…"` and dollar quotes keep what they hold, byte for byte, but for line endings.
#[must_use]
pub fn normalise(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql;
    let mut blank = false;
    while let Some(c) = rest.chars().next() {
        let skipped = comment(rest);
        if skipped > 0 || c.is_whitespace() {
            rest = &rest[skipped.max(c.len_utf8())..];
            blank = true;
            continue;
        }
        if blank && !out.is_empty() {
            out.push(' ');
        }
        blank = false;
        let taken = quoted(rest).unwrap_or(c.len_utf8());
        out.push_str(&rest[..taken].replace("\r\n", "\n"));
        rest = &rest[taken..];
    }
    while out.ends_with([';', ' ']) {
        out.pop();
    }
    out
}

/// Length of the comment that begins here, 0 if none does.
fn comment(text: &str) -> usize {
    if text.starts_with("--") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return text.find("*/").map_or(text.len(), |end| end + 2);
    }
    0
}

/// Length of the quoted text that begins here.
fn quoted(text: &str) -> Option<usize> {
    let end = |tag: &str| text[tag.len()..].find(tag).map_or(text.len(), |at| at + 2 * tag.len());
    match text.as_bytes().first()? {
        b'\'' => Some(end("'")),
        b'"' => Some(end("\"")),
        b'$' => {
            let close = text[1..].find('$')? + 2;
            let tag = &text[..close];
            let word = &tag[1..tag.len() - 1];
            word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then(|| end(tag))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn comments_whitespace_and_line_endings_do_not_count() {
        let one = "CREATE TABLE t (\n  a int, -- the first\n  b text DEFAULT 'x  -- y'\n);\n";
        let other = "CREATE  TABLE t ( a int, /* first */\r\n b text DEFAULT 'x  -- y' )";
        assert_eq!(normalise(one).replace(" )", ")"), normalise(other).replace(" )", ")"));
        assert_eq!(normalise("SELECT 'a  b'"), "SELECT 'a  b'");
        assert_ne!(normalise("SELECT 'a  b'"), normalise("SELECT 'a b'"));
    }

    #[test]
    fn dollar_quotes_keep_what_they_hold() {
        assert_eq!(normalise("DO $x$ a  -- b\n $x$ ; "), "DO $x$ a  -- b\n $x$");
        assert_eq!(normalise("SELECT $1   ,2"), "SELECT $1 ,2");
    }
}
