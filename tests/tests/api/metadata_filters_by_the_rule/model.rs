//! Lists compared with a model.

use crate::on_both;
use std::collections::BTreeMap;

use kalends_e2e::{Database, Server, shifted};
use rstest::rstest;
use rstest_reuse::apply;
use serde_json::{Map, Number, Value, json};

use super::{
    EXPANDED, Pairs, change, column, delete, found_with, instance, make, mark, moved, of_agent, of_calendar, paged,
    series, start, with,
};
use crate::fixtures::{agent_with_calendar, calendar_of};

/// A pseudo-random sequence that is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.below(values.len())]
    }

    fn metadata(&mut self) -> Value {
        let values = json!([
            7, 7.0, "7", "7.0", true, "true", false, null, "null", [7], { "a": 7 }, "", "x", "X", 0.5, "0.5", -1
        ]);
        let values = values.as_array().unwrap();
        let mut metadata = Map::new();
        for key in KEYS {
            if self.below(3) > 0 {
                metadata.insert((*key).to_owned(), self.of(values).clone());
            }
        }
        json!(metadata)
    }
}

const KEYS: &[&str] = &["a", "b", "a.b", "A", "é"];
const VALUES: &[&str] =
    &["7", "7.0", "70e-1", "07", "true", "True", "false", "null", "", "x", "X", "0.5", "-1.0", "[7]"];

/// An event or a series, as the model knows it.
struct Known {
    id: String,
    calendar: usize,
    status: &'static str,
    /// The starts of all occurrences. An event that does not repeat has one.
    starts: Vec<String>,
    metadata: Value,
    /// The metadata of changed occurrences.
    own: BTreeMap<usize, Value>,
}

impl Known {
    fn repeats(&self) -> bool {
        self.starts.len() > 1
    }

    /// What a list shows of it: the start, the identifier and the metadata of each entry.
    fn entries(&self, expand: bool) -> Vec<(String, String, &Value)> {
        if !expand || !self.repeats() {
            return vec![(self.starts[0].clone(), self.id.clone(), &self.metadata)];
        }
        let entry = |(number, start): (usize, &String)| {
            (start.clone(), instance(&self.id, start), self.own.get(&number).unwrap_or(&self.metadata))
        };
        self.starts.iter().enumerate().map(entry).collect()
    }
}

/// Whether a filter with this value finds this entry of the metadata.
fn finds(wanted: &str, entry: &Value) -> bool {
    match entry {
        Value::String(text) => text == wanted,
        Value::Bool(truth) => truth.to_string() == wanted,
        Value::Number(number) => {
            serde_json::from_str::<Number>(wanted).is_ok_and(|wanted| wanted.as_f64() == number.as_f64())
        }
        _ => false,
    }
}

/// The identifiers that a list must have.
fn expected(all: &[Known], calendars: &[usize], status: Option<&str>, expand: bool, filters: Pairs<'_>) -> Vec<String> {
    let mut entries = Vec::new();
    for known in all {
        if calendars.contains(&known.calendar) && status.is_none_or(|status| status == known.status) {
            entries.extend(known.entries(expand));
        }
    }
    let matches = |metadata: &Value| {
        filters.iter().all(|(key, value)| metadata.get(key).is_some_and(|entry| finds(value, entry)))
    };
    entries.retain(|(_, _, metadata)| matches(metadata));
    entries.sort_by(|one, other| (&one.0, &one.1).cmp(&(&other.0, &other.1)));
    entries.into_iter().map(|(_, id, _)| id).collect()
}

#[apply(on_both)]
#[tokio::test]
async fn lists_agree_with_a_model(#[case] database: Database) {
    const ROUNDS: usize = 3;
    const QUESTIONS: usize = 90;
    let (_server, api) = Server::with_org(database, "pro").await;
    let (owner, first) = agent_with_calendar(&api).await;
    let calendars = [first, calendar_of(&api, &owner).await, agent_with_calendar(&api).await.1];
    let mut numbers = Numbers(4711);

    // Each event has a time of day of its own, so no two start at once.
    let mut all: Vec<Known> = Vec::new();
    for (calendar, id) in calendars.iter().enumerate() {
        let mut bodies = Vec::new();
        for index in 0..12_usize {
            let number = 3 * (index * 5 % 12) + calendar;
            let repeats = index % 4 == 0;
            let day = if repeats { 0 } else { number % 3 };
            let begins = start(number + 48 * day);
            let status = *numbers.of(&["confirmed", "tentative", "cancelled"]);
            let metadata = numbers.metadata();
            let mut body = with("x", &begins, metadata.clone());
            if repeats {
                body = series("x", &begins, 3, metadata.clone());
            }
            body["status"] = json!(status);
            bodies.push(body);
            let starts = (0..if repeats { 3 } else { 1 }).map(|day| shifted(&begins, day * 24 * 60)).collect();
            all.push(Known { id: String::new(), calendar, status, starts, metadata, own: BTreeMap::new() });
        }
        let ids = make(&api, id, &bodies).await;
        let made = all.len() - ids.len();
        for (known, id) in all[made..].iter_mut().zip(ids) {
            known.id = id;
        }
    }
    for known in all.iter_mut().filter(|known| known.repeats()) {
        let (place, metadata) = (numbers.below(3), numbers.metadata());
        mark(&api, &instance(&known.id, &known.starts[place]), metadata.clone()).await;
        known.own.insert(place, metadata);
    }

    let (mut hits, mut misses) = (0, 0);
    for round in 0..ROUNDS {
        for question in 0..QUESTIONS {
            let scope = numbers.below(4);
            let (path, of_scope) = match calendars.get(scope) {
                Some(calendar) => (of_calendar(calendar), vec![scope]),
                None => (of_agent(&owner), vec![0, 1]),
            };
            // Two of three questions are made from the metadata of an event.
            let there: Vec<&Known> = all.iter().filter(|known| of_scope.contains(&known.calendar)).collect();
            let model = &numbers.of(&there).metadata;
            let mut filters: BTreeMap<&str, String> = BTreeMap::new();
            for _ in 0..=numbers.below(3) {
                let key = *numbers.of(KEYS);
                let value = if question % 3 == 0 { &Value::Null } else { &model[key] };
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Number(_) | Value::Bool(_) => value.to_string(),
                    _ if question % 3 == 1 => continue,
                    _ => (*numbers.of(VALUES)).to_owned(),
                };
                filters.insert(key, value);
            }
            let filters: Vec<(&str, &str)> = filters.iter().map(|(key, value)| (*key, value.as_str())).collect();
            let expand = numbers.below(2) == 0;
            let status = *numbers.of(&[None, None, Some("confirmed"), Some("tentative")]);
            let mut more = if expand { EXPANDED.to_vec() } else { Vec::new() };
            more.extend(status.map(|status| ("status", status)));

            let expected = expected(&all, &of_scope, status, expand, &filters);
            let events = found_with(&api, &path, &filters, &more).await;
            assert_eq!(column(&events, "id"), expected, "round {round}: {path} {filters:?} {more:?}");
            if question % 5 == 0 {
                let limit = 1 + numbers.below(3);
                assert_eq!(paged(&api, &path, &filters, &more, limit).await, (expected.len(), events), "{filters:?}");
            }
            *(if expected.is_empty() { &mut misses } else { &mut hits }) += 1;
        }
        // Some events change.
        for _ in 0..10 {
            let place = numbers.below(all.len());
            let known = &mut all[place];
            match numbers.below(5) {
                0 => {
                    delete(&api, &known.id).await;
                    all.remove(place);
                }
                1 => {
                    known.calendar = numbers.below(calendars.len());
                    moved(&api, &known.id, &calendars[known.calendar]).await;
                }
                2 if known.repeats() => {
                    let (place, metadata) = (numbers.below(3), numbers.metadata());
                    mark(&api, &instance(&known.id, &known.starts[place]), metadata.clone()).await;
                    known.own.insert(place, metadata);
                }
                3 => {
                    change(&api, &known.id, json!({ "title": "y", "description": "z" })).await;
                }
                _ => {
                    known.metadata = numbers.metadata();
                    mark(&api, &known.id, known.metadata.clone()).await;
                }
            }
        }
    }
    assert!(hits > 70 && misses > 70, "{hits} hits and {misses} misses say too little");
}
