//! Language rules for documents and comments (CONTRIBUTING.md, "Language").
//!
//! The checker finds symptoms of unclear sentences: clauses without a subject, pronouns for robots,
//! archaic words. It reads Markdown text and the comments of Rust, C, Python and shell files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use system_tests::ROOT;

/// Findings per 1,000 words that established projects of this field stay below.
const MAX_PER_THOUSAND: f64 = 0.5;
/// Pronouns that must not start a clause without a noun.
const PRONOUNS: &str = "who whoever whom whomever whose what whatever";
/// Verbs and articles that make such a clause headless.
const FOLLOWERS: &str = "is was are were has have had does did do can cannot could must may might will would \
    says said speaks spoke comes came goes went lies lay hears heard counts counted proves proved gives gave \
    takes took knows knew flies flew needs needed wants wanted sends sent tells told sees saw stands stood \
    a an the it they robots others neighbors neighbours nothing";
/// Marks and prepositions after which a pronoun starts a headless clause.
const LEADERS: &str = ". : ! ? , ; ( | of to for and with by from than";
/// Words and phrases that never occur, between spaces.
const PHRASES: &str = "somebody/nobody/everybody/anybody/whoever/no one/everyone/so many/so much/so often/\
    so far away/by as much/as many as there/anew/beside/likewise/in place of/for good/in vain/by chance/of late/\
    all the same/of its own/whereupon/at length/come to rest/are to be/is to be/borne out/held against/\
    hold against/taken for/found out/told of/neighbour/neighbours/behaviour/licence/centre/metres/\
    . the same/. as above/. ditto";

/// Documents and source files below a folder, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    entries.retain(|path| !name(path).starts_with('.') && name(path) != "target");
    let wanted = ["rs", "c", "h", "py", "md", "sh"];
    let read = |path: PathBuf| {
        if path.is_dir() {
            return files(&path);
        }
        let known = path.extension().is_some_and(|end| wanted.iter().any(|wanted| end == *wanted));
        if known { vec![path] } else { vec![] }
    };
    entries.into_iter().flat_map(read).collect()
}

/// Lines of prose with their numbers: text of Markdown, or comments, without code.
fn prose(file: &Path) -> Vec<(usize, String)> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let body = match file.extension().and_then(|end| end.to_str()) {
            Some("md") => Some(line),
            Some("py" | "sh") => line.strip_prefix('#').filter(|body| !body.starts_with('!')),
            _ => line.strip_prefix("//").map(|body| body.trim_start_matches(['/', '!']).trim_start()),
        };
        match body {
            None => fenced = false,
            Some(body) if body.starts_with("```") => fenced = !fenced,
            Some(body) if !fenced => lines.push((index + 1, body.to_owned())),
            Some(_) => {}
        }
    }
    lines
}

/// Words in lowercase and marks, each between spaces; code in backticks is the word `x`, a sentence starts with a period.
fn words(line: &str) -> String {
    let mut words = " . ".to_owned();
    for (index, part) in line.split('`').enumerate() {
        if index % 2 == 1 {
            words += " x ";
            continue;
        }
        for character in part.chars() {
            match character {
                '!' | '?' | ':' | '.' | ';' | '(' | ',' | '|' => words.extend([' ', character, ' ']),
                '-' | '\'' | '_' => words.push(character),
                _ if character.is_alphanumeric() => words.extend(character.to_lowercase()),
                _ => words.push(' '),
            }
        }
    }
    format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Phrases of a line that break a rule.
fn phrases(words: &str) -> Vec<String> {
    let contains = |list: &str, word: &str| list.split_whitespace().any(|listed| listed == word);
    let spaced = words.replace(" : ", " . ").replace(" ! ", " . ").replace(" ? ", " . ");
    let archaic = PHRASES.split('/').filter(|phrase| spaced.contains(&format!(" {phrase} ")));
    let mut found: Vec<String> = archaic.map(str::to_owned).collect();
    let words: Vec<&str> = words.split_whitespace().collect();
    for (index, [before, pronoun, follower]) in words.array_windows().enumerate() {
        let end = words[index..].iter().skip(1).find(|word| [".", "!", "?"].contains(word));
        if contains(LEADERS, before)
            && contains(PRONOUNS, pronoun)
            && contains(FOLLOWERS, follower)
            && end != Some(&"?")
        {
            found.push(format!("{pronoun} {follower}"));
        }
    }
    found
}

#[test]
fn documents_and_comments_are_written_in_plain_english() {
    let (mut count, mut findings) = (0, Vec::new());
    for file in files(Path::new(ROOT)) {
        for (line, text) in prose(&file) {
            let words = words(&text);
            count += words.split_whitespace().count();
            findings
                .extend(phrases(&words).iter().map(|phrase| format!("{}:{line}: {phrase}", file.display())));
        }
    }
    let share = 1e3 * findings.len() as f64 / f64::from(count as u32);
    assert!(count > 100_000 && share <= MAX_PER_THOUSAND, "{findings:#?}\n{share} findings in 1,000 words");
}

#[test]
fn unclear_sentences_are_found_and_plain_ones_pass() {
    for (line, good) in [
        ("Who was silent for too long is forgotten.", false),
        ("Frames are kept, whoever sends them.", false),
        ("It depends on the state of what is heard.", false),
        ("Robots speak, nobody else is heard.", false),
        ("The same with two robots.", false),
        ("The swarm is trained anew.", false),
        ("A neighbour is lost.", false),
        ("Neighbors not heard for `timeout` ticks are evicted.", true),
        ("What is it? A robot.", true),
        ("The robot that sends a frame knows what it sent.", true),
        ("Two runs with the same seed are identical.", true),
    ] {
        assert_eq!(phrases(&words(line)).is_empty(), good, "{line}");
    }
}

/// Whether back-ticked text names a file or folder of the repository.
fn is_path(code: &str) -> bool {
    let plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
    let ending = Path::new(code).extension().and_then(|end| end.to_str()).unwrap_or_default();
    plain
        && code.contains('/')
        && !["-", "/", "target/"].iter().any(|start| code.starts_with(start))
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && !code.ends_with('/')
}

/// Anchors of a Markdown file's headings.
fn headings(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let kept = heading.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect()
    };
    headings.map(anchor).collect()
}

/// Links and back-ticked paths of a Markdown file that do not exist.
fn dead_references(file: &Path) -> Vec<String> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let mut dead = Vec::new();
    for (_, line) in prose(file) {
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://")) {
            let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = if path.is_empty() { file.into() } else { folder.join(path) };
            let known = anchor.is_empty() || headings(&linked).iter().any(|heading| heading == anchor);
            if !linked.exists() || !known {
                dead.push(format!("{}: {target}", file.display()));
            }
        }
        for code in line.split('`').skip(1).step_by(2).filter(|code| is_path(code)) {
            if !folder.join(code).exists() && !Path::new(ROOT).join(code).exists() {
                dead.push(format!("{}: {code}", file.display()));
            }
        }
    }
    dead
}

#[test]
fn links_and_paths_in_documents_exist() {
    assert!(is_path("wdgnn-core/src/lib.rs"));
    for other in ["--out/x.rs", "target/wdgnn/flock.html", "a b/c.rs", "/dev/ttyACM0", "0.1/0.2"] {
        assert!(!is_path(other), "{other}");
    }
    let documents =
        files(Path::new(ROOT)).into_iter().filter(|file| file.extension().is_some_and(|end| end == "md"));
    let dead: Vec<String> = documents.flat_map(|file| dead_references(&file)).collect();
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let (lines, words) = (readme.lines().count(), readme.split_whitespace().count());
    assert!(lines <= 150 && words <= 1_200, "{lines} lines, {words} words");
}
