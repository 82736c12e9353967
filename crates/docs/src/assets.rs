//! The files that pages load. Their names change with their content.

use std::borrow::Cow;

use sha2::{Digest as _, Sha256};

use crate::site::{File, ROOT};

/// The folder of the files, below the root of the site.
const FOLDER: &str = "assets/";

const STYLE: &str = include_str!("../assets/docs.css");
const SCRIPT: &str = include_str!("../assets/docs.js");

macro_rules! images {
    ($($name:literal)*) => {
        /// The images of the guides: the path in the repository, and the content.
        pub(crate) static IMAGES: &[(&str, &[u8])] = &[$((
            concat!("docs/use/booking/", $name, ".png"),
            include_bytes!(concat!("../../../docs/use/booking/", $name, ".png")),
        )),*];
    };
}

images! {
    "booked-1280" "booked-390" "booked-dark-1280" "booked-dark-390" "cancel-1280" "cancel-390" "cancelled-1280"
    "cancelled-390" "closed-1280" "closed-390" "de-form-questions-errors-1280" "de-form-questions-errors-390"
    "form-1280" "form-390" "form-errors-1280" "form-errors-390" "form-errors-dark-1280" "form-errors-dark-390"
    "ja-picker-1280" "ja-picker-390" "moved-1280" "moved-390" "moving-1280" "moving-390" "nonsense-1280" "nonsense-390"
    "not-found-1280" "not-found-390" "picker-1280" "picker-390" "picker-dark-1280" "picker-dark-390"
    "picker-elsewhere-1280" "picker-elsewhere-390" "picker-month-without-1280" "picker-month-without-390"
    "picker-move-1280" "picker-move-390" "picker-nothing-1280" "picker-nothing-390" "taken-1280" "taken-390"
    "too-many-1280" "too-many-390"
}

/// The files that every page refers to, and the images.
#[derive(Debug)]
pub(crate) struct Assets {
    pub(crate) style: String,
    pub(crate) script: String,
    pub(crate) icon: String,
    pub(crate) index: String,
    files: Vec<File>,
}

/// Names the files. `index` is the text of the search index.
pub(crate) fn all(index: &str) -> Assets {
    let style = [kalends_web::assets::COLOURS, STYLE].concat();
    let files = [
        named("docs", "css", "text/css; charset=utf-8", style.into_bytes().into()),
        named("docs", "js", "text/javascript; charset=utf-8", SCRIPT.as_bytes().into()),
        named("docs", "svg", "image/svg+xml", kalends_web::assets::ICON.as_bytes().into()),
        named("search", "json", "application/json", index.as_bytes().to_vec().into()),
    ];
    let [style, script, icon, index] = files.each_ref().map(|file| format!("{ROOT}{}", file.path));
    Assets { style, script, icon, index, files: files.into_iter().chain(IMAGES.iter().map(image)).collect() }
}

impl Assets {
    pub(crate) fn into_files(self) -> Vec<File> {
        self.files
    }
}

/// The address of an image, given its path in the repository.
pub(crate) fn image_address(path: &str) -> String {
    let found = IMAGES.iter().find(|(known, _)| *known == path);
    found.map_or_else(String::new, |found| format!("{ROOT}{}", image(found).path))
}

fn image((path, content): &(&str, &'static [u8])) -> File {
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".png");
    named(stem, "png", "image/png", Cow::Borrowed(content))
}

fn named(stem: &str, extension: &str, content_type: &'static str, content: Cow<'static, [u8]>) -> File {
    let hash: String = Sha256::digest(&content).iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    File { path: format!("{FOLDER}{stem}-{hash}.{extension}"), content_type, content, is_lasting: true }
}
