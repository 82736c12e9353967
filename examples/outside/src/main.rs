//! Four small services on the packaged crates. Each one returns an error if the answer is not the one that it expects.

mod metered;
mod proposals;
mod rooms;
mod rota;

use std::error::Error;

/// The result of a service.
type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    rota::run()?;
    rooms::run()?;
    metered::run()?;
    proposals::run()
}

/// An error if what was found is not what was expected.
fn expect<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {found:?}").into()) }
}
