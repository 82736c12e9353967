//! The messages of each language.

use std::{fmt, sync::LazyLock};

use fluent_bundle::{FluentArgs, FluentResource, FluentValue, concurrent::FluentBundle};
use kalends_kernel::Language;
use unic_langid::LanguageIdentifier;

/// Stands for a text that is filled in later: [`Sentence::around`]. It is left out of all other texts.
const HOLE: &str = "\u{fffc}";

type Bundle = FluentBundle<FluentResource>;

/// The messages of a language as they are written down.
pub(crate) const fn source(language: Language) -> &'static str {
    match language {
        Language::English => include_str!("../messages/en.ftl"),
        Language::German => include_str!("../messages/de.ftl"),
        Language::French => include_str!("../messages/fr.ftl"),
        Language::Spanish => include_str!("../messages/es.ftl"),
        Language::Portuguese => include_str!("../messages/pt.ftl"),
        Language::Japanese => include_str!("../messages/ja.ftl"),
    }
}

/// The messages of a language, which are read when they are first needed.
fn bundle(language: Language) -> &'static Bundle {
    static ENGLISH: LazyLock<Bundle> = LazyLock::new(|| read(Language::English));
    static GERMAN: LazyLock<Bundle> = LazyLock::new(|| read(Language::German));
    static FRENCH: LazyLock<Bundle> = LazyLock::new(|| read(Language::French));
    static SPANISH: LazyLock<Bundle> = LazyLock::new(|| read(Language::Spanish));
    static PORTUGUESE: LazyLock<Bundle> = LazyLock::new(|| read(Language::Portuguese));
    static JAPANESE: LazyLock<Bundle> = LazyLock::new(|| read(Language::Japanese));
    match language {
        Language::English => &ENGLISH,
        Language::German => &GERMAN,
        Language::French => &FRENCH,
        Language::Spanish => &SPANISH,
        Language::Portuguese => &PORTUGUESE,
        Language::Japanese => &JAPANESE,
    }
}

/// Reads the messages. What cannot be read is left out; a test finds it.
fn read(language: Language) -> Bundle {
    let identifier: LanguageIdentifier = language.code().parse().unwrap_or_default();
    let mut bundle = Bundle::new_concurrent(vec![identifier]);
    // All our languages are written from left to right, so texts need no marks around them.
    bundle.set_use_isolating(false);
    let (Ok(messages) | Err((messages, _))) = FluentResource::try_new(source(language).to_owned());
    bundle.add_resource_overriding(messages);
    bundle
}

/// A message, filled in. It is written by [`fmt::Display`].
#[derive(Debug)]
pub struct Sentence {
    language: Language,
    id: &'static str,
    filled: FluentArgs<'static>,
}

impl Sentence {
    pub(crate) fn new(language: Language, id: &'static str) -> Self {
        Self { language, id, filled: FluentArgs::new() }
    }

    /// Fills a text in.
    #[must_use]
    pub fn with(mut self, name: &'static str, text: impl fmt::Display) -> Self {
        self.filled.set(name, FluentValue::from(text.to_string().replace(HOLE, "")));
        self
    }

    /// Fills in `count`, by which the language chooses the form of the message.
    #[must_use]
    pub fn count(self, count: u32) -> Self {
        self.number("count", count)
    }

    /// Fills a number in.
    #[must_use]
    pub fn number(mut self, name: &'static str, number: u32) -> Self {
        self.filled.set(name, FluentValue::from(number));
        self
    }

    /// The text before and after the one that is filled in as `name`, which can then be markup.
    pub fn around(mut self, name: &'static str) -> (String, String) {
        self.filled.set(name, FluentValue::from(HOLE));
        let text = self.to_string();
        let (before, after) = text.split_once(HOLE).unwrap_or((&text, ""));
        (before.to_owned(), after.to_owned())
    }
}

impl fmt::Display for Sentence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bundle = bundle(self.language);
        let message = bundle.get_message(self.id).and_then(|message| message.value());
        debug_assert!(message.is_some(), "there is no message {} in {:?}", self.id, self.language);
        let Some(message) = message else { return f.write_str(self.id) };
        let mut errors = Vec::new();
        let text = bundle.format_pattern(message, Some(&self.filled), &mut errors);
        debug_assert!(errors.is_empty(), "{} in {:?}: {errors:?}", self.id, self.language);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::{fs, path::Path};

    use fluent_syntax::{
        ast::{Entry, Expression, InlineExpression, Pattern, PatternElement},
        parser,
    };

    use super::*;

    /// The messages of a language, each with the names in braces.
    fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
        let parsed = parser::parse(source(language)).unwrap_or_else(|(_, errors)| panic!("{language:?}: {errors:?}"));
        let mut messages = BTreeMap::new();
        for entry in parsed.body {
            if let Entry::Message(message) = entry {
                let mut names = BTreeSet::new();
                names_in(&message.value.unwrap(), &mut names);
                let known = messages.insert(message.id.name.to_owned(), names);
                assert!(known.is_none(), "{language:?} has {} twice", message.id.name);
            }
        }
        messages
    }

    fn names_in(pattern: &Pattern<&str>, names: &mut BTreeSet<String>) {
        for element in &pattern.elements {
            let PatternElement::Placeable { expression } = element else { continue };
            let inline = match expression {
                Expression::Inline(inline) => inline,
                Expression::Select { selector, variants } => {
                    variants.iter().for_each(|variant| names_in(&variant.value, names));
                    selector
                }
            };
            let InlineExpression::VariableReference { id } = inline else { panic!("{inline:?}") };
            names.insert(id.name.to_owned());
        }
    }

    #[test]
    fn every_language_has_every_message_with_the_same_names() {
        let english = messages(Language::English);
        assert!(english.len() > 150, "{}", english.len());
        for language in Language::ALL {
            assert_eq!(messages(language), english, "{language:?}");
        }
    }

    /// Each message is asked for by a template or by Rust code.
    #[test]
    fn no_message_is_left_over() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let mut sources = String::new();
        let mut folders: Vec<_> =
            ["app/src", "i18n/src", "web/src", "web/templates"].map(|one| crates.join(one)).into();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    sources.push_str(&fs::read_to_string(path).unwrap());
                }
            }
        }
        for id in messages(Language::English).keys() {
            assert!(sources.contains(&format!("\"{id}\"")), "nobody says {id}");
        }
    }

    #[test]
    fn a_text_is_filled_in_as_it_is() {
        let hostile = "{ $title } \u{2068}<b> \" [one] -term";
        let sentence = Sentence::new(Language::German, "error-title").with("title", hostile);
        assert!(sentence.to_string().ends_with(hostile), "{sentence}");
    }

    #[test]
    fn markup_can_stand_within_a_sentence() {
        let sentence = Sentence::new(Language::English, "first-free-day");
        assert_eq!(sentence.around("day"), ("The first free day is ".to_owned(), ".".to_owned()));
        let foreign = Sentence::new(Language::Japanese, "emails-sent").with("title", "a\u{fffc}b");
        let (before, after) = foreign.around("address");
        assert!(before.contains("「ab」") && !after.contains(HOLE), "{before}, {after}");
    }
}
