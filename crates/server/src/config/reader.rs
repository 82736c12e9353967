//! Reads settings for [`Config`](super::Config), one after another.

use super::{Given, Source, keys};

/// Parses settings and collects the problems.
pub(super) struct Reader<'a> {
    pub(super) given: &'a Given,
    pub(super) problems: &'a mut Vec<String>,
}

impl Reader<'_> {
    /// The given value or the setting's default. `None` if it is invalid.
    pub(super) fn read<T>(&mut self, key: &keys::Key, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let (text, source) = self.given.effective(key)?;
        self.parse(key, &text, source, parse)
    }

    /// The given value. `None` if it is missing or invalid.
    pub(super) fn optional<T>(&mut self, key: &keys::Key, parse: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let (text, source) = self.given.find(key)?;
        self.parse(key, text, source, parse)
    }

    fn parse<T>(
        &mut self,
        key: &keys::Key,
        text: &str,
        source: Source,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        parse(text)
            .map_err(|wrong| {
                // Only values that may be shown are quoted.
                let got = match key.visibility {
                    keys::Visibility::Plain => format!(", got {text:?}"),
                    keys::Visibility::Address | keys::Visibility::Secret => String::new(),
                };
                self.problems.push(format!("{} ({source}): {wrong}{got}", key.name));
            })
            .ok()
    }
}
