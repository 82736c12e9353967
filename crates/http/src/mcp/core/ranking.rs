//! Which operations a text asks for: the words of the text against those of each operation.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

/// Words that count as one. The first of a line stands for the others.
const SAME: [&[&str]; 4] = [
    &["create", "make", "add"],
    &["delete", "remove", "cancel"],
    &["get", "show", "read"],
    &["update", "change", "edit", "put"],
];

/// The texts of an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub id: &'a str,
    pub title: &'a str,
    pub tag: &'a str,
    pub description: &'a str,
}

impl Entry<'_> {
    /// What each of the wanted words says about the operation, by the text that has the word.
    fn weights(&self, wanted: &BTreeSet<String>) -> BTreeMap<String, u32> {
        let mut weights = BTreeMap::new();
        // The weight of the best text comes last and remains.
        for (text, weight) in [(self.description, 0), (self.tag, 3), (self.title, 4), (self.id, 8)] {
            weights.extend(words(text).into_iter().filter(|word| wanted.contains(word)).map(|word| (word, weight)));
        }
        weights
    }
}

/// The indexes of the entries that have words of the query, the best first. A word says more if few entries have it, and
/// most in the name of an operation. Entries that are not half as good as the best are left out. Among equals, the one
/// with the shorter name is first.
pub(super) fn ranked(query: &str, entries: &[Entry<'_>]) -> Vec<usize> {
    let wanted: BTreeSet<String> = words(query).into_iter().collect();
    let weights: Vec<BTreeMap<String, u32>> = entries.iter().map(|entry| entry.weights(&wanted)).collect();
    let mut scores = vec![0_u32; entries.len()];
    for word in &wanted {
        let having = weights.iter().filter(|weights| weights.contains_key(word)).count();
        let rarity = entries.len().checked_div(having).and_then(usize::checked_ilog2).unwrap_or(0);
        for (score, weights) in scores.iter_mut().zip(&weights) {
            *score += weights.get(word).map_or(0, |weight| weight + (weight + 1) * rarity);
        }
    }
    let best = scores.iter().copied().max().unwrap_or(0);
    let mut found: Vec<(Reverse<u32>, usize, usize)> = (0..)
        .zip(entries.iter().zip(scores))
        .filter(|(_, (_, score))| *score > 0 && score * 2 >= best)
        .map(|(index, (entry, score))| (Reverse(score), words(entry.id).len(), index))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, _, index)| index).collect()
}

/// The words of a text or of a name such as `createWebhook`, each in the form in which words are compared.
fn words(text: &str) -> Vec<String> {
    let spaced = spaced(text);
    let words = spaced.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(compared).collect()
}

/// The text in lower case, with a space before each capital within a word. `iCal` stays one word.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len());
    let (mut length, mut was_small) = (0, false);
    for letter in text.chars() {
        if letter.is_uppercase() && was_small && length > 1 {
            spaced.push(' ');
            length = 0;
        }
        length = if letter.is_alphanumeric() { length + 1 } else { 0 };
        was_small = letter.is_lowercase();
        spaced.extend(letter.to_lowercase());
    }
    spaced
}

/// The singular of a word, or the word that stands for it.
fn compared(word: &str) -> String {
    let single = match (word.strip_suffix("ies"), word.strip_suffix('s')) {
        (Some(stem), _) if stem.len() > 1 => format!("{stem}y"),
        (_, Some(stem)) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word.to_owned(),
    };
    let same = SAME.iter().find(|same| same.contains(&single.as_str())).and_then(|same| same.first());
    same.map_or(single, |&first| first.to_owned())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("createBookingPage", &["create", "booking", "page"])]
    #[case("listIcalSubscriptions", &["list", "ical", "subscription"])]
    #[case("iCal feeds, deliveries", &["ical", "feed", "delivery"])]
    #[case("Remove a webhook's SECRETS!", &["delete", "a", "webhook", "s", "secret"])]
    #[case("address", &["address"])]
    #[case(" - ", &[])]
    fn texts_are_compared_by_their_words(#[case] text: &str, #[case] expected: &[&str]) {
        assert_eq!(words(text), expected);
    }

    #[rstest]
    #[case::short_names_are_first("remove events", &["deleteEvent", "deleteCalendarEvent"])]
    #[case::names_count_more_than_descriptions("EVENT", &["deleteEvent", "createEvent", "deleteCalendarEvent"])]
    #[case::rare_words_count_more("make a webhook", &["createWebhook"])]
    #[case::descriptions_count("messages", &["createWebhook"])]
    #[case::nothing("weather", &[])]
    #[case::no_words("", &[])]
    fn the_best_are_found(#[case] query: &str, #[case] expected: &[&str]) {
        let entry = |id, description| Entry { id, title: "", tag: "things", description };
        let entries = [
            entry("deleteCalendarEvent", "Deletes an event of the calendar."),
            entry("deleteEvent", "Deletes the event."),
            entry("createEvent", "Creates the event."),
            entry("createWebhook", "Messages about an event are sent to it."),
        ];
        let found: Vec<&str> = ranked(query, &entries).into_iter().map(|index| entries[index].id).collect();
        assert_eq!(found, expected);
    }
}
