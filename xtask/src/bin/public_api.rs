//! Prints the public API that a rustdoc JSON file describes, an item per line. `cargo xtask api` compares it.

use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: public-api FILE");
        return ExitCode::FAILURE;
    };
    // Every type has the implementations that are left out.
    let api =
        public_api::Builder::from_rustdoc_json(&path).omit_blanket_impls(true).omit_auto_trait_impls(true).build();
    match api {
        Ok(api) => {
            api.items().for_each(|item| println!("{item}"));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: cannot read {path}: {error}");
            ExitCode::FAILURE
        }
    }
}
