//! What holds for every tool of the set.

use std::collections::BTreeSet;

use kalends_accounts::reach::CallerKind;
use kalends_app::operations::ALL;
use serde_json::Value;

use super::{TOOLS, failure::named, for_caller, listed, tool::About};

/// The most tools that a model chooses among.
const TOOLS_MAX: usize = 20;
/// The maximum size of the list, in bytes of its JSON. It is part of every prompt.
const LIST_MAX: usize = 24 << 10;
/// The longest description of a tool, in characters.
const DESCRIPTION_MAX: usize = 450;
/// The longest description of an argument, in characters.
const PROPERTY_MAX: usize = 110;

#[test]
fn the_list_is_short() {
    let tools: Vec<_> = for_caller(CallerKind::OrganizationKey).map(listed).collect();
    let length = serde_json::to_string(&tools).unwrap().len();
    assert!(tools.len() <= TOOLS_MAX && length <= LIST_MAX, "{} tools in {length} bytes", tools.len());
}

#[test]
fn names_are_unique() {
    let names: BTreeSet<&str> = TOOLS.iter().map(|tool| tool.about().name).collect();
    assert_eq!(names.len(), TOOLS.len());
    assert!(ALL.iter().all(|operation| !names.contains(operation.id)));
}

#[test]
fn the_guide_lists_every_tool() {
    let guide = include_str!("../../../../../docs/use/tools.md");
    for tool in TOOLS {
        let name = tool.about().name;
        assert!(guide.contains(&format!("\n| `{name}` | ")), "docs/use/tools.md does not list {name}");
    }
}

#[test]
fn descriptions_are_short_and_have_an_example() {
    for tool in TOOLS {
        let (about, properties) = (tool.about(), tool.properties());
        let name = about.name;
        assert!(about.description.chars().count() <= DESCRIPTION_MAX, "{name}: {}", about.description);
        let example = example(&about);
        let given = example.as_object().unwrap_or_else(|| panic!("{name}: the example is not an object"));
        assert!(given.keys().all(|argument| properties.get(argument).is_some()), "{name}: {example}");
        assert!(about.required.iter().all(|argument| given.contains_key(*argument)), "{name}: {example}");
    }
}

/// The arguments of the example: the first JSON value after the word.
fn example(about: &About) -> Value {
    let (_, after) = about.description.split_once("Example: ").unwrap_or_else(|| panic!("{}: no example", about.name));
    let first = serde_json::Deserializer::from_str(after).into_iter::<Value>().next();
    first.and_then(Result::ok).unwrap_or_else(|| panic!("{}: the example is not JSON: {after}", about.name))
}

#[test]
fn arguments_are_described() {
    for tool in TOOLS {
        let (about, properties) = (tool.about(), tool.properties());
        let name = about.name;
        let properties = properties.as_object().unwrap();
        for (argument, schema) in properties {
            let description = schema["description"].as_str().unwrap_or_default();
            let is_obvious = schema["type"].as_str().is_some_and(|kind| kind != "object") || schema["enum"].is_array();
            assert!(is_obvious || !description.is_empty(), "{name}: {argument} has no description");
            assert!(description.chars().count() <= PROPERTY_MAX, "{name}: {argument}: {description}");
        }
        for (parameter, argument) in about.renamed {
            assert!(properties.contains_key(*argument), "{name}: {parameter} has no argument {argument}");
        }
        for argument in about.required {
            assert!(properties.contains_key(*argument), "{name}: there is no argument {argument}");
        }
    }
}

#[test]
fn errors_have_the_names_of_the_tool() {
    let renamed = [
        ("start_before", "end"),
        ("cal_id", "calendar_id"),
        ("id", "event_id"),
        ("slots", "times"),
        ("If-Match", "version"),
    ];
    for (text, expected) in [
        ("start_before: must be after start_before2, not cal_id", "end: must be after start_before2, not calendar_id"),
        ("slots[2].start_before", "times[2].end"),
        ("slots[2].end: must be later; id: no such id", "times[2].end: must be later; event_id: no such id"),
        ("If-Match: is stale", "version: is stale"),
        ("é…", "é…"),
    ] {
        assert_eq!(named(text, &renamed), expected);
    }
}
