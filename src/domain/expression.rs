//! SQL text as tokens, and expressions in one spelling.
//!
//! Comments, white space, the case of unquoted names, needless quotes and needless parentheses
//! carry no meaning, and neither do the casts that PostgreSQL writes behind a string constant.
//! This is no SQL parser: it knows words, constants, quotes, comments and brackets, which is
//! enough to compare what a database says with what was declared.

/// A piece of SQL text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    /// An unquoted name or keyword, in lower case.
    Word(String),
    /// A quoted name, without its quotes.
    Name(String),
    /// A string constant with its quotes, doubled ones inside left as they are.
    Text(String),
    /// A number, as written but in lower case.
    Number(String),
    /// An operator or other sign: `::`, `>=`, `,`, `;`.
    Sign(String),
    /// `(` or `[`.
    Open(char),
    /// `)` or `]`.
    Close(char),
}

impl Token {
    /// The name, for a word or a quoted name.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Word(n) | Self::Name(n) => Some(n),
            _ => None,
        }
    }

    /// Whether it is this keyword (given in lower case).
    #[must_use]
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(w) if w == word)
    }

    /// Whether it is this sign.
    #[must_use]
    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self, Self::Sign(s) if s == sign)
    }
}

/// Splits SQL text into tokens. Comments are dropped. Text that never closes is taken to its end.
#[must_use]
pub fn tokens(sql: &str) -> Vec<Token> {
    let chars: Vec<char> = sql.chars().collect();
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let next = chars.get(at + 1).copied();
        if c.is_whitespace() {
            at += 1;
        } else if c == '-' && next == Some('-') {
            at += chars[at..].iter().position(|&c| c == '\n').unwrap_or(chars.len() - at);
        } else if c == '/' && next == Some('*') {
            at = end_of_comment(&chars, at);
        } else if c == '\'' {
            let end = end_of_quoted(&chars, at, '\'');
            out.push(Token::Text(chars[at..end].iter().collect()));
            at = end;
        } else if c == '"' || c == '`' || (c == '[' && opens_name(&out)) {
            let close = if c == '[' { ']' } else { c };
            let end = end_of_quoted(&chars, at, close);
            let closed = end > at + 1 && chars[end - 1] == close;
            let inner: String = chars[at + 1..if closed { end - 1 } else { end }].iter().collect();
            out.push(Token::Name(inner.replace(&format!("{close}{close}"), &close.to_string())));
            at = end;
        } else if c == '$' && dollar_quote(&chars, at).is_some() {
            let (text, end) = dollar_quote(&chars, at).expect("looked at in the condition");
            out.push(Token::Text(format!("'{}'", text.replace('\'', "''"))));
            at = end;
        } else if c.is_ascii_digit() || (c == '.' && next.is_some_and(|n| n.is_ascii_digit())) {
            let end = end_of_number(&chars, at);
            out.push(Token::Number(chars[at..end].iter().collect::<String>().to_lowercase()));
            at = end;
        } else if c.is_alphabetic() || c == '_' {
            let end = (at..chars.len())
                .find(|&i| !(chars[i].is_alphanumeric() || chars[i] == '_' || chars[i] == '$'))
                .unwrap_or(chars.len());
            out.push(Token::Word(chars[at..end].iter().collect::<String>().to_lowercase()));
            at = end;
        } else if c == '(' || c == '[' {
            out.push(Token::Open(c));
            at += 1;
        } else if c == ')' || c == ']' {
            out.push(Token::Close(c));
            at += 1;
        } else {
            let pair: String = chars[at..chars.len().min(at + 2)].iter().collect();
            let sign = if matches!(pair.as_str(), "::" | ">=" | "<=" | "<>" | "!=" | "||" | "->" | "==" | "~~" | "@>") {
                pair
            } else {
                c.to_string()
            };
            at += sign.chars().count();
            out.push(Token::Sign(match sign.as_str() {
                "!=" => "<>".to_owned(),
                "==" => "=".to_owned(),
                _ => sign,
            }));
        }
    }
    out
}

/// The normal spelling of an expression.
#[must_use]
pub fn normalise(sql: &str) -> String {
    normalise_tokens(&tokens(sql))
}

/// The normal spelling of an expression given as tokens.
#[must_use]
pub fn normalise_tokens(tokens: &[Token]) -> String {
    let mut tokens = without_literal_casts(tokens);
    while let Some(shorter) = without_needless_brackets(&tokens) {
        tokens = shorter;
    }
    render(&tokens)
}

/// Index of the bracket that closes the one at `open`.
#[must_use]
pub fn closing(tokens: &[Token], open: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (i, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// Splits at the commas that stand in no bracket.
#[must_use]
pub fn split_at_commas(tokens: &[Token]) -> Vec<&[Token]> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0usize);
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            t if depth == 0 && t.is_sign(",") => {
                parts.push(&tokens[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    if start < tokens.len() || !parts.is_empty() {
        parts.push(&tokens[start..]);
    }
    parts
}

/// `[` quotes a name in SQLite, and is an array's bracket in PostgreSQL behind a name or a bracket.
fn opens_name(before: &[Token]) -> bool {
    !matches!(before.last(), Some(Token::Word(w)) if w == "array" || !is_keyword(w))
        && !matches!(before.last(), Some(Token::Close(_) | Token::Name(_)))
}

fn end_of_quoted(chars: &[char], start: usize, close: char) -> usize {
    let mut at = start + 1;
    while at < chars.len() {
        if chars[at] == close {
            if chars.get(at + 1) == Some(&close) && close != ']' {
                at += 2;
                continue;
            }
            return at + 1;
        }
        at += 1;
    }
    chars.len()
}

/// PostgreSQL's block comments nest; SQLite's do not, and a declaration with `/*` inside one is not to be expected.
fn end_of_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => {
                depth += 1;
                at += 2;
            }
            ('*', Some('/')) => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    chars.len()
}

fn dollar_quote(chars: &[char], start: usize) -> Option<(String, usize)> {
    let tag_end = (start + 1..chars.len()).find(|&i| !(chars[i].is_alphanumeric() || chars[i] == '_'))?;
    if chars[tag_end] != '$' || chars.get(start + 1).is_some_and(char::is_ascii_digit) {
        return None;
    }
    let tag = &chars[start..=tag_end];
    let end = (tag_end + 1..chars.len()).find(|&i| chars[i..].starts_with(tag))?;
    Some((chars[tag_end + 1..end].iter().collect(), end + tag.len()))
}

fn end_of_number(chars: &[char], start: usize) -> usize {
    let mut at = start;
    while at < chars.len() {
        let c = chars[at];
        let exponent_sign = (c == '+' || c == '-') && matches!(chars[at - 1], 'e' | 'E');
        if !(c.is_ascii_alphanumeric() || c == '.' || (exponent_sign && at > start)) {
            break;
        }
        at += 1;
    }
    at
}

/// Drops `::type` behind a string constant: the column or the other operand has the type already.
fn without_literal_casts(tokens: &[Token]) -> Vec<Token> {
    let mut out = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        out.push(tokens[at].clone());
        let literal = matches!(tokens[at], Token::Text(_));
        at += 1;
        while literal && tokens.get(at).is_some_and(|t| t.is_sign("::")) {
            at = end_of_type(tokens, at + 1);
        }
    }
    out
}

fn end_of_type(tokens: &[Token], start: usize) -> usize {
    let mut at = start;
    while let Some(token) = tokens.get(at) {
        let part_of_type = match token {
            Token::Word(w) => {
                at == start || matches!(w.as_str(), "precision" | "varying" | "with" | "without" | "time" | "zone")
            }
            Token::Name(_) => at == start,
            _ => false,
        };
        if !part_of_type {
            break;
        }
        at += 1;
    }
    while matches!(tokens.get(at), Some(Token::Open(_))) {
        at = closing(tokens, at).map_or(tokens.len(), |end| end + 1);
    }
    at
}

/// Removes one pair of brackets that means nothing: around everything, doubled, or around one token.
fn without_needless_brackets(tokens: &[Token]) -> Option<Vec<Token>> {
    for (open, token) in tokens.iter().enumerate() {
        if *token != Token::Open('(') {
            continue;
        }
        let close = closing(tokens, open)?;
        let whole = open == 0 && close + 1 == tokens.len() && close > 1;
        let called = open > 0
            && match &tokens[open - 1] {
                Token::Name(_) | Token::Close(_) => true,
                Token::Word(w) => !is_keyword(w) || w == "in" || w == "any" || w == "all" || w == "array",
                _ => false,
            };
        let doubled = tokens.get(open + 1) == Some(&Token::Open('(')) && closing(tokens, open + 1) == Some(close - 1);
        let single = close == open + 2 && !called;
        if whole || doubled || single {
            let mut out = tokens.to_vec();
            out.remove(close);
            out.remove(open);
            return Some(out);
        }
    }
    None
}

/// Words that no call's bracket follows.
fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "and"
            | "or"
            | "not"
            | "in"
            | "is"
            | "null"
            | "any"
            | "all"
            | "between"
            | "like"
            | "case"
            | "when"
            | "then"
            | "else"
            | "end"
            | "as"
            | "check"
            | "default"
            | "where"
            | "on"
            | "key"
            | "values"
            | "references"
            | "unique"
            | "primary"
            | "foreign"
            | "constraint"
            | "table"
            | "index"
            | "select"
            | "from"
            | "collate"
    )
}

fn render(tokens: &[Token]) -> String {
    let mut out = String::new();
    for (i, token) in tokens.iter().enumerate() {
        let before = i.checked_sub(1).map(|b| &tokens[b]);
        if before.is_some_and(|before| spaced(before, token, i.checked_sub(2).map(|b| &tokens[b]))) {
            out.push(' ');
        }
        match token {
            Token::Word(t) | Token::Text(t) | Token::Number(t) | Token::Sign(t) => out.push_str(t),
            Token::Name(n) if is_plain_name(n) => out.push_str(n),
            Token::Name(n) => {
                out.push('"');
                out.push_str(&n.replace('"', "\"\""));
                out.push('"');
            }
            Token::Open(c) | Token::Close(c) => out.push(*c),
        }
    }
    out
}

/// Whether a blank stands between two neighbours; `earlier` is the one before both.
fn spaced(before: &Token, token: &Token, earlier: Option<&Token>) -> bool {
    let glue = |t: &Token| t.is_sign("::") || t.is_sign(".");
    if glue(before) || glue(token) || matches!(before, Token::Open(_)) || matches!(token, Token::Close(_)) {
        return false;
    }
    if token.is_sign(",") || token.is_sign(";") {
        return false;
    }
    if matches!(token, Token::Open('[')) {
        return false;
    }
    if matches!(token, Token::Open(_)) {
        return match before {
            Token::Word(w) => is_keyword(w) && w != "any" && w != "all",
            Token::Name(_) | Token::Close(_) => false,
            _ => true,
        };
    }
    let unary = before.is_sign("-") || before.is_sign("+");
    let operand_before =
        matches!(earlier, Some(Token::Word(_) | Token::Name(_) | Token::Text(_) | Token::Number(_) | Token::Close(_)));
    !unary || operand_before
}

/// A name that needs no quotes. Names of columns that are keywords too are left unquoted: the text is for comparison.
fn is_plain_name(name: &str) -> bool {
    name.chars().next().is_some_and(|c| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::normalise;

    #[test]
    fn casts_behind_string_constants_are_dropped() {
        assert_eq!(normalise("'ACTIVE'::text"), "'ACTIVE'");
        assert_eq!(normalise("'-Infinity'::double precision"), "'-Infinity'");
        assert_eq!(normalise("'x'::character varying(10)"), "'x'");
        assert_eq!(normalise("(gen_random_uuid())::text"), "(gen_random_uuid())::text");
        assert_eq!(normalise("ARRAY['user'::text, 'role'::text]"), "array['user', 'role']");
    }

    #[test]
    fn comments_case_white_space_and_needless_brackets_carry_no_meaning() {
        let plain = normalise("propagation_delay_ms is null or propagation_delay_ms >= 0");
        assert_eq!(plain, "propagation_delay_ms is null or propagation_delay_ms >= 0");
        assert_eq!(normalise("((propagation_delay_ms) IS NULL\n OR \"propagation_delay_ms\">=0) -- so"), plain);
        assert_eq!(normalise("( /* a /* b */ */ propagation_delay_ms IS NULL OR propagation_delay_ms >= 0)"), plain);
    }

    #[test]
    fn the_same_membership_test_reads_the_same() {
        assert_eq!(normalise("(principal_type IN('user','role'))"), "principal_type in ('user', 'role')");
        assert_eq!(
            normalise("(principal_type = ANY (ARRAY['user'::text, 'role'::text]))"),
            "principal_type = any(array['user', 'role'])"
        );
        assert_eq!(normalise("x in ((1))"), "x in (1)");
    }

    #[test]
    fn constants_keep_their_case_and_their_comment_signs() {
        assert_eq!(normalise("'It''s -- no /* comment */'"), "'It''s -- no /* comment */'");
        assert_eq!(normalise("STRFTIME( '%Y-%m-%dT%H:%M:%fZ' , 'now' )"), "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
        assert_eq!(normalise("-9e999"), "-9e999");
        assert_eq!(normalise("a - 1"), "a - 1");
        assert_eq!(normalise("(now() - '1 day'::interval)"), "now() - '1 day'");
    }

    #[test]
    fn names_that_need_quotes_keep_them() {
        assert_eq!(normalise("\"Foo\" = [bar] and `b``z` = 1"), "\"Foo\" = bar and \"b`z\" = 1");
    }

    #[test]
    fn text_that_never_closes_ends_with_the_text() {
        assert_eq!(normalise("'abc"), "'abc");
        assert_eq!(normalise("/* abc"), "");
        assert_eq!(normalise("\"abc"), "abc");
        assert_eq!(normalise("((a)"), "((a)");
    }
}
