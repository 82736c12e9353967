//! Distinguishes SQL from English.

/// Whether a text is, or begins with, a statement that reads or writes rows.
///
/// Keywords must be all upper case or all lower case (`SELECT` or `select`), because a sentence begins with one
/// capital.
pub(super) fn is_statement(text: &str) -> bool {
    let text = text.trim_start();
    let keyword: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
    let upper = keyword.chars().all(|char| char.is_ascii_uppercase());
    if keyword.is_empty() || !(upper || keyword.chars().all(|char| char.is_ascii_lowercase())) {
        return false;
    }
    let rest = text[keyword.len()..].to_ascii_lowercase();
    let words: Vec<&str> = rest.split_whitespace().collect();
    match keyword.to_ascii_lowercase().as_str() {
        "insert" => words.first() == Some(&"into"),
        "delete" => words.first() == Some(&"from"),
        "update" => words.iter().take(4).any(|word| *word == "set"),
        "with" => {
            words.windows(2).any(|pair| pair[0] == "as" && pair[1].starts_with(['(', 'm', 'n'])) && rest.contains('(')
        }
        "select" => upper || selects(&rest),
        _ => false,
    }
}

/// Whether the text after `select` is a list of columns rather than a phrase.
fn selects(rest: &str) -> bool {
    let list = rest.split_once(" from ").or_else(|| rest.split_once("\nfrom ")).map_or(rest, |(list, _)| list);
    let list = list.trim();
    let is_column = |item: &str| {
        let item = item.trim();
        !item.contains(char::is_whitespace) || item.contains(" as ") || item.contains(['(', '*', '$', '?'])
    };
    let has_table = list.len() < rest.trim().len();
    let computes = list.starts_with(|char: char| char.is_ascii_digit()) || list.contains('(');
    let quantified = list.starts_with("distinct ");
    (has_table && list.split(',').all(is_column)) || computes || (has_table && quantified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_recognized() {
        for text in [
            "SELECT id FROM events",
            "select id, starts_at as at from events",
            "\n  select\n    id\n  from events",
            "select 1",
            "select count(*) from events",
            "select distinct zone from calendars",
            "INSERT INTO events (id) values ($1)",
            "update counters set used = used + 1",
            "delete from events where id = ?",
            "with due as (select id from timers) select id from due",
        ] {
            assert!(is_statement(text), "{text}");
        }
    }

    #[test]
    fn sentences_are_not_statements() {
        for text in [
            "Select a day from the calendar",
            "select a slot from the list",
            "selected_slot_id",
            "Update the calendar",
            "update the metadata of a calendar",
            "Delete from your calendar",
            "with a zone, a weekly meeting stays where it is",
            "insert a coin",
            "",
        ] {
            assert!(!is_statement(text), "{text}");
        }
    }
}
