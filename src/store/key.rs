//! Keys of objects: components joined by `/`, at most 1024 bytes.

/// A valid key. Source: backup stores, section 2.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(String);

impl Key {
    /// Checks a key.
    ///
    /// # Errors
    /// Says which rule is broken.
    pub fn new(text: impl Into<String>) -> Result<Self, String> {
        let text = text.into();
        if text.len() > 1024 {
            return Err(format!("key of {} bytes, more than 1024", text.len()));
        }
        for component in text.split('/') {
            if component.is_empty() || component == "." || component == ".." {
                return Err(format!("key {text:?} has the component {component:?}"));
            }
            if component.contains(|c: char| c == '\\' || c.is_control()) {
                return Err(format!("key {text:?} holds a backslash or control character"));
            }
        }
        Ok(Self(text))
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This key with more components after it.
    ///
    /// # Errors
    /// As [`Key::new`].
    pub fn join(&self, rest: &str) -> Result<Self, String> {
        Self::new(format!("{}/{rest}", self.0))
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
