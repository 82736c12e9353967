//! The part of an answer that a tool needs. Most of a long list is not: what is not needed is read past, and no value is
//! made of it.

use std::fmt;

use serde::{
    Deserialize as _, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// What to keep of an answer that is an object with a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    /// The field with the list. All other fields are kept.
    pub list: &'static str,
    /// The fields to keep of each entry, as far as they are not null; all fields if there are none.
    pub fields: &'static [&'static str],
    /// How many entries to keep.
    pub most: usize,
}

impl Part {
    /// Reads this part of an answer.
    ///
    /// # Errors
    /// If the answer is no such object.
    pub(super) fn read(self, answer: &[u8]) -> serde_json::Result<Value> {
        let mut reader = serde_json::Deserializer::from_slice(answer);
        let read = reader.deserialize_map(Whole(self))?;
        reader.end()?;
        Ok(read)
    }
}

struct Whole(Part);

impl<'de> Visitor<'de> for Whole {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut whole = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            let value =
                if name == self.0.list { fields.next_value_seed(List(self.0))? } else { fields.next_value()? };
            whole.insert(name, value);
        }
        Ok(Value::Object(whole))
    }
}

struct List(Part);

impl<'de> DeserializeSeed<'de> for List {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for List {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < self.0.most {
            match entries.next_element_seed(Entry(self.0.fields))? {
                Some(entry) => kept.push(entry),
                None => return Ok(Value::Array(kept)),
            }
        }
        while entries.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(kept))
    }
}

struct Entry(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Entry {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        if self.0.is_empty() { Value::deserialize(reader) } else { reader.deserialize_map(self) }
    }
}

impl<'de> Visitor<'de> for Entry {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let mut entry = Map::new();
        while let Some(name) = fields.next_key_seed(Name(self.0))? {
            let Some(name) = name else {
                fields.next_value::<IgnoredAny>()?;
                continue;
            };
            let value: Value = fields.next_value()?;
            if !value.is_null() {
                entry.insert(name.to_owned(), value);
            }
        }
        Ok(Value::Object(entry))
    }
}

/// The name of a field, if it is one of these.
struct Name(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Option<&'static str>;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Self::Value, D::Error> {
        reader.deserialize_str(self)
    }
}

impl Visitor<'_> for Name {
    type Value = Option<&'static str>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("the name of a field")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().copied().find(|known| *known == name))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(part: Part, answer: &Value) -> Value {
        part.read(answer.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_rest_is_left_out() {
        let answer = json!({
            "data": [{ "id": "1", "a": { "b": [1] }, "c": null }, { "id": "2" }, { "id": "3" }],
            "total": 3, "warnings": ["old"],
        });
        let part = Part { list: "data", fields: &["id", "c"], most: 2 };
        assert_eq!(
            read(part, &answer),
            json!({ "data": [{ "id": "1" }, { "id": "2" }], "total": 3, "warnings": ["old"] })
        );
        let all = Part { list: "data", fields: &[], most: usize::MAX };
        assert_eq!(read(all, &answer), answer);
        let none = json!({ "error": { "data": 1 } });
        assert_eq!(read(part, &none), none);
        assert!(part.read(b"{\"data\":[]} x").is_err());
        assert!(part.read(b"[]").is_err());
    }
}
