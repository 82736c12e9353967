//! Enums whose values have a name in JSON and in stores.

/// Defines an enum with a name for each value, and the conversions between value and name.
macro_rules! named_values {
    (
        $(#[$doc:meta])*
        pub enum $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$value_doc])* $value,)* }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$value),*];

            /// The name in JSON and in stores.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$value => $text,)* }
            }

            /// The value with that name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$value),)* _ => None }
            }
        }
    };
}

pub(crate) use named_values;
