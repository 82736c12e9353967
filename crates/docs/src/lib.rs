//! The documentation as a site: the guides of `docs/`, a reference of the API made from its OpenAPI description, and a
//! search that needs no other server.
//!
//! [`files`] renders everything at once. It is pure: the guides are compiled in, and the description is an argument.
//! A page works without scripts, except for the search. It loads only files of the site, and contains no inline scripts
//! or styles.

mod assets;
mod guides;
mod markdown;
mod page;
mod reference;
mod rendered;
mod samples;
mod search;
mod site;
#[cfg(test)]
mod tests;

use serde_json::Value;

use self::reference::Reference;
pub use site::{File, ROOT};

/// If the HTML of a group's operations is longer than this, in bytes, each operation gets a page of its own, so that no
/// page exceeds 60 KB.
const SPLIT_ABOVE: usize = 50_000;

/// Renders the site. `description` is the complete OpenAPI description of the API.
pub fn files(description: &Value) -> Vec<File> {
    let mut reference = Reference::of(description);
    reference.split(|group| page::operations_of(group).len() > SPLIT_ABOVE);
    let guides = rendered::guides();
    let index = search::index(&guides, &reference);
    let assets = assets::all(&index);
    let site = page::Site::new(&guides, &reference, &assets);
    let mut files = site.files();
    files.extend(assets.into_files());
    files
}

/// The Rust samples of the whole description as one program, for a test that compiles them.
pub fn rust_samples(description: &Value) -> String {
    let reference = Reference::of(description);
    let mut program = String::new();
    for group in &reference.groups {
        for operation in &group.operations {
            let Some(sample) = operation.samples.iter().find(|sample| sample.class == "rust") else { continue };
            let lines: String = sample.code.lines().map(|line| format!("    {line}\n")).collect();
            let name = samples::snake(&operation.id);
            program.push_str(&format!(
                "async fn {name}(client: &Client) -> Result<(), Box<dyn std::error::Error>> {{\n{lines}    Ok(())\n}}\n\n"
            ));
        }
    }
    program
}
