//! The list of every setting with its value and its source, without secrets.

use kalends_app::ListedSetting;

use super::{
    Given, Source,
    keys::{self, Default, Key, Visibility},
};

/// The replacement for secrets.
const MASK: &str = "********";

/// Every setting with its value and its source.
pub(super) fn listed(given: &Given) -> Vec<ListedSetting> {
    let of = |key: &&Key| {
        let Row { name, value, source } = row(key, given);
        ListedSetting { name, value, source: source.to_string() }
    };
    keys::ALL.iter().map(of).collect()
}

/// One line for each setting: name, value, source.
pub(crate) fn list(given: &Given) -> Vec<String> {
    let rows: Vec<_> = keys::ALL.iter().map(|key| row(key, given)).collect();
    let width = |of: fn(&Row) -> &str| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (names, values) = (width(|row| row.name), width(|row| &row.value).min(60));
    rows.iter().map(|row| format!("{:names$}  {:values$}  {}", row.name, row.value, row.source)).collect()
}

struct Row {
    name: &'static str,
    value: String,
    source: Source,
}

fn row(key: &Key, given: &Given) -> Row {
    let (value, source) = match given.effective(key) {
        Some((value, source)) => (displayed(key, &value), source),
        None => {
            let meaning = match key.default {
                Default::Unset(meaning) => meaning,
                Default::Text(_) | Default::Derived(_) => "",
            };
            (format!("({meaning})"), Source::Default)
        }
    };
    Row { name: key.name, value, source }
}

fn displayed(key: &Key, value: &str) -> String {
    match key.visibility {
        Visibility::Plain => value.to_owned(),
        Visibility::Address => without_password(value),
        Visibility::Secret => MASK.to_owned(),
    }
}

/// A URL with the passwords in its authority and query masked. The rest stays as written. A text that does not look
/// like a URL may be a mistyped one, so it is masked as a whole.
fn without_password(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        let is_word = text.chars().all(|char| char.is_ascii_alphanumeric());
        return if is_word { text.to_owned() } else { MASK.to_owned() };
    };
    let (before_query, query) = match rest.split_once('?') {
        Some((before, query)) => (before, Some(query)),
        None => (rest, None),
    };
    // A password may hold an unescaped `@` or `/`: the last `@` ends it.
    let masked = match before_query.rsplit_once('@') {
        Some((account, host)) => match account.split_once(':') {
            Some((user, _)) => format!("{user}:{MASK}@{host}"),
            None => before_query.to_owned(),
        },
        None => before_query.to_owned(),
    };
    let query = query.map(|query| {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if name.to_ascii_lowercase().contains("password") => format!("{name}={MASK}"),
            _ => pair.to_owned(),
        });
        format!("?{}", pairs.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{masked}{}", query.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn line<'a>(lines: &'a [String], name: &str) -> Vec<&'a str> {
        lines.iter().find(|line| line.starts_with(&format!("{name} "))).unwrap().split_whitespace().collect()
    }

    #[test]
    fn every_setting_is_listed_with_its_source() {
        let lines = list(&Given::of(&[("KALENDS_LISTEN", "127.0.0.1:1")], &[], "data_dir = '/data'"));
        assert_eq!(lines.len(), keys::ALL.len());
        assert_eq!(line(&lines, "KALENDS_LISTEN"), ["KALENDS_LISTEN", "127.0.0.1:1", "environment"]);
        assert_eq!(line(&lines, "KALENDS_DATA_DIR"), ["KALENDS_DATA_DIR", "/data", "kalends.toml"]);
        assert_eq!(
            line(&lines, "KALENDS_DATABASE_URL"),
            ["KALENDS_DATABASE_URL", "sqlite:///data/kalends.db", "default"]
        );
        assert_eq!(
            line(&lines, "KALENDS_CONSOLE_URL"),
            ["KALENDS_CONSOLE_URL", "http://127.0.0.1:1/console", "default"]
        );
        assert_eq!(line(&lines, "KALENDS_METRICS_LISTEN"), ["KALENDS_METRICS_LISTEN", "(off)", "default"]);
    }

    #[test]
    fn secrets_are_masked() {
        let secrets: Vec<_> = keys::ALL.iter().filter(|key| key.visibility == Visibility::Secret).collect();
        assert_eq!(secrets.len(), 6);
        let environment: Vec<_> = keys::ALL
            .iter()
            .map(|key| match key.visibility {
                Visibility::Plain => (key.name, "1"),
                Visibility::Address => (key.name, "postgres://u:hunter2@h/d"),
                Visibility::Secret => (key.name, "hunter2"),
            })
            .collect();
        let given = Given::of(&environment, &[], "");
        let lines = list(&given);
        assert!(!lines.concat().contains("hunter2"), "{lines:?}");
        let listed = listed(&given);
        assert_eq!(listed.len(), lines.len());
        assert!(!format!("{listed:?}").contains("hunter2"), "{listed:?}");
        assert_eq!(line(&lines, "KALENDS_MASTER_KEY"), ["KALENDS_MASTER_KEY", MASK, "environment"]);
    }

    #[rstest]
    #[case("file", "file")]
    #[case("sqlite://data/kalends.db", "sqlite://data/kalends.db")]
    #[case("postgres://u:p@h:5432/d?sslmode=require", "postgres://u:********@h:5432/d?sslmode=require")]
    #[case("postgres://u:p@x/y@h/d", "postgres://u:********@h/d")]
    #[case("postgres:///d?host=/tmp&user=u&password=p", "postgres:///d?host=/tmp&user=u&password=********")]
    #[case("smtp://u@h", "smtp://u@h")]
    #[case("u:p@h", "********")]
    fn passwords_in_addresses_are_masked(#[case] given: &str, #[case] expected: &str) {
        assert_eq!(without_password(given), expected);
    }
}
