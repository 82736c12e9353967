//! Runs the commands of a guide as printed, and compares their output with the page.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::{process::Command, time::timeout};

/// The line that is printed before the output of each block of commands.
const MARK: &str = "--- block ---";
/// The placeholder in a page for text that differs from run to run.
const ANYTHING: char = '…';
/// How long the commands of one page may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// A page of `docs/`.
#[derive(Debug)]
pub struct Guide {
    page: String,
}

/// A block of commands, and its output if the page shows it.
#[derive(Debug)]
pub struct Block {
    /// The lines of the block.
    pub commands: String,
    /// The block of text that follows it directly.
    pub prints: Option<String>,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

impl Guide {
    /// Reads the page at this path in the repository.
    pub fn read(path: &str) -> Self {
        Self { page: fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}")) }
    }

    /// Only the section with this heading.
    pub fn section(self, heading: &str) -> Self {
        let mut sections = self.page.split("\n## ").filter(|section| section.lines().next() == Some(heading));
        Self { page: sections.next().unwrap_or_else(|| panic!("no section {heading}")).to_owned() }
    }

    /// The page with other text in place of `from`, which it must contain.
    pub fn with(self, from: &str, to: &str) -> Self {
        assert!(self.page.contains(from), "the page does not contain {from}");
        Self { page: self.page.replace(from, to) }
    }

    /// Every block of shell commands.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut fence: Option<&str> = None;
        // Whether the next block of text is the output of the last commands.
        let mut follows = false;
        for line in self.page.lines() {
            match (fence, line.strip_prefix("```")) {
                (None, Some(language)) => {
                    match language {
                        "sh" => blocks.push(Block { commands: String::new(), prints: None }),
                        "text" if follows => {
                            if let Some(block) = blocks.last_mut() {
                                block.prints = Some(String::new());
                            }
                        }
                        _ => {}
                    }
                    fence = Some(language);
                }
                (Some(language), Some("")) => {
                    follows = language == "sh";
                    fence = None;
                }
                (Some(language), _) => {
                    let place = match language {
                        "sh" => blocks.last_mut().map(|block| &mut block.commands),
                        "text" if follows => blocks.last_mut().and_then(|block| block.prints.as_mut()),
                        _ => None,
                    };
                    if let Some(place) = place {
                        place.push_str(line);
                        place.push('\n');
                    }
                }
                (None, None) => follows &= line.is_empty(),
            }
        }
        blocks
    }

    /// The blocks of code in that language.
    pub fn code(&self, language: &str) -> Vec<&str> {
        let blocks = self.page.split("```").skip(1).step_by(2);
        blocks.filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n')).collect()
    }

    /// The languages of all blocks of code.
    pub fn languages(&self) -> Vec<&str> {
        self.page.lines().filter_map(|line| line.strip_prefix("```")).step_by(2).collect()
    }

    /// Runs all blocks in order in one shell, after the lines of `before`, in the folder `within`, and compares the
    /// output of each block with the page.
    pub async fn run(&self, before: &str, within: &Path, environment: &BTreeMap<String, String>) {
        let blocks = self.blocks();
        assert!(!blocks.is_empty(), "the page has no commands");
        let mut script = format!("set -eu\n{before}\n");
        for block in &blocks {
            script.push_str(&format!("printf '\\n%s\\n' '{MARK}'\n{}", block.commands));
        }
        let folder = tempfile::tempdir().expect("a temporary directory");
        let file = folder.path().join("guide.sh");
        fs::write(&file, script).expect("a script");
        let printed = run(&file, within, environment).await;
        let printed: Vec<&str> = printed.split(&format!("\n{MARK}\n")).skip(1).collect();
        for (index, Block { commands, prints }) in blocks.iter().enumerate() {
            let Some(prints) = prints else { continue };
            let got = printed.get(index).copied().unwrap_or("nothing: the commands before it failed");
            assert!(agrees(prints, got), "{commands}\n--- should print\n{prints}\n--- but prints\n{got}");
        }
    }
}

async fn run(script: &Path, within: &Path, environment: &BTreeMap<String, String>) -> String {
    let output = Command::new("sh")
        .arg(script)
        .current_dir(within)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(PATIENCE, output).await.expect("the commands to end").expect("a shell");
    let (printed, complained) =
        (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{printed}\n--- standard error\n{complained}");
    printed
}

/// Whether the output matches the page, line by line.
fn agrees(page: &str, printed: &str) -> bool {
    let (expected, got) = (page.trim_end(), printed.trim_end());
    expected.lines().count() == got.lines().count()
        && expected.lines().zip(got.lines()).all(|(expected, got)| line_agrees(expected, got))
}

fn line_agrees(expected: &str, got: &str) -> bool {
    let Some((first, rest)) = expected.split_once(ANYTHING) else {
        return expected == got;
    };
    let Some(mut got) = got.strip_prefix(first) else { return false };
    let parts: Vec<&str> = rest.split(ANYTHING).collect();
    let Some((last, between)) = parts.split_last() else { return false };
    for part in between {
        let Some(at) = got.find(part) else { return false };
        got = &got[at + part.len()..];
    }
    got.len() > last.len() && got.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_page_is_matched_around_placeholders() {
        for (expected, got, agree) in [
            ("a", "a", true),
            ("a", "b", false),
            ("id …", "id 1", true),
            ("id …", "id ", false),
            ("{\"id\":\"…\",\"n\":1}", "{\"id\":\"x\",\"n\":1}", true),
            ("{\"id\":\"…\",\"n\":1}", "{\"id\":\"x\",\"n\":2}", false),
            ("…-…!", "1-2!", true),
            ("…-…!", "12!", false),
        ] {
            assert_eq!(line_agrees(expected, got), agree, "{expected} {got}");
        }
    }

    #[test]
    fn text_directly_after_commands_is_their_output() {
        let page =
            "```sh\na\n```\n\n```text\n1\n```\n\n```text\n2\n```\n\n```sh\nb\n```\n\nWords.\n\n```text\n3\n```\n";
        let blocks = Guide { page: page.to_owned() }.blocks();
        let seen: Vec<_> = blocks.iter().map(|block| (block.commands.as_str(), block.prints.as_deref())).collect();
        assert_eq!(seen, [("a\n", Some("1\n")), ("b\n", None)]);
    }
}
