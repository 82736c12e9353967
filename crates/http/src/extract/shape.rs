//! Checks the shape of each value and reports errors in the terms of JSON.
//!
//! serde's derived code also accepts an array for an object, by the order of the fields, and an object for an enum
//! value. Its error messages use the terms of Rust. [`Shaped`] wraps the deserializer at every depth: it reads
//! whatever is there and compares it with what is expected.

use std::fmt;

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IntoDeserializer as _, MapAccess, SeqAccess, Visitor, value::StrDeserializer},
};

/// The maximum number of characters of the input that a message repeats.
const REPEATED_MAX: usize = 64;

/// How values are written.
#[derive(Debug, Clone, Copy)]
enum Written {
    /// With their JSON types.
    Json,
    /// As text, whatever their type.
    Query,
}

/// The expected value.
#[derive(Debug, Clone, Copy)]
enum Due {
    Anything,
    Object,
    Array,
    Text,
    Flag,
    Number,
    /// A whole number in this range, inclusive.
    Whole(i128, i128),
    /// One of these names. Only untagged enums in a request have variants with fields, and those expect anything.
    OneOf(&'static [&'static str]),
}

impl Due {
    fn refuse<E: Error>(self, got: impl fmt::Display) -> E {
        match self {
            Self::OneOf([name]) => E::custom(format_args!("must be {name}, got {got}")),
            Self::OneOf(names) => E::custom(format_args!("must be one of {}; got {got}", names.join(", "))),
            Self::Anything => E::custom(format_args!("must be another value, got {got}")),
            Self::Object => E::custom(format_args!("must be an object, got {got}")),
            Self::Array => E::custom(format_args!("must be an array, got {got}")),
            Self::Text => E::custom(format_args!("must be a string, got {got}")),
            Self::Flag => E::custom(format_args!("must be true or false, got {got}")),
            Self::Number => E::custom(format_args!("must be a number, got {got}")),
            Self::Whole(..) => E::custom(format_args!("must be a whole number, got {got}")),
        }
    }

    /// Reports an unexpected number. If a string is expected, the number may be a secret, such as a code, so it is
    /// not repeated.
    fn refuse_number<E: Error>(self, got: impl fmt::Display) -> E {
        if matches!(self, Self::Text) { self.refuse("a number") } else { self.refuse(got) }
    }
}

/// A deserializer that returns only expected values.
pub(super) struct Shaped<D> {
    read: D,
    written: Written,
}

impl<D> Shaped<D> {
    /// Wraps a JSON deserializer.
    pub(super) const fn json(read: D) -> Self {
        Self { read, written: Written::Json }
    }

    /// Wraps a deserializer of query parameters.
    pub(super) const fn query(read: D) -> Self {
        Self { read, written: Written::Query }
    }

    const fn judging<V>(&self, visitor: V, due: Due) -> Judge<V> {
        Judge { visitor, due, written: self.written }
    }
}

macro_rules! whatever_is_there {
    ($($method:ident($($name:ident: $type:ty),*) $due:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let judge = self.judging(visitor, $due);
            self.read.deserialize_any(judge)
        }
    )*};
}

macro_rules! as_it_is {
    ($($method:ident($($name:ident: $type:ty),*);)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.read.$method($($name,)* visitor)
        }
    )*};
}

macro_rules! whole {
    ($($method:ident $type:ident;)*) => {
        whatever_is_there! { $($method() Due::Whole($type::MIN.into(), $type::MAX.into());)* }
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Shaped<D> {
    type Error = D::Error;

    whole! {
        deserialize_i8 i8;
        deserialize_i16 i16;
        deserialize_i32 i32;
        deserialize_i64 i64;
        deserialize_u8 u8;
        deserialize_u16 u16;
        deserialize_u32 u32;
        deserialize_u64 u64;
    }

    whatever_is_there! {
        deserialize_any() Due::Anything;
        deserialize_bool() Due::Flag;
        deserialize_f32() Due::Number;
        deserialize_f64() Due::Number;
        deserialize_char() Due::Text;
        deserialize_str() Due::Text;
        deserialize_string() Due::Text;
        deserialize_seq() Due::Array;
        deserialize_tuple(_length: usize) Due::Array;
        deserialize_tuple_struct(_name: &'static str, _length: usize) Due::Array;
        deserialize_map() Due::Object;
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) Due::Object;
        deserialize_enum(_name: &'static str, names: &'static [&'static str]) Due::OneOf(names);
    }

    as_it_is! {
        deserialize_i128();
        deserialize_u128();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    // These two call the matching method, not `deserialize_any`: an option is detected by its null, and raw JSON by
    // the name of its newtype.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let judge = self.judging(visitor, Due::Anything);
        self.read.deserialize_option(judge)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        let judge = self.judging(visitor, Due::Anything);
        self.read.deserialize_newtype_struct(name, judge)
    }

    fn is_human_readable(&self) -> bool {
        self.read.is_human_readable()
    }
}

/// Accepts a value if it is expected.
struct Judge<V> {
    visitor: V,
    due: Due,
    written: Written,
}

impl<V> Judge<V> {
    const fn takes(&self, due: Due) -> bool {
        matches!(
            (self.due, due),
            (Due::Anything, _)
                | (Due::Object, Due::Object)
                | (Due::Array, Due::Array)
                | (Due::Flag, Due::Flag)
                | (Due::Number, Due::Number)
        )
    }

    /// Parses a text as the expected value. Returns the visitor if the text itself is expected.
    fn read<'de, E: Error>(self, text: &str) -> Result<Result<V::Value, E>, V>
    where
        V: Visitor<'de>,
    {
        let Self { visitor, due, written } = self;
        Ok(match (due, written) {
            (Due::Anything | Due::Text, _) => return Err(visitor),
            (Due::OneOf(names), _) if names.contains(&text) => {
                let name: StrDeserializer<'_, E> = text.into_deserializer();
                visitor.visit_enum(name)
            }
            (Due::Whole(..), Written::Query) => whole(visitor, due, text, quoted(text)),
            (Due::Flag, Written::Query) => match text.parse() {
                Ok(flag) => visitor.visit_bool(flag),
                Err(_) => Err(due.refuse(quoted(text))),
            },
            (Due::Number, Written::Query) => match text.parse() {
                Ok(number) => visitor.visit_f64(number),
                Err(_) => Err(due.refuse(quoted(text))),
            },
            _ => Err(due.refuse(quoted(text))),
        })
    }

    fn number<'de, E: Error>(
        self,
        text: impl fmt::Display,
        got: impl fmt::Display,
        visit: impl FnOnce(V) -> Result<V::Value, E>,
    ) -> Result<V::Value, E>
    where
        V: Visitor<'de>,
    {
        match self.due {
            Due::Whole(..) => whole(self.visitor, self.due, &text.to_string(), got),
            _ if self.takes(Due::Number) => visit(self.visitor),
            due => Err(due.refuse_number(got)),
        }
    }
}

/// Accepts a whole number, also if it is written with zeros after the decimal point.
fn whole<'de, V: Visitor<'de>, E: Error>(
    visitor: V,
    due: Due,
    text: &str,
    got: impl fmt::Display,
) -> Result<V::Value, E> {
    let digits = match text.split_once('.') {
        Some((digits, zeros)) if !zeros.is_empty() && zeros.bytes().all(|digit| digit == b'0') => digits,
        _ => text,
    };
    match (digits.parse::<i128>(), due) {
        (Ok(number), Due::Whole(from, to)) if (from..=to).contains(&number) => match i64::try_from(number) {
            Ok(number) => visitor.visit_i64(number),
            Err(_) => visitor.visit_u64(u64::try_from(number).unwrap_or(u64::MAX)),
        },
        (Ok(_), Due::Whole(from, to)) => {
            Err(E::custom(format_args!("must be a whole number from {from} to {to}, got {got}")))
        }
        _ => Err(due.refuse(got)),
    }
}

/// The start of an input text, in quotes.
fn quoted(text: &str) -> String {
    match text.char_indices().nth(REPEATED_MAX) {
        Some((end, _)) => format!("{:?}…", text.get(..end).unwrap_or_default()),
        None => format!("{text:?}"),
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Judge<V> {
    type Value = V::Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(to)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<V::Value, E> {
        if self.takes(Due::Flag) { self.visitor.visit_bool(flag) } else { Err(self.due.refuse(flag)) }
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<V::Value, E> {
        self.number(number, number, |visitor| visitor.visit_i64(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<V::Value, E> {
        self.number(number, number, |visitor| visitor.visit_u64(number))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        // `Display` writes a whole number without a decimal point, and `Debug` writes the short form for the message.
        self.number(number, format_args!("{number:?}"), |visitor| visitor.visit_f64(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.read(text).unwrap_or_else(|visitor| visitor.visit_str(text))
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        self.read(text).unwrap_or_else(|visitor| visitor.visit_borrowed_str(text))
    }

    fn visit_string<E: Error>(self, text: String) -> Result<V::Value, E> {
        match self.read(&text) {
            Ok(read) => read,
            Err(visitor) => visitor.visit_string(text),
        }
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        if self.takes(Due::Anything) { self.visitor.visit_unit() } else { Err(self.due.refuse("null")) }
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, read: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Shaped { read, written: self.written })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, read: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Shaped { read, written: self.written })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
        if self.takes(Due::Array) {
            self.visitor.visit_seq(Shaped { read: parts, written: self.written })
        } else {
            Err(self.due.refuse("an array"))
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, parts: A) -> Result<V::Value, A::Error> {
        if self.takes(Due::Object) {
            self.visitor.visit_map(Shaped { read: parts, written: self.written })
        } else {
            Err(self.due.refuse("an object"))
        }
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Shaped<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.read.next_element_seed(Shaped { read: seed, written: self.written })
    }

    fn size_hint(&self) -> Option<usize> {
        self.read.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Shaped<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        self.read.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.read.next_value_seed(Shaped { read: seed, written: self.written })
    }

    fn size_hint(&self) -> Option<usize> {
        self.read.size_hint()
    }
}

impl<'de, T: DeserializeSeed<'de>> DeserializeSeed<'de> for Shaped<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, read: D) -> Result<T::Value, D::Error> {
        self.read.deserialize(Shaped { read, written: self.written })
    }
}
