//! Tests of whole pages.

mod escaping;
mod fixture;
mod markup;
mod picker;
