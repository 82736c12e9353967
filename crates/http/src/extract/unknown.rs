//! Errors for unknown fields and parameters, with the nearest known name.

use kalends_kernel::{Code, FieldError};
use kalends_wire::LISTS;

/// The maximum number of characters of an input name or value that a message repeats.
const SHOWN_MAX: usize = 64;

/// Converts a message of serde into a field error with the path of the field.
///
/// serde reports unknown, missing and duplicate fields in fixed words. Every other message is about a wrong type or
/// value at `path`.
pub(crate) fn field_error(path: &str, message: &str) -> FieldError {
    let path = if path == "." { "" } else { path };
    let mut quoted = message.split('`').skip(1).step_by(2);
    let first = quoted.next().unwrap_or_default();
    let below = |name: &str| if path.is_empty() || path == name { name.to_owned() } else { format!("{path}.{name}") };
    if message.starts_with("unknown field") {
        let known: Vec<&str> = quoted.collect();
        let parent = path.strip_suffix(first).map_or(path, |parent| parent.trim_end_matches('.'));
        let param = if parent.is_empty() { shorten(first) } else { format!("{parent}.{}", shorten(first)) };
        return unknown(param, first, &known);
    }
    if message.starts_with("missing field") {
        return FieldError::new(below(first), "is required");
    }
    if message.starts_with("duplicate field") {
        let once = match LISTS.contains(&first) {
            true => format!("must be given once, {}", in_one_value(first)),
            false => "must be given once".to_owned(),
        };
        return FieldError::new(below(first), once);
    }
    let param = if path.is_empty() { "body".to_owned() } else { shorten(path) };
    FieldError::new(param, shorten_message(message))
}

/// The error for a parameter of an operation without query parameters.
pub(crate) fn unknown_parameter(name: &str) -> FieldError {
    FieldError::new(shorten(name), "is not known; this operation takes no parameters").with_code(Code::UnknownField)
}

/// How to write several values of a list.
fn in_one_value(list: &str) -> String {
    format!("with its values separated by commas, as in {list}=a,b")
}

fn unknown(param: String, name: &str, known: &[&str]) -> FieldError {
    // Some clients write an array as `agents[]=a` or `agents[0]=a`.
    let base = name.split_once('[').map(|(base, _)| base);
    if let Some(list) = base.filter(|base| known.contains(base) && LISTS.contains(base)) {
        let message = format!("is not known; give {list} once, {}", in_one_value(list));
        return FieldError::new(param, message).with_code(Code::UnknownField);
    }
    let message = match nearest(base.unwrap_or(name), known) {
        Some(near) => format!("is not known; did you mean {near}?"),
        None if known.is_empty() => "is not known; this object takes no fields".to_owned(),
        None => format!("is not known; the known names are {}", known.join(", ")),
    };
    FieldError::new(param, message).with_code(Code::UnknownField)
}

/// The known name with the most similar spelling, if one is similar enough.
pub(crate) fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = shorten(name).to_ascii_lowercase();
    let plain = |text: &str| text.replace(['_', '-'], "");
    known
        .iter()
        .map(|candidate| (strsim::levenshtein(&plain(&name), &plain(candidate)), *candidate))
        .filter(|(distance, candidate)| *distance <= candidate.len().div_ceil(3))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The start of a name in the input.
pub(crate) fn shorten(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}

/// Removes the position in the body, and leaves out the middle of a long message.
fn shorten_message(message: &str) -> String {
    let message = match message.rsplit_once(" at line ") {
        Some((words, position)) if position.split(" column ").all(|number| number.parse::<usize>().is_ok()) => words,
        _ => message,
    };
    if message.chars().count() <= 300 {
        return message.to_owned();
    }
    let tail: String = message.chars().rev().take(140).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{}…{tail}", message.chars().take(140).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["title", "start_time", "end_time", "all_day"];
        for (name, near) in
            [("startTime", "start_time"), ("titel", "title"), ("end", "end_time"), ("allday", "all_day")]
        {
            let suggested = nearest(name, &known);
            // Three of the seven letters of "end_time" are not similar enough for a useful suggestion.
            assert_eq!(suggested, (name != "end").then_some(near), "{name}");
        }
        assert_eq!(nearest("recurrence", &known), None);
    }

    #[test]
    fn messages_of_serde_become_field_errors() {
        let error = field_error("events[2].titel", "unknown field `titel`, expected `title` or `start_time`");
        assert_eq!((error.param.as_str(), error.code), ("events[2].titel", Some(Code::UnknownField)));
        assert!(error.message.contains("did you mean title"), "{}", error.message);
        assert_eq!(field_error(".", "missing field `title`").param, "title");
        assert_eq!(field_error("events[0]", "missing field `title`").param, "events[0].title");
        let error = field_error("reminders[1]", "must be a whole number, got \" at line x\" at line 1 column 5");
        assert_eq!(
            (error.param.as_str(), error.message.as_str()),
            ("reminders[1]", "must be a whole number, got \" at line x\"")
        );
    }
}
