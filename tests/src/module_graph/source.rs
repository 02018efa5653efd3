//! What a source file declares and refers to.

use std::collections::BTreeMap;

/// What one source file says, as far as other modules are concerned.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// `mod child;`.
    pub(super) children: Vec<String>,
    /// The names that it imports, and from where.
    pub(super) names: BTreeMap<String, Vec<String>>,
    /// Paths that begin with `crate`, `super`, `self`, one of its children, or the name of another crate.
    pub(super) paths: Vec<Vec<String>>,
}

impl Source {
    pub(super) fn new(text: &str) -> Self {
        let tokens = without_tests(&tokens(text));
        let mut source = Self::default();
        let mut at = 0;
        while at < tokens.len() {
            match (tokens[at].as_str(), tokens.get(at + 2).map(String::as_str)) {
                ("mod", Some(";")) => {
                    source.children.push(tokens[at + 1].clone());
                    at += 3;
                }
                // What a type captures, such as `use<T>`, is nothing that is imported.
                ("use", _) if tokens.get(at + 1).is_none_or(|next| next != "<") => {
                    at += 1;
                    source.import(&tokens, &mut at, &[]);
                }
                (_, _) if at > 0 && tokens[at - 1] == "::" => at += 1,
                (_, Some(_)) if tokens[at + 1] == "::" => {
                    let path = tokens[at..].chunks(2).take_while(|pair| is_word(&pair[0]));
                    let mut path: Vec<&[String]> = path.collect();
                    let end = path.iter().position(|pair| pair.get(1).is_none_or(|next| next != "::"));
                    path.truncate(end.map_or(path.len(), |end| end + 1));
                    source.paths.push(path.iter().map(|pair| pair[0].clone()).collect());
                    at += 1;
                }
                (_, _) => at += 1,
            }
        }
        source
    }

    /// Takes in the tree of an import, up to what ends it.
    fn import(&mut self, tokens: &[String], at: &mut usize, base: &[String]) {
        let mut path = base.to_vec();
        while let Some(token) = tokens.get(*at) {
            *at += 1;
            match token.as_str() {
                "::" => {}
                "{" => {
                    while tokens.get(*at).is_some_and(|token| token != "}") {
                        self.import(tokens, at, &path);
                        if tokens.get(*at).is_some_and(|token| token == ",") {
                            *at += 1;
                        }
                    }
                    *at += 1;
                    return;
                }
                "as" => {
                    let name = tokens.get(*at).cloned().unwrap_or_default();
                    *at += 1;
                    return self.keep(name, path);
                }
                "," | "}" | ";" => {
                    *at -= 1;
                    break;
                }
                _ => path.push(token.clone()),
            }
        }
        if path.len() > 1 && path[path.len() - 1] == "self" {
            path.pop();
        }
        let name = path.last().cloned().unwrap_or_default();
        self.keep(name, path);
    }

    fn keep(&mut self, name: String, path: Vec<String>) {
        self.paths.push(path.clone());
        self.names.insert(name, path);
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// Words, `::` and single signs; without comments, strings and characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = string(rest) {
            length
        } else if word > 0 {
            tokens.push(rest[..word].into());
            word
        } else if rest.starts_with("::") {
            tokens.push("::".into());
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(first.into());
            }
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    tokens
}

/// The length of a string or a character at the front of a text, if there is one.
fn string(text: &str) -> Option<usize> {
    let raw = text.strip_prefix("br").or(text.strip_prefix('r'));
    if let Some(raw) = raw {
        let fences = raw.len() - raw.trim_start_matches('#').len();
        let content = raw[fences..].strip_prefix('"');
        if let Some(content) = content {
            let end = format!("\"{}", "#".repeat(fences));
            let length = content.find(&end).map_or(content.len(), |at| at + end.len());
            return Some(text.len() - content.len() + length);
        }
    }
    let plain = text.strip_prefix('b').filter(|rest| rest.starts_with(['"', '\''])).unwrap_or(text);
    let quote = plain.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
    let mut escaped = false;
    for (at, c) in plain.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return Some(text.len() - plain.len() + at + 1),
            // One sign and no quote behind it: a lifetime.
            _ if quote == '\'' && !plain[at + c.len_utf8()..].starts_with('\'') => return None,
            _ => {}
        }
    }
    None
}

/// Leaves out every item behind `#[cfg(test)]`.
fn without_tests(tokens: &[String]) -> Vec<String> {
    const TEST: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].iter().take(TEST.len()).eq(TEST) {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        at += TEST.len();
        let mut depth = 0_usize;
        while at < tokens.len() {
            let token = tokens[at].as_str();
            at += 1;
            match token {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && (token == ";" || token == "}") {
                break;
            }
        }
    }
    kept
}
