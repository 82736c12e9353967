//! Query parameters as serde reads them: `name=value`, and `name.key=value` for a map.

use std::borrow::Cow;

use kalends_kernel::FieldError;
use kalends_wire::MAPS;
use serde::{
    Deserializer,
    de::{IntoDeserializer, Visitor, value},
    forward_to_deserialize_any,
};

use super::unknown::shorten;

/// The parameters in their order. Those of a map are one parameter.
#[derive(Default)]
pub(super) struct Parameters<'a>(Vec<(Cow<'a, str>, Parameter<'a>)>);

/// The value of a parameter.
pub(super) enum Parameter<'a> {
    Text(Cow<'a, str>),
    Map(Vec<(Cow<'a, str>, Parameter<'a>)>),
}

impl<'a> Parameters<'a> {
    /// Adds a parameter.
    ///
    /// # Errors
    /// A key of a map was given before.
    pub(super) fn add(&mut self, name: Cow<'a, str>, value: Cow<'a, str>) -> Result<(), FieldError> {
        let Some((map, key)) = entry_of_map(&name) else {
            self.0.push((name, Parameter::Text(value)));
            return Ok(());
        };
        let entry = (Cow::Owned(key.to_owned()), Parameter::Text(value));
        match self.0.iter_mut().find(|(name, _)| name == map) {
            Some((_, Parameter::Map(entries))) => {
                if entries.iter().any(|(other, _)| *other == entry.0) {
                    return Err(FieldError::new(shorten(&format!("{map}.{key}")), "must be given once"));
                }
                entries.push(entry);
            }
            _ => self.0.push((Cow::Borrowed(map), Parameter::Map(vec![entry]))),
        }
        Ok(())
    }
}

/// Whether `name` is an entry of the map.
pub(super) fn is_of(map: &str, name: &str) -> bool {
    entry_of_map(name).is_some_and(|(of, _)| of == map)
}

/// The map and the key that `map.key` or `map[key]` names. The key is empty if there is none.
fn entry_of_map(name: &str) -> Option<(&'static str, &str)> {
    MAPS.into_iter().find_map(|map| {
        let rest = name.strip_prefix(map)?;
        let key = rest.strip_prefix('.').or_else(|| rest.strip_prefix('[')?.strip_suffix(']'));
        key.or_else(|| rest.is_empty().then_some("")).map(|key| (map, key))
    })
}

impl<'de> IntoDeserializer<'de> for Parameters<'de> {
    type Deserializer = value::MapDeserializer<'de, std::vec::IntoIter<(Cow<'de, str>, Parameter<'de>)>, value::Error>;

    fn into_deserializer(self) -> Self::Deserializer {
        value::MapDeserializer::new(self.0.into_iter())
    }
}

impl<'de> IntoDeserializer<'de> for Parameter<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Parameter<'de> {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        match self {
            Self::Text(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Self::Text(Cow::Owned(text)) => visitor.visit_string(text),
            Self::Map(entries) => visitor.visit_map(value::MapDeserializer::new(entries.into_iter())),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, value::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}
