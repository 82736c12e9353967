//! Properties that must hold for any input to the parsers of untrusted text.
//!
//! Each module has one `check`, which panics if a property does not hold. The fuzz targets call it with the inputs of
//! libFuzzer (`cargo xtask fuzz`). The test of this crate calls it with every file of the corpus, so that fixed
//! problems stay fixed.

pub mod algebra;
pub mod built;
pub mod feed;
pub mod lenient;
pub mod rule;
pub mod set;
pub mod time;

mod bytes;

use kalends_time::Zone;

/// The zone with that name.
///
/// # Panics
/// If the zone database does not have it.
fn zone(name: &str) -> Zone {
    let zone = name.parse::<Zone>();
    assert!(zone.is_ok(), "{name} is not a zone");
    zone.unwrap_or(Zone::UTC)
}

/// Checks that an error is one line whose length does not grow with the input.
///
/// # Panics
/// If it is not.
fn check_message(error: &dyn std::error::Error) {
    /// The maximum length in bytes: enough for our longest text and the quoted and escaped input.
    const ERROR_MAX: usize = 2_000;
    let text = error.to_string();
    assert!(!text.is_empty() && text.len() <= ERROR_MAX, "an error of {} bytes", text.len());
    assert!(!text.contains(char::is_control), "{text:?} is not one line");
}
