//! Which text of an answer others wrote: guests who booked, and the feeds of strangers. Whoever reads it on behalf of
//! somebody else is told, so that it is taken for data.

use serde_json::Value;

/// The most places that are named one by one.
const NAMED_MAX: usize = 50;

/// Where such text stands, as JSON pointers (RFC 6901). Of more than [`NAMED_MAX`] places the whole is named instead.
pub(super) fn places(answer: &Value) -> Vec<String> {
    let mut found = Vec::new();
    look(answer, &mut String::new(), &mut found);
    if found.len() > NAMED_MAX { vec!["/".to_owned()] } else { found }
}

fn look(value: &Value, at: &mut String, found: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(parts) => {
            found.extend(foreign(value).iter().map(|part| format!("{at}{part}")));
            parts.iter().map(|(name, part)| (name.replace('~', "~0").replace('/', "~1"), part)).collect()
        }
        Value::Array(parts) => parts.iter().enumerate().map(|(index, part)| (index.to_string(), part)).collect(),
        _ => return,
    };
    let length = at.len();
    for (name, part) in parts {
        at.push('/');
        at.push_str(&name);
        look(part, at, found);
        at.truncate(length);
    }
}

/// What of one event others wrote.
fn foreign(event: &Value) -> Vec<&'static str> {
    let imported = ["/title", "/description", "/metadata"];
    let booked = ["/title", "/metadata/booking/name", "/metadata/booking/notes", "/metadata/booking/email"];
    let all: &[&str] = if event["source"] == "external_ical" {
        &imported
    } else if event["metadata"]["booking"].is_object() {
        &booked
    } else {
        &[]
    };
    let says = |place: &&&'static str| {
        event.pointer(place).is_some_and(|part| match part {
            Value::Null => false,
            Value::Object(parts) => !parts.is_empty(),
            _ => true,
        })
    };
    all.iter().filter(says).copied().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_is_found_wherever_it_stands() {
        let imported = json!({ "title": "Buy now", "description": null, "metadata": {}, "source": "external_ical" });
        let booked = json!({
            "title": "Intro: Ada", "source": "internal",
            "metadata": { "booking": { "name": "Ada", "email": "ada@example.com", "notes": null } }
        });
        let own = json!({ "title": "Lunch", "metadata": {}, "source": "internal" });
        assert_eq!(places(&own), Vec::<String>::new());
        assert_eq!(places(&imported), ["/title"]);
        assert_eq!(
            places(&json!({ "data": [own, booked, { "a/b": imported }] })),
            ["/data/1/title", "/data/1/metadata/booking/name", "/data/1/metadata/booking/email", "/data/2/a~1b/title"]
        );
        let many = vec![imported; NAMED_MAX + 1];
        assert_eq!(places(&json!(many)), ["/"]);
    }
}
