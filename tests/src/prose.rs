//! Language rules for documents and comments (CONTRIBUTING.md, "Language").
//!
//! The checker finds symptoms of unclear sentences: clauses without a subject, pronouns for robots,
//! archaic words. It reads Markdown text and the comments of Rust, C, Python and shell files.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Files and folders that must follow the rules.
pub const CHECKED: &[&str] = &[
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/README.md",
    "docs/architecture.md",
    "docs/wire-format.md",
    "docs/glossary.md",
    "docs/c-library.md",
    "docs/experiments-movie.md",
    "docs/bring-up.md",
    "docs/bring-your-own-task.md",
    "docs/crazyflie.md",
    "docs/experiments.md",
    "docs/firmware.md",
    "docs/many-machines.md",
    "docs/performance.md",
    "docs/python.md",
    "docs/radio.md",
    "docs/scenarios.md",
    "docs/verification.md",
    "docs/zephyr-esp-idf.md",
    "models/README.md",
    "bindings",
    "experiments",
    "crates",
    "examples",
    "firmware",
    "fuzz",
    "host-sim",
    "tests",
    "wdgnn-core",
];

/// Pronouns that must not start a clause without a noun.
const PRONOUNS: &[&str] = &["who", "whoever", "whom", "whomever", "whose", "what", "whatever"];
/// Verbs and articles that make such a clause headless.
const FOLLOWERS: &str = "is was are were has have had does did do can cannot could must may might will would \
    says said speaks spoke comes came goes went lies lay hears heard counts counted proves proved gives gave \
    takes took knows knew flies flew needs needed wants wanted sends sent tells told sees saw stands stood \
    a an the it they robots others neighbors neighbours nothing";
/// Prepositions after which a pronoun starts a headless clause.
const LEADERS: &[&str] = &["of", "to", "for", "and", "with", "by", "from", "than"];
/// Words and phrases that never occur.
const PHRASES: &[&str] = &[
    "somebody",
    "nobody",
    "everybody",
    "anybody",
    "whoever",
    "no one",
    "everyone",
    "so many",
    "so much",
    "so often",
    "so far away",
    "by as much",
    "as many as there",
    "anew",
    "beside",
    "likewise",
    "in place of",
    "for good",
    "in vain",
    "by chance",
    "of late",
    "all the same",
    "of its own",
    "whereupon",
    "at length",
    "come to rest",
    "are to be",
    "is to be",
    "borne out",
    "held against",
    "hold against",
    "taken for",
    "found out",
    "told of",
    "neighbour",
    "neighbours",
    "behaviour",
    "licence",
    "centre",
    "metres",
];
/// Words that must not start a sentence.
const OPENERS: &[&str] = &["the same", "likewise", "as above", "ditto"];

/// One line that breaks a rule.
#[derive(Debug)]
pub struct Finding {
    /// File, relative to the root.
    pub file: PathBuf,
    /// Line number, from 1.
    pub line: usize,
    /// The phrase that was found.
    pub phrase: String,
}

/// Number of words and findings of all files below `path`.
pub fn check(path: &Path) -> (usize, Vec<Finding>) {
    let (mut words, mut findings) = (0, Vec::new());
    for file in files(path) {
        let text = fs::read_to_string(&file).unwrap_or_default();
        for (line, sentence) in prose(&file, &text) {
            let tokens = tokens(&sentence);
            words += tokens.len();
            findings.extend(phrases(&tokens).into_iter().map(|phrase| Finding {
                file: file.strip_prefix(ROOT).unwrap_or(&file).into(),
                line,
                phrase,
            }));
        }
    }
    (words, findings)
}

/// Documents and source files below a path, in the order of their names.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.into()];
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|entry| {
            entry
                .file_name()
                .is_some_and(|name| name != "target" && !name.as_encoded_bytes().starts_with(b"."))
        })
        .collect();
    entries.sort();
    let wanted = |file: &Path| {
        file.extension().is_some_and(|end| ["rs", "c", "h", "py", "md", "sh"].iter().any(|e| end == *e))
    };
    entries
        .iter()
        .flat_map(|entry| if entry.is_dir() { files(entry) } else { vec![entry.clone()] })
        .filter(|file| wanted(file))
        .collect()
}

/// Lines of text with their numbers, without code.
fn prose(file: &Path, text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let markdown = file.extension().is_some_and(|end| end == "md");
    let hash = file.extension().is_some_and(|end| end == "py" || end == "sh");
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let body = if markdown {
            Some(trimmed)
        } else if hash {
            trimmed.strip_prefix('#').filter(|body| !body.starts_with('!'))
        } else {
            trimmed.strip_prefix("//").map(|body| body.trim_start_matches(['/', '!']).trim_start())
        };
        let Some(body) = body else {
            fenced = false;
            continue;
        };
        if body.starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, body.into()));
        }
    }
    lines
}

/// Lowercase words; sentence and clause marks are tokens, code in backticks is the token `x`.
fn tokens(line: &str) -> Vec<String> {
    let mut tokens = vec![".".to_owned()];
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            tokens.push("x".into());
            continue;
        }
        let mut word = String::new();
        for character in part.chars() {
            if character.is_alphanumeric() || "-'_".contains(character) {
                word.extend(character.to_lowercase());
                continue;
            }
            if !word.is_empty() {
                tokens.push(std::mem::take(&mut word));
            }
            if ".;:!?(,|".contains(character) {
                tokens.push(character.to_string());
            }
        }
        if !word.is_empty() {
            tokens.push(word);
        }
    }
    tokens
}

/// Phrases of a line that break a rule.
fn phrases(tokens: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    let text = |from: usize, count: usize| tokens[from..tokens.len().min(from + count)].join(" ");
    for index in 1..tokens.len() {
        let before = tokens[index - 1].as_str();
        let ends = [".", ":", "!", "?"].contains(&before);
        let clause = ends || [",", ";", "(", "|"].contains(&before) || LEADERS.contains(&before);
        let next = tokens.get(index + 1).map_or("", String::as_str);
        let question = tokens[index..]
            .iter()
            .find(|token| [".", "!", "?"].contains(&token.as_str()))
            .is_some_and(|end| end == "?");
        if clause
            && !question
            && PRONOUNS.contains(&tokens[index].as_str())
            && FOLLOWERS.split_whitespace().any(|verb| verb == next)
        {
            found.push(text(index, 4));
        }
        found.extend(
            PHRASES.iter().filter(|phrase| starts(&tokens[index..], phrase)).map(|&phrase| phrase.into()),
        );
        found.extend(
            OPENERS
                .iter()
                .filter(|opener| ends && starts(&tokens[index..], opener))
                .map(|&opener| opener.into()),
        );
    }
    found
}

/// Whether the tokens start with the words of a phrase.
fn starts(tokens: &[String], phrase: &str) -> bool {
    let mut tokens = tokens.iter();
    phrase.split(' ').all(|word| tokens.next().is_some_and(|token| token == word))
}

/// Links and back-ticked paths of a Markdown file that do not exist.
pub fn dead_references(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder = file.parent().unwrap_or(Path::new(""));
    let prose: Vec<String> = prose(file, &text).into_iter().map(|(_, line)| line).collect();
    let mut dead = Vec::new();
    for line in &prose {
        for target in line.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            if path.contains("://") {
                continue;
            }
            let linked = if path.is_empty() { file.into() } else { folder.join(path) };
            if !linked.exists()
                || (!anchor.is_empty() && !headings(&linked).iter().any(|heading| heading == anchor))
            {
                dead.push(target.into());
            }
        }
        for code in line.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            if !folder.join(code).exists() && !Path::new(ROOT).join(code).exists() {
                dead.push(code.into());
            }
        }
    }
    dead
}

/// Whether back-ticked text names a file or folder of the repository.
fn is_path(code: &str) -> bool {
    let plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    plain
        && code.contains('/')
        && !code.starts_with(['-', '/'])
        && !code.starts_with("target/")
        && !code.ends_with('/')
        && Path::new(code).extension().is_some_and(|end| end.as_encoded_bytes()[0].is_ascii_alphabetic())
}

/// Anchors of a Markdown file's headings.
fn headings(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let anchor = |heading: &str| {
        let kept = heading.to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || *c == '-' || *c == '_').collect()
    };
    text.lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#').trim()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unclear_sentences_are_found() {
        for bad in [
            "Who was silent for too long is forgotten.",
            "Frames are kept, whoever sends them.",
            "It depends on the state of what is heard.",
            "Robots speak, nobody else is heard.",
            "The same with two robots.",
            "The swarm is trained anew.",
            "A neighbour is lost.",
        ] {
            assert!(!phrases(&tokens(bad)).is_empty(), "{bad}");
        }
    }

    #[test]
    fn plain_sentences_pass() {
        for good in [
            "Neighbors not heard for `timeout` ticks are evicted.",
            "What is it? A robot.",
            "The robot that sends a frame knows what it sent.",
            "Two runs with the same seed are identical.",
        ] {
            assert_eq!(phrases(&tokens(good)), Vec::<String>::new(), "{good}");
        }
    }

    #[test]
    fn paths_and_options_are_told_apart() {
        assert!(is_path("wdgnn-core/src/lib.rs"));
        for other in ["--out/x.rs", "target/wdgnn/flock.html", "a b/c.rs", "/dev/ttyACM0", "0.1/0.2"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
