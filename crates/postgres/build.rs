//! Recompiles the crate when a migration is added: the macro that embeds migrations notices only changed files.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations/postgres");
}
