//! Enumerations whose values have names in the API.

macro_rules! named {
    ($(#[$about:meta])* $enum:ident { $($(#[$doc:meta])* $name:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $enum { $($(#[$doc])* $name,)* }

        impl $enum {
            /// Every value.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The name in the API.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The value with that name. The type has an example.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$name),)* _ => None }
            }
        }
    };
}

pub(crate) use named;
