//! What must hold of any input to the readers that take foreign text.
//!
//! Each module has one `check`, which panics where something does not hold. The fuzz targets call it with what
//! libFuzzer thinks up (`cargo xtask fuzz`); the test of this crate calls it with every file of the corpus, so that
//! what was found once stays mended.

pub mod feed;
pub mod rule;
pub mod time;

use kalends_kernel::Zone;

/// The zone of that name.
///
/// # Panics
/// Where the database does not list it.
fn zone(name: &str) -> Zone {
    let zone = name.parse::<Zone>();
    assert!(zone.is_ok(), "{name} is no zone");
    zone.unwrap_or(Zone::UTC)
}

/// An error as a caller would see it: one line that does not grow with the input.
///
/// # Panics
/// Where it is not.
fn told(error: &dyn std::error::Error) {
    /// In bytes: enough for the longest of our own words and what is quoted of the input, escaped.
    const ERROR_MAX: usize = 2_000;
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() <= ERROR_MAX, "an error of {} bytes", text.len());
    assert!(!text.contains(char::is_control), "{text:?} is not one line");
}
