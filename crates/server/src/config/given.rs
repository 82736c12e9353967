//! The values of the settings and their sources.

use std::{collections::BTreeMap, ffi::OsString, fmt, fs, io, path::Path};

use super::keys::{self, Default, Key};

/// The file with settings named as in the environment.
const DOT_ENV: &str = ".env";
/// The file with settings in lower case.
const TOML: &str = "kalends.toml";

/// The source of a value. If several sources give a setting, the first in this order wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The environment of the process.
    Environment,
    /// `.env` in the working directory.
    DotEnv,
    /// `kalends.toml` in the working directory.
    Toml,
    /// No source gives it.
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Environment => "environment",
            Self::DotEnv => DOT_ENV,
            Self::Toml => TOML,
            Self::Default => "default",
        })
    }
}

/// The values from all sources. An empty or blank value counts as not given.
#[derive(Default)]
pub struct Given {
    values: BTreeMap<&'static str, (String, Source)>,
    problems: Vec<String>,
    hints: Vec<String>,
}

impl Given {
    /// Reads the environment and the files in `directory`.
    pub fn read(directory: &Path) -> Self {
        let mut given = Self::default();
        given.add_environment(std::env::vars_os());
        match dotenvy::from_path_iter(directory.join(DOT_ENV)) {
            Ok(pairs) => given.add_dot_env(pairs),
            Err(error) if error.not_found() => {}
            Err(error) => given.problems.push(format!("{DOT_ENV}: {error}")),
        }
        match fs::read_to_string(directory.join(TOML)) {
            Ok(text) => given.add_toml(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => given.problems.push(format!("{TOML}: {error}")),
        }
        given
    }

    /// The problems with the sources themselves.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// Hints about names that start like a setting but are not one. Such names are not errors: the environment may hold
    /// variables of other programs.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// The given value and its source.
    pub fn find(&self, key: &Key) -> Option<(&str, Source)> {
        self.values.get(key.name).map(|(value, source)| (value.as_str(), *source))
    }

    /// The given value or the default. `None` if the setting is unset.
    pub fn effective(&self, key: &Key) -> Option<(String, Source)> {
        match (self.find(key), &key.default) {
            (Some((value, source)), _) => Some((value.to_owned(), source)),
            (None, Default::Text(text)) => Some(((*text).to_owned(), Source::Default)),
            (None, Default::Derived(derive)) => Some((derive(&|key| self.text(key)), Source::Default)),
            (None, Default::Unset(_)) => None,
        }
    }

    /// The text of [`Given::effective`], empty if the setting is unset.
    fn text(&self, key: &Key) -> String {
        self.effective(key).map(|(text, _)| text).unwrap_or_default()
    }

    fn add_environment(&mut self, variables: impl Iterator<Item = (OsString, OsString)>) {
        for (name, value) in variables {
            let Some(name) = name.to_str().filter(|name| name.starts_with(keys::PREFIX)) else { continue };
            match value.into_string() {
                Ok(value) => self.add_named(name, value, Source::Environment),
                Err(_) => self.problems.push(format!("{name} (environment): must be UTF-8")),
            }
        }
    }

    fn add_dot_env(&mut self, pairs: impl Iterator<Item = dotenvy::Result<(String, String)>>) {
        for pair in pairs {
            match pair {
                Ok((name, value)) if name.starts_with(keys::PREFIX) => self.add_named(&name, value, Source::DotEnv),
                Ok(_) => {}
                // dotenvy's error quotes the line, which may hold a secret.
                Err(dotenvy::Error::LineParse(..)) => {
                    self.problems.push(format!("{DOT_ENV}: every line must have the form NAME=value"));
                    return;
                }
                Err(error) => {
                    self.problems.push(format!("{DOT_ENV}: {error}"));
                    return;
                }
            }
        }
    }

    fn add_named(&mut self, name: &str, value: String, source: Source) {
        match keys::find(name) {
            Some(key) => self.add(key, value, source),
            None => {
                let nearest = keys::nearest(name).name;
                self.hints.push(format!("{name} ({source}) is not a setting; did you mean {nearest}?"));
            }
        }
    }

    fn add_toml(&mut self, text: &str) {
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => {
                let line = error.span().map_or(0, |span| text[..span.start.min(text.len())].lines().count().max(1));
                self.problems.push(format!("{TOML} line {line}: {}", error.message()));
                return;
            }
        };
        for (name, value) in table {
            let full = format!("{}{}", keys::PREFIX, name.to_ascii_uppercase());
            let Some(key) = keys::find(&full).filter(|key| key.in_file() == name) else {
                let nearest = keys::nearest(&full).in_file();
                self.problems.push(format!("{TOML}: unknown setting {name:?}; did you mean {nearest:?}?"));
                continue;
            };
            match plain(value) {
                Some(value) => self.add(key, value, Source::Toml),
                None => self
                    .problems
                    .push(format!("{TOML}: {name} must be a string, a number, true, false or a list of these")),
            }
        }
    }

    fn add(&mut self, key: &'static Key, value: String, source: Source) {
        if value.trim().is_empty() {
            return;
        }
        let known = self.values.get(key.name).map(|(_, source)| *source);
        if known.is_none_or(|known| source < known) {
            self.values.insert(key.name, (value, source));
        }
    }
}

/// A TOML value in the form in which the environment holds it.
fn plain(value: toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(flag) => Some(flag.to_string()),
        // TOML allows dates without quotation marks.
        toml::Value::Datetime(date) => Some(date.to_string()),
        toml::Value::Array(values) => {
            values.into_iter().map(plain).collect::<Option<Vec<_>>>().map(|values| values.join(","))
        }
        toml::Value::Float(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
impl Given {
    /// The values that these sources give.
    pub(crate) fn of(environment: &[(&str, &str)], dot_env: &[(&str, &str)], toml: &str) -> Self {
        let mut given = Self::default();
        given.add_environment(environment.iter().map(|(name, value)| ((*name).into(), (*value).into())));
        given.add_dot_env(dot_env.iter().map(|(name, value)| Ok(((*name).to_owned(), (*value).to_owned()))));
        given.add_toml(toml);
        given
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use super::*;

    fn listen(given: &Given) -> Option<(String, Source)> {
        given.effective(&keys::LISTEN)
    }

    #[test]
    fn the_first_source_wins() {
        let (environment, dot_env, toml) =
            ([("KALENDS_LISTEN", "a")], [("KALENDS_LISTEN", "b"), ("HOME", "x")], "listen = 'c'");
        let of = |given: Given| listen(&given).unwrap();
        assert_eq!(of(Given::of(&environment, &dot_env, toml)), ("a".to_owned(), Source::Environment));
        assert_eq!(of(Given::of(&[], &dot_env, toml)), ("b".to_owned(), Source::DotEnv));
        assert_eq!(of(Given::of(&[], &[], toml)), ("c".to_owned(), Source::Toml));
        assert_eq!(of(Given::of(&[], &[], "")), ("127.0.0.1:8080".to_owned(), Source::Default));
    }

    #[test]
    fn an_empty_value_counts_as_not_given() {
        let given = Given::of(&[("KALENDS_LISTEN", " ")], &[], "listen = 'c'");
        assert_eq!(listen(&given), Some(("c".to_owned(), Source::Toml)));
    }

    #[test]
    fn the_file_takes_numbers_flags_lists_and_dates() {
        let given = Given::of(
            &[],
            &[],
            "clock_offset_seconds = -5\nmigrate = false\negress_allow = ['a:1', 'b:2']\nterms_effective_at = 2027-01-02",
        );
        assert!(given.problems().is_empty(), "{:?}", given.problems());
        assert_eq!(given.text(&keys::CLOCK_OFFSET_SECONDS), "-5");
        assert_eq!(given.text(&keys::MIGRATE), "false");
        assert_eq!(given.text(&keys::EGRESS_ALLOW), "a:1,b:2");
        assert_eq!(given.text(&keys::TERMS_EFFECTIVE_AT), "2027-01-02");
    }

    #[test]
    fn an_unknown_setting_in_the_file_is_an_error_with_a_suggestion() {
        let given = Given::of(&[], &[], "lisen = 'x'\n[mail]\nurl = 'y'\n");
        assert_eq!(
            given.problems(),
            [
                "kalends.toml: unknown setting \"lisen\"; did you mean \"listen\"?",
                "kalends.toml: mail must be a string, a number, true, false or a list of these",
            ]
        );
        let given = Given::of(&[], &[], "LISTEN = 'x'");
        assert_eq!(given.problems(), ["kalends.toml: unknown setting \"LISTEN\"; did you mean \"listen\"?"]);
    }

    #[test]
    fn a_syntax_error_names_the_line() {
        let given = Given::of(&[], &[], "listen = 'x'\nmail = \n");
        assert_eq!(given.problems().len(), 1);
        assert!(given.problems()[0].starts_with("kalends.toml line 2: "), "{:?}", given.problems());
    }

    #[test]
    fn unknown_names_in_the_environment_are_only_hints() {
        let given = Given::of(&[("KALENDS_LISTN", "x"), ("PATH", "/bin")], &[], "");
        assert!(given.problems().is_empty());
        assert_eq!(given.hints(), ["KALENDS_LISTN (environment) is not a setting; did you mean KALENDS_LISTEN?"]);
    }

    #[test]
    fn values_must_be_utf_8() {
        let mut given = Given::default();
        given.add_environment([("KALENDS_LISTEN".into(), OsString::from_vec(vec![0xff]))].into_iter());
        assert_eq!(given.problems(), ["KALENDS_LISTEN (environment): must be UTF-8"]);
    }

    #[test]
    fn files_are_read_from_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(DOT_ENV), "# keys\nKALENDS_DATA_DIR=\"from env\"\nOTHER=1\n").unwrap();
        fs::write(directory.path().join(TOML), "data_dir = 'from toml'\nterms_version = '7'\n").unwrap();
        let given = Given::read(directory.path());
        assert_eq!(given.find(&keys::DATA_DIR), Some(("from env", Source::DotEnv)));
        assert_eq!(given.find(&keys::TERMS_VERSION), Some(("7", Source::Toml)));

        fs::write(directory.path().join(DOT_ENV), "KALENDS_ADMIN_TOKEN: hunter2\n").unwrap();
        let given = Given::read(directory.path());
        assert_eq!(given.problems(), [".env: every line must have the form NAME=value"]);
    }
}
