//! Which modules of a crate refer to which, read from its sources: for tests that there is no way round.
//!
//! A reference counts to the module in which its target is written, however often it is passed on by `pub use`. `mod child;` alone is
//! no reference, and what is only there for tests does not count.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fs, io,
    path::Path,
};

mod source;

use source::Source;

/// A module's names from the crate's root on; none is the root itself.
type Module = Vec<String>;

/// The modules of a crate and whom they refer to. The root is called `crate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    edges: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    /// The graph of the crate whose `lib.rs` lies in this folder.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut sources = BTreeMap::new();
        let mut next = vec![(Module::new(), folder.join("lib.rs"), folder.to_owned())];
        while let Some((module, file, children)) = next.pop() {
            let text = fs::read_to_string(&file)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", file.display())))?;
            let source = Source::new(&text);
            for child in &source.children {
                let path: Module = module.iter().chain([child]).cloned().collect();
                let (flat, inside) = (children.join(format!("{child}.rs")), children.join(child));
                let file = if flat.exists() { flat } else { inside.join("mod.rs") };
                // What is written outside, and taken in by a path, refers to nothing in here.
                if file.exists() {
                    next.push((path, file, inside));
                }
            }
            sources.insert(module, source);
        }
        Ok(Self::of(&sources))
    }

    fn of(sources: &BTreeMap<Module, Source>) -> Self {
        let edges = sources.iter().map(|(module, source)| {
            let targets = source.paths.iter().filter_map(|path| absolute(module, source, path));
            let targets = targets.map(|path| resolve(sources, path)).filter(|target| target != module);
            (name(module), targets.map(|target| name(&target)).collect())
        });
        Self { edges: edges.collect() }
    }

    /// The same between the folders and files of the root alone.
    #[must_use]
    pub fn at_the_root(&self) -> Self {
        let top = |module: &String| module.split("::").next().unwrap_or(module).to_owned();
        let mut edges = BTreeMap::<String, BTreeSet<String>>::new();
        for (module, targets) in &self.edges {
            let from = top(module);
            let targets = targets.iter().map(top).filter(|to| *to != from).collect::<Vec<_>>();
            edges.entry(from).or_default().extend(targets);
        }
        Self { edges }
    }

    /// Modules that can be reached from each other, knot by knot.
    #[must_use]
    pub fn knots(&self) -> Vec<BTreeSet<String>> {
        let reached: BTreeMap<&String, BTreeSet<String>> =
            self.edges.keys().map(|module| (module, self.reached(module))).collect();
        let mut knots: Vec<BTreeSet<String>> = Vec::new();
        for (module, there) in &reached {
            let knot: BTreeSet<String> =
                there.iter().filter(|other| reached[other].contains(*module)).cloned().collect();
            if !knot.is_empty() && !knots.contains(&knot) {
                knots.push(knot);
            }
        }
        knots
    }

    /// Everything behind a module; itself only if there is a way round.
    fn reached(&self, module: &String) -> BTreeSet<String> {
        let mut reached = BTreeSet::new();
        let mut next = vec![module];
        while let Some(module) = next.pop() {
            next.extend(
                self.edges.get(module).into_iter().flatten().filter(|to| reached.insert((*to).clone())),
            );
        }
        reached
    }

    /// A shortest way round through a knot, such as `a → b → a`.
    #[must_use]
    pub fn way_round(&self, knot: &BTreeSet<String>) -> String {
        let ways = knot.iter().filter_map(|start| {
            let mut queue = VecDeque::from([vec![start]]);
            let mut seen = BTreeSet::new();
            while let Some(way) = queue.pop_front() {
                let last = way[way.len() - 1];
                for to in self.edges[last].intersection(knot) {
                    let way: Vec<_> = way.iter().copied().chain([to]).collect();
                    if to == start {
                        return Some(way);
                    }
                    if seen.insert(to) {
                        queue.push_back(way);
                    }
                }
            }
            None
        });
        let shortest = ways.min_by_key(Vec::len).unwrap_or_default();
        shortest.iter().map(|module| module.as_str()).collect::<Vec<_>>().join(" → ")
    }
}

fn name(module: &[String]) -> String {
    if module.is_empty() { "crate".into() } else { module.join("::") }
}

/// A path from the crate's root on; `None` for one that leads out of the crate.
fn absolute(module: &Module, source: &Source, path: &[String]) -> Option<Module> {
    let (first, mut rest) = path.split_first()?;
    let mut base = module.clone();
    match first.as_str() {
        "crate" => base.clear(),
        "self" => {}
        "super" => base.truncate(module.len().saturating_sub(1)),
        _ if source.children.contains(first) => rest = path,
        _ => return None,
    }
    while rest.first().is_some_and(|segment| segment == "super") {
        base.pop();
        rest = &rest[1..];
    }
    Some([&base[..], rest].concat())
}

/// The module in which the target of a path is written.
fn resolve(sources: &BTreeMap<Module, Source>, mut path: Module) -> Module {
    // No name is passed on more often than there are modules.
    for _ in 0..=sources.len() {
        let known = (0..=path.len()).rev().find(|length| sources.contains_key(&path[..*length])).unwrap_or(0);
        let (module, rest) = path.split_at(known);
        let module = module.to_vec();
        let source = &sources[&module];
        let passed_on = rest.first().and_then(|name| {
            let target = absolute(&module, source, source.names.get(name)?)?;
            (target != path).then(|| [target, rest[1..].to_vec()].concat())
        });
        match passed_on {
            Some(further) => path = further,
            None => return module,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(files: &[(&str, &str)]) -> Graph {
        let module =
            |path: &str| path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect();
        Graph::of(&files.iter().map(|(path, text)| (module(path), Source::new(text))).collect())
    }

    #[test]
    fn a_way_round_is_found_and_named() {
        let graph = graph(&[
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::X; fn f() { crate::c::g() }"),
            ("b", "use super::c;"),
            ("c", "use std::fmt; impl crate::a::T for U {}"),
        ]);
        let knots = graph.knots();
        assert_eq!(knots, [["a", "b", "c"].map(String::from).into()]);
        assert_eq!(graph.way_round(&knots[0]), "a → c → a");
    }

    #[test]
    fn names_that_are_passed_on_count_where_they_come_from() {
        let graph = graph(&[
            ("", "mod a; mod b; pub use b::{inner, Thing as Other};"),
            ("a", "use crate::{inner::X, Other};"),
            ("b", "pub mod inner; mod thing; pub use thing::Thing;"),
            ("b::inner", ""),
            ("b::thing", "use super::inner::X;"),
        ]);
        assert_eq!(graph.edges["a"], ["b::inner", "b::thing"].map(String::from).into());
        assert_eq!(graph.knots(), []);
        assert_eq!(graph.at_the_root().edges["a"], ["b"].map(String::from).into());
    }

    #[test]
    fn what_a_type_captures_is_not_imported() {
        let graph = graph(&[
            ("", "mod a; mod b;"),
            ("a", "fn f() -> impl Iterator + use<T> { crate::b::g() }"),
            ("b", ""),
        ]);
        assert_eq!(graph.edges["a"], ["b"].map(String::from).into());
    }

    #[test]
    fn comments_strings_and_tests_do_not_count() {
        let graph = graph(&[
            ("", "mod a; mod b;"),
            (
                "a",
                "/// [`crate::b`]\n#[cfg(test)]\nmod tests { use crate::b::X; fn f() { let a = '}'; } }\nfn f<'a>() {}",
            ),
            (
                "b",
                r##"const S: &str = "crate::a"; const R: &str = r#"crate::a"#; /* crate::a */ use crate::a::f;"##,
            ),
        ]);
        assert_eq!(graph.edges["a"], BTreeSet::new());
        assert_eq!(graph.edges["b"], ["a"].map(String::from).into());
    }
}
