//! Writes the site to a folder, to look at it without a server: `kalends openapi | site FOLDER`.

use std::{error::Error, fs, io, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("the argument is the folder to write to")?;
    let description = serde_json::from_reader(io::stdin())?;
    for file in kalends_docs::files(&description) {
        let is_page = file.content_type.starts_with("text/html");
        let name = if is_page { format!("{}/index.html", file.path) } else { file.path };
        let path = Path::new(&folder).join("docs").join(name.trim_start_matches('/'));
        fs::create_dir_all(path.parent().unwrap_or(Path::new("")))?;
        fs::write(path, file.content)?;
    }
    Ok(())
}
