//! Which file of a crate imports which, and the cycles among them.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use super::imports::{Path, Source, Use};

/// How many re-exports of re-exports are followed.
const FOLLOWED: usize = 16;

/// A crate's files with their modules.
pub(super) struct Crate<'a> {
    files: Vec<(&'a str, Vec<String>, Source)>,
    by_module: HashMap<Vec<String>, usize>,
}

/// One file imports another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) from: String,
    pub(super) line: usize,
    pub(super) to: String,
}

/// Files that import each other.
#[derive(Debug)]
pub(super) struct Cycle {
    /// In alphabetical order.
    pub(super) files: Vec<String>,
    /// A shortest way from the first file back to it.
    pub(super) way: Vec<Import>,
}

/// The module of a file below `src`; `None` for the root of another crate.
fn module_of(path: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = path.strip_suffix(".rs")?.split('/').map(str::to_owned).collect();
    if names.first().is_some_and(|first| first == "bin") {
        return None;
    }
    if names.len() == 1 {
        names.retain(|name| name != "lib" && name != "main");
    }
    names.pop_if(|last| last == "mod");
    Some(names)
}

impl<'a> Crate<'a> {
    /// Reads the files of a crate: each path below `src`, and the text.
    pub(super) fn read(files: &[(&'a str, &'a str)]) -> Self {
        let read = files.iter().filter_map(|(path, text)| Some((*path, module_of(path)?, Source::read(text))));
        let files: Vec<_> = read.collect();
        let mut tests: HashSet<Vec<String>> = HashSet::new();
        for (_, module, source) in &files {
            tests.extend(source.tests.iter().map(|name| child(module, name)));
        }
        let is_test = |module: &[String]| {
            module.last().is_some_and(|last| last == "tests")
                || (1..=module.len()).any(|end| {
                    tests.contains(&module[..end]) || module[..end].last().is_some_and(|name| name == "tests")
                })
        };
        let files: Vec<_> = files.into_iter().filter(|(_, module, _)| !is_test(module)).collect();
        let by_module = files.iter().enumerate().map(|(index, (_, module, _))| (module.clone(), index)).collect();
        Self { files, by_module }
    }

    /// The cycles, in the order of their first files.
    pub(super) fn cycles(&self) -> Vec<Cycle> {
        let imports = self.imports();
        let reached: Vec<HashSet<usize>> = (0..self.files.len()).map(|from| reached(&imports, from)).collect();
        let mut cycles = Vec::new();
        let mut seen = HashSet::new();
        let mut order: Vec<usize> = (0..self.files.len()).collect();
        order.sort_by_key(|index| self.files[*index].0);
        for first in order.iter().copied() {
            if !reached[first].contains(&first) || !seen.insert(first) {
                continue;
            }
            let of = order
                .iter()
                .copied()
                .filter(|other| reached[first].contains(other) && reached[*other].contains(&first));
            let of: Vec<usize> = of.collect();
            seen.extend(&of);
            cycles.push(Cycle {
                files: of.iter().map(|index| self.files[*index].0.to_owned()).collect(),
                way: self.way(&imports, first),
            });
        }
        cycles
    }

    /// For each file the files that it imports, with the line of the first import.
    fn imports(&self) -> Vec<BTreeMap<usize, usize>> {
        let of = |(index, (_, module, source)): (usize, &(&str, Vec<String>, Source))| {
            let mut imports = BTreeMap::new();
            let mut add = |line: usize, to: Option<usize>| {
                if let Some(to) = to.filter(|to| *to != index) {
                    imports.entry(to).or_insert(line);
                }
            };
            for used in &source.uses {
                let to = self.resolved(module, &used.path, FOLLOWED);
                let below = to.is_some_and(|to| self.files[to].1.starts_with(module));
                let unused = used.name.as_ref().is_none_or(|name| !source.names.contains(name));
                if !(used.public && below && unused) {
                    add(used.path.line, to);
                }
            }
            for path in &source.paths {
                add(path.line, self.resolved(module, path, FOLLOWED));
            }
            imports
        };
        self.files.iter().enumerate().map(of).collect()
    }

    /// The file that defines what a path in a file of `module` names; `None` for another crate.
    fn resolved(&self, module: &[String], path: &Path, left: usize) -> Option<usize> {
        let mut here: Vec<String> = module.iter().chain(&path.inside).cloned().collect();
        let mut rest = path.segments.as_slice();
        match rest.first()?.as_str() {
            "crate" => {
                here.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    here.pop();
                    rest = &rest[1..];
                }
            }
            head => {
                if !self.is_module(&child(&here, head)) {
                    let used = self.binding(&here, head).filter(|used| used.path.segments != path.segments)?;
                    return self.through(&here, used, &rest[1..], left);
                }
            }
        }
        self.walked(here, rest, left)
    }

    /// Follows the rest of a path from a module.
    fn walked(&self, mut here: Vec<String>, mut rest: &[String], left: usize) -> Option<usize> {
        while let Some((next, after)) = rest.split_first() {
            let below = child(&here, next);
            if !self.is_module(&below) {
                if let Some(used) = self.binding(&here, next) {
                    return self.through(&here, used, after, left);
                }
                return self.globbed(&here, next, left).or_else(|| self.file_of(&here));
            }
            (here, rest) = (below, after);
        }
        self.file_of(&here)
    }

    /// Follows a `use` declaration of the module `here`, and then the rest of a path.
    fn through(&self, here: &[String], used: &Use, rest: &[String], left: usize) -> Option<usize> {
        let file = self.file_of(here)?;
        let segments = used.path.segments.iter().chain(rest).cloned().collect();
        let path = Path { segments, ..used.path.clone() };
        self.resolved(&self.files[file].1, &path, left.checked_sub(1)?)
    }

    /// The file that defines a name which the module `here` re-exports with a `*`.
    fn globbed(&self, here: &[String], name: &str, left: usize) -> Option<usize> {
        let file = self.file_of(here)?;
        let (_, module, source) = &self.files[file];
        let globs = source.uses.iter().filter(|used| used.name.is_none() && used.public);
        let mut targets = globs.filter_map(|used| self.resolved(module, &used.path, left.checked_sub(1)?));
        targets.find(|target| self.files[*target].2.items.contains(name))
    }

    /// The `use` declaration that brings a name into a module.
    fn binding(&self, here: &[String], name: &str) -> Option<&Use> {
        let (_, module, source) = &self.files[self.file_of(here)?];
        let inside = &here[module.len()..];
        source.uses.iter().find(|used| used.name.as_deref() == Some(name) && used.path.inside == inside)
    }

    fn is_module(&self, module: &[String]) -> bool {
        self.by_module.contains_key(module)
            || self.file_of(module).is_some_and(|file| {
                let (_, of, source) = &self.files[file];
                source.inside.contains(&module[of.len()..])
            })
    }

    /// The file that contains a module.
    fn file_of(&self, module: &[String]) -> Option<usize> {
        (0..=module.len()).rev().find_map(|end| self.by_module.get(&module[..end]).copied())
    }

    /// A shortest way from a file back to it.
    fn way(&self, imports: &[BTreeMap<usize, usize>], first: usize) -> Vec<Import> {
        let mut came: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([first]);
        while let Some(from) = queue.pop_front()
            && !came.contains_key(&first)
        {
            for to in imports[from].keys() {
                if !came.contains_key(to) {
                    came.insert(*to, from);
                    queue.push_back(*to);
                }
            }
        }
        let (mut way, mut to) = (Vec::new(), first);
        while let Some(from) = came.get(&to).copied() {
            let name = |index: usize| self.files[index].0.to_owned();
            way.push(Import { from: name(from), line: imports[from][&to], to: name(to) });
            to = from;
            if to == first {
                break;
            }
        }
        way.reverse();
        way
    }
}

fn child(module: &[String], name: &str) -> Vec<String> {
    module.iter().cloned().chain([name.to_owned()]).collect()
}

/// The files that a file imports, directly or through others.
fn reached(imports: &[BTreeMap<usize, usize>], from: usize) -> HashSet<usize> {
    let mut reached = HashSet::new();
    let mut left = vec![from];
    while let Some(next) = left.pop() {
        left.extend(imports[next].keys().copied().filter(|to| reached.insert(*to)));
    }
    reached
}
