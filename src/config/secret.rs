//! `${ENV_VAR}` and `file:PATH` in values.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::{Error, Result};

/// Prefix of a value that stands in a file.
const FILE: &str = "file:";

/// Resolves a value: `file:PATH` is the content of the file without its last line end; `${NAME}` anywhere in
/// the text is the environment variable, percent-encoded where it stands in the user or password of a URL. `what` names the value in messages.
///
/// # Errors
/// Names the file or variable that is missing, never a value.
pub fn expand(what: &str, value: &str) -> Result<String> {
    if let Some(path) = value.strip_prefix(FILE) {
        let path = expand_variables(what, path)?;
        let text =
            std::fs::read_to_string(&path).map_err(|e| Error::new(format!("{what}: cannot read {path}: {e}")))?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        return Ok(text.strip_suffix('\r').unwrap_or(text).to_owned());
    }
    expand_variables(what, value)
}

fn expand_variables(what: &str, value: &str) -> Result<String> {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(start) = rest.find("${") {
        out.push_str(&rest[..start]);
        let tail = &rest[start + 2..];
        let end = tail.find('}').ok_or_else(|| Error::new(format!("{what}: \"${{\" without \"}}\"")))?;
        let name = &tail[..end];
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(Error::new(format!("{what}: ${{{name}}} names no environment variable")));
        }
        let found = std::env::var(name)
            .map_err(|_| Error::new(format!("{what}: the environment variable {name} is not set (or not UTF-8)")))?;
        if in_userinfo(&out, &tail[end + 1..]) {
            out.extend(utf8_percent_encode(&found, USERINFO));
        } else {
            out.push_str(&found);
        }
        rest = &tail[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// What stands as it is in the user and password of a URL.
const USERINFO: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Whether a value lands between the `://` of a URL and its `@`: there it is encoded, as passwords hold
/// anything.
fn in_userinfo(before: &str, after: &str) -> bool {
    let authority = before.rfind("://").map(|at| &before[at + 3..]);
    authority.is_some_and(|text| !text.contains(['@', '/']))
        && after.split('/').next().is_some_and(|text| text.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in_and_missing_ones_named() {
        let path = std::env::var("PATH").expect("PATH is set");
        assert_eq!(expand("url", "a${PATH}b").as_deref(), Ok(format!("a{path}b").as_str()));
        let message = expand("deployments.x.url", "u:${NO_SUCH_VARIABLE_HERE}@h").expect_err("not set").to_string();
        assert!(message.contains("NO_SUCH_VARIABLE_HERE") && message.contains("deployments.x.url"), "{message}");
        assert!(expand("url", "${PATH").is_err());
    }

    #[test]
    fn a_value_in_the_password_of_a_url_is_encoded_and_elsewhere_it_is_not() {
        // The only variable that every test has, and that holds a character to be encoded.
        let path = std::env::var("PATH").expect("PATH is set");
        let encoded = path.replace('/', "%2F").replace(':', "%3A");
        let expand = |text| expand("url", text).expect("PATH is set");
        assert_eq!(expand("postgres://u:${PATH}@h/db"), format!("postgres://u:{encoded}@h/db"));
        assert_eq!(expand("postgres://u@h/${PATH}"), format!("postgres://u@h/{path}"));
        assert_eq!(expand("sqlite:${PATH}"), format!("sqlite:{path}"));
    }

    #[test]
    fn a_file_gives_its_content_without_the_last_line_end() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("secret");
        std::fs::write(&path, "s3cret\n").expect("written");
        assert_eq!(expand("url", &format!("file:{}", path.display())).as_deref(), Ok("s3cret"));
        assert!(expand("url", "file:/no/such/file").expect_err("missing").to_string().contains("/no/such/file"));
    }
}
