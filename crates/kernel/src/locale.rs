//! The language of a reader, and the region whose conventions dates and times follow.

use std::{fmt, str::FromStr};

/// The maximum number of bytes of a tag. RFC 5646 section 4.4.1 expects no more.
const TAG_MAX: usize = 35;

/// A language in which public pages, and emails to guests, are written. [`Locale`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    English,
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Portuguese.
    Portuguese,
    /// Japanese.
    Japanese,
}

/// A region: two letters (ISO 3166-1) or three digits (UN M.49), in upper case.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Region {
    /// Two letters are followed by a zero.
    code: [u8; 3],
}

/// A language, and the region whose conventions dates and times follow: the first day of the week, the order of a date,
/// and the clock.
///
/// ```
/// use kalends_kernel::{Language, Locale};
///
/// let locale: Locale = "pt-br".parse()?;
/// assert_eq!(locale.language(), Language::Portuguese);
/// assert_eq!(locale.to_string(), "pt-BR");
/// assert_eq!(Locale::accepted("sv-SE, de;q=0.8, fr;q=0.9").to_string(), "fr");
/// # Ok::<(), kalends_kernel::LocaleError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Locale {
    language: Language,
    region: Option<Region>,
}

/// The text is not the tag of a [`Language`], with or without a region. [`Locale`] has an example of the parser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocaleError;

impl Language {
    /// Every language.
    pub const ALL: [Self; 6] =
        [Self::English, Self::German, Self::French, Self::Spanish, Self::Portuguese, Self::Japanese];

    /// The code of ISO 639-1.
    ///
    /// ```
    /// use kalends_kernel::Language;
    ///
    /// assert_eq!((Language::German.code(), Language::German.own_name()), ("de", "Deutsch"));
    /// ```
    pub const fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::French => "fr",
            Self::Spanish => "es",
            Self::Portuguese => "pt",
            Self::Japanese => "ja",
        }
    }

    /// The name of the language in the language itself. [`Self::code`] has an example.
    pub const fn own_name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::German => "Deutsch",
            Self::French => "Français",
            Self::Spanish => "Español",
            Self::Portuguese => "Português",
            Self::Japanese => "日本語",
        }
    }
}

impl Locale {
    /// The locale of a reader about whom nothing is known: English, with the conventions of the United Kingdom (weeks
    /// begin on Monday, and a day has 24 hours).
    pub const DEFAULT: Self = Self { language: Language::English, region: Some(Region { code: *b"GB\0" }) };

    /// The locale of a language in the region where most of its speakers live, as for the tag of a language alone.
    /// [`Locale`] has an example.
    pub const fn of(language: Language) -> Self {
        Self { language, region: None }
    }

    /// The language. [`Locale`] has an example.
    pub const fn language(self) -> Language {
        self.language
    }

    /// Picks the locale that suits a reader best, by the header `Accept-Language` (RFC 9110 section 12.5.4): the first of
    /// the tags with the highest weight whose language is one of ours. If there is none, the locale is English, with the
    /// conventions of the region that the reader prefers; without a region, it is [`Self::DEFAULT`]. The same region
    /// counts if the reader prefers another language to English.
    ///
    /// Invalid tags and weights are skipped. [`Locale`] has an example.
    pub fn accepted(header: &str) -> Self {
        let mut best: Option<(u16, Self)> = None;
        let mut elsewhere: Option<(u16, Region)> = None;
        for (tag, weight) in header.split(',').filter_map(weighted) {
            if let Ok(locale) = tag.parse::<Self>() {
                if best.is_none_or(|(highest, _)| weight > highest) {
                    best = Some((weight, locale));
                }
            } else if let Some(region) =
                region_of(tag).filter(|_| elsewhere.is_none_or(|(highest, _)| weight > highest))
            {
                elsewhere = Some((weight, region));
            }
        }
        let in_english = |region| Self { language: Language::English, region: Some(region) };
        match (best, elsewhere) {
            (None, None) => Self::DEFAULT,
            (None, Some((_, region))) => in_english(region),
            (Some((weight, locale)), Some((preferred, region)))
                if locale.language == Language::English && preferred > weight =>
            {
                in_english(region)
            }
            (Some((_, locale)), _) => locale,
        }
    }

    /// The locale for a language that a reader chose. If the reader named no region, it is the one of `accepted`, if that is
    /// of the same language or the chosen one is English, which is read in all regions.
    ///
    /// ```
    /// use kalends_kernel::Locale;
    ///
    /// let (austrian, german): (Locale, Locale) = ("de-AT".parse()?, "de".parse()?);
    /// assert_eq!(german.with_region_of(austrian), austrian);
    /// # Ok::<(), kalends_kernel::LocaleError>(())
    /// ```
    #[must_use]
    pub fn with_region_of(self, accepted: Self) -> Self {
        let same = self.language == accepted.language;
        match (self.region, accepted.region) {
            (None, Some(region)) if same || self.language == Language::English => Self { region: Some(region), ..self },
            // A reader of another language, whose region is not known.
            (None, None) if !same && self.language == Language::English => Self::DEFAULT,
            _ => self,
        }
    }
}

/// A tag of the header and its weight, in thousandths. `None` for a weight of zero, and for anything invalid.
fn weighted(range: &str) -> Option<(&str, u16)> {
    let mut parts = range.split(';').map(str::trim);
    let tag = parts.next()?;
    let weight = match parts.next() {
        None => 1_000,
        Some(weight) => {
            let weight = weight.strip_prefix("q=").or_else(|| weight.strip_prefix("Q="))?;
            let (whole, part) = weight.split_once('.').unwrap_or((weight, ""));
            let digits = part.len() <= 3 && part.bytes().all(|byte| byte.is_ascii_digit());
            let part: u16 = if digits { format!("{part:0<3}").parse().ok()? } else { return None };
            match whole {
                "0" => part,
                "1" if part == 0 => 1_000,
                _ => return None,
            }
        }
    };
    (weight > 0).then_some((tag, weight))
}

/// The region of a tag (RFC 5646 section 2.1): the first subtag of that shape after the language and the script.
fn region_of(tag: &str) -> Option<Region> {
    let mut parts = tag.split('-');
    let language = parts.next()?;
    if !(2..=3).contains(&language.len()) || !language.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    // A single character begins an extension, whose parts only look like regions.
    parts.take_while(|part| part.len() > 1).find_map(Region::parse)
}

impl Region {
    fn parse(part: &str) -> Option<Self> {
        let code = match part.as_bytes() {
            [a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                [a.to_ascii_uppercase(), b.to_ascii_uppercase(), 0]
            }
            [a, b, c] if part.bytes().all(|byte| byte.is_ascii_digit()) => [*a, *b, *c],
            _ => return None,
        };
        Some(Self { code })
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.code.iter().filter(|byte| **byte != 0);
        code.map(|byte| char::from(*byte)).try_for_each(|letter| fmt::Write::write_char(f, letter))
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Region({self})")
    }
}

impl fmt::Display for Locale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.language.code())?;
        self.region.map_or(Ok(()), |region| write!(f, "-{region}"))
    }
}

impl FromStr for Locale {
    type Err = LocaleError;

    /// Reads a tag such as `de`, `pt-BR` or `es-419` (BCP 47), of up to 35 bytes. Anything after the region is ignored.
    fn from_str(tag: &str) -> Result<Self, LocaleError> {
        let well_formed =
            |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if tag.len() > TAG_MAX || !tag.split('-').all(well_formed) {
            return Err(LocaleError);
        }
        let code = tag.split('-').next().unwrap_or_default();
        let language = Language::ALL.into_iter().find(|language| language.code().eq_ignore_ascii_case(code));
        Ok(Self { language: language.ok_or(LocaleError)?, region: region_of(tag) })
    }
}

impl fmt::Display for LocaleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let codes = Language::ALL.map(Language::code).join(", ");
        write!(f, "must be one of {codes}, with or without a region, such as pt-BR")
    }
}

impl std::error::Error for LocaleError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read() {
        for (tag, expected) in [
            ("de", Some("de")),
            ("DE", Some("de")),
            ("pt-br", Some("pt-BR")),
            ("es-419", Some("es-419")),
            ("ja-Jpan-JP", Some("ja-JP")),
            ("de-CH-1996", Some("de-CH")),
            ("en-u-hc-h12", Some("en")),
            ("en-", None),
            ("de-é", None),
            ("de-overlongest", None),
            ("de-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q-r", None),
            ("it", None),
            ("deu", None),
            ("", None),
            ("-de", None),
            ("d\u{e9}", None),
            ("de DE", None),
        ] {
            assert_eq!(tag.parse::<Locale>().ok().map(|locale| locale.to_string()).as_deref(), expected, "{tag}");
        }
    }

    #[test]
    fn the_best_language_is_negotiated() {
        for (header, expected) in [
            ("", "en-GB"),
            ("*", "en-GB"),
            ("en", "en"),
            ("en-US,en;q=0.9,de;q=0.8", "en-US"),
            ("de;q=0.8, fr;q=0.9", "fr"),
            ("de, fr", "de"),
            ("de;q=0, fr;q=0.1", "fr"),
            ("it-IT, it;q=0.9, es;q=0.5", "es"),
            ("it-IT, it;q=0.9", "en-IT"),
            // As browsers send it.
            ("it-IT,it;q=0.9,en-US;q=0.8,en;q=0.7", "en-IT"),
            ("en-US,en;q=0.9,it-IT;q=0.8", "en-US"),
            ("it-IT,it;q=0.9,de;q=0.8,en;q=0.7", "de"),
            ("it", "en-GB"),
            ("zh-Hant-TW", "en-TW"),
            ("zh-CN;q=0.5, ko-KR;q=0.9", "en-KR"),
            ("fr-CA;Q=1.000", "fr-CA"),
            ("de;q=1.5, ja;q=0.3", "ja"),
            ("de;q=abc, ja;q=0.3", "ja"),
            ("de;q=0.1234, ja;q=0.3", "ja"),
            ("de;q=, ja;q=0.3", "ja"),
            (";;,,q=1,de", "de"),
            ("it-IT;q=0", "en-GB"),
        ] {
            assert_eq!(Locale::accepted(header).to_string(), expected, "{header}");
        }
    }

    #[test]
    fn a_chosen_language_keeps_the_region_of_the_reader() {
        for (chosen, accepted, expected) in [
            ("en", "en-US", "en-US"),
            ("en", "de-AT", "en-AT"),
            ("en", "de", "en-GB"),
            ("en", "en", "en"),
            ("fr", "de-AT", "fr"),
            ("de", "de", "de"),
            ("de", "de-AT", "de-AT"),
            ("de-CH", "de-AT", "de-CH"),
        ] {
            let locale = |tag: &str| tag.parse::<Locale>().unwrap();
            assert_eq!(locale(chosen).with_region_of(locale(accepted)).to_string(), expected);
        }
    }

    /// The same text is written and read.
    #[test]
    fn locales_round_trip() {
        for language in Language::ALL {
            for locale in [Locale::of(language), Locale { region: Region::parse("419"), ..Locale::of(language) }] {
                assert_eq!(locale.to_string().parse(), Ok(locale));
            }
        }
    }
}
