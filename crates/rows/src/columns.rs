//! Declares rows.

/// Declares a row: a struct whose public fields are the columns that a statement selects, so that the stores' checked
/// queries can fill it. The first form also declares a macro that fills it from a record with more columns.
macro_rules! columns {
    (
        $d:tt macro $fill:ident;
        $(#[$doc:meta])*
        pub struct $name:ident $(<$($key:ident),*>)? { $($(#[$note:meta])* $column:ident: $type:ty,)* }
    ) => {
        columns! {
            $(#[$doc])*
            pub struct $name $(<$($key),*>)? { $($(#[$note])* $column: $type,)* }
        }

        #[doc = concat!("Fills a [`", stringify!($name), "`] from a record that may have more columns.")]
        #[macro_export]
        macro_rules! $fill {
            ($d record:ident) => {
                $crate::$name { $($column: $d record.$column,)* }
            };
        }
    };
    (
        $(#[$doc:meta])*
        pub struct $name:ident $(<$($key:ident),*>)? { $($(#[$note:meta])* $column:ident: $type:ty,)* }
    ) => {
        $(#[$doc])*
        #[expect(missing_docs, reason = "the fields are the columns of the same names")]
        pub struct $name $(<$($key),*>)? { $($(#[$note])* pub $column: $type,)* }
    };
}
