//! The binary `kalends`.

use std::process::ExitCode;

fn main() -> ExitCode {
    kalends_server::run()
}
