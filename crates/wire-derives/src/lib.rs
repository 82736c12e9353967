//! Derive macros that have the names of utoipa's and generate nothing. With them, the types of `kalends-wire` keep the
//! attributes that describe their schemas, even in a program that needs no schemas and does not compile utoipa.

use proc_macro::TokenStream;

/// Accepts the attributes of utoipa's derive for schemas and generates nothing.
#[proc_macro_derive(ToSchema, attributes(schema))]
pub fn to_schema(_: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Accepts the attributes of utoipa's derive for query parameters and generates nothing.
#[proc_macro_derive(IntoParams, attributes(param, into_params))]
pub fn into_params(_: TokenStream) -> TokenStream {
    TokenStream::new()
}
