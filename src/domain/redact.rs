//! Takes passwords out of text: the one function that everything printed goes through.

/// What stands where a secret stood.
pub const HIDDEN: &str = "***";

/// Names whose value is never shown, in `name=value` form inside URLs and connection strings.
const SECRET_NAMES: &[&str] = &["password", "passwd", "pwd", "secret", "token", "secret_access_key"];

/// Replaces the password of every URL in a text (`scheme://user:password@host`), and the value of every
/// `password=…` and the like, by [`HIDDEN`]. Text without either comes back as it is.
#[must_use]
pub fn redact(text: &str) -> String {
    hide_assignments(&hide_userinfo(text))
}

fn hide_userinfo(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (head, tail) = rest.split_at(at + 3);
        out.push_str(head);
        // A password may hold an unescaped '@' or '/': the last '@' before a blank, quote or '?' ends it.
        let end = tail.find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>')).unwrap_or(tail.len());
        let next_url = tail[..end].find("://").map_or(end, |next| tail[..next].rfind([',', ';']).unwrap_or(next));
        let authority = &tail[..next_url];
        let authority =
            &authority[..authority.find('?').filter(|q| !authority[*q..].contains('@')).unwrap_or(next_url)];
        match authority.rfind('@') {
            Some(at) => {
                let user = authority[..at].split(':').next().unwrap_or_default();
                out.push_str(user);
                if authority[..at].contains(':') {
                    out.push(':');
                    out.push_str(HIDDEN);
                }
                rest = &tail[at..];
            }
            None => rest = tail,
        }
    }
    out.push_str(rest);
    out
}

fn hide_assignments(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in lower.match_indices('=') {
        let name_start = lower[..at].rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |i| i + 1);
        if at < done || !SECRET_NAMES.iter().any(|name| lower[name_start..at].ends_with(name)) {
            continue;
        }
        let value = &text[at + 1..];
        let end = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].find(quote).map_or(value.len(), |i| i + 2),
            _ => value
                .find(|c: char| c.is_whitespace() || matches!(c, '&' | ';' | '"' | '\'' | ')' | ','))
                .unwrap_or(value.len()),
        };
        out.push_str(&text[done..=at]);
        out.push_str(HIDDEN);
        done = at + 1 + end;
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_of_urls_are_hidden_wherever_they_stand() {
        for (text, shown) in [
            ("postgres://u:s3cret@h:5432/db", "postgres://u:***@h:5432/db"),
            ("postgres://u:a@b/c@h/db", "postgres://u:***@h/db"),
            ("cannot open postgres://u:p@h/x: no route", "cannot open postgres://u:***@h/x: no route"),
            ("a://u:p@h b://v:q@i", "a://u:***@h b://v:***@i"),
            ("postgres://u@h/db", "postgres://u@h/db"),
            ("sqlite:./extenddb.db", "sqlite:./extenddb.db"),
            ("postgres://:p@h/db", "postgres://:***@h/db"),
            ("url \"mongodb://u:p@a,b/?x=1\" ends", "url \"mongodb://u:***@a,b/?x=1\" ends"),
            ("postgres://u:p?q@h/db", "postgres://u:***@h/db"),
        ] {
            assert_eq!(redact(text), shown);
        }
    }

    #[test]
    fn passwords_given_by_name_are_hidden() {
        assert_eq!(redact("postgres://h/db?user=u&password=p&x=1"), "postgres://h/db?user=u&password=***&x=1");
        assert_eq!(redact("host=h password='a b' user=u"), "host=h password=*** user=u");
        assert_eq!(redact("sslpassword=x"), "sslpassword=***");
    }

    #[test]
    fn other_text_is_left_alone() {
        for text in ["", "a = b", "table=Orders", "see https://example.org/a?b=c", "mail a@b"] {
            assert_eq!(redact(text), text);
        }
    }
}
