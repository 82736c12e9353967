//! Tests of whole pages.

mod escaping;
mod fixture;
mod framed;
mod markup;
mod picker;
