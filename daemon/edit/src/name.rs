//! Finding a file's name in the lines above an edit block. A fence's language and prose are never a name.

use std::collections::{BTreeSet, VecDeque};

use paird_base::limits::PATH_BYTES_MAX;

use crate::fence::FenceLine;
use crate::marker::marker;

/// Names that people write without a dot or a slash. Other bare words need quotes, or a chat file of that name.
const BARE_NAMES: &[&str] = &[
    "BUILD",
    "Brewfile",
    "CHANGELOG",
    "CODEOWNERS",
    "CONTRIBUTING",
    "COPYING",
    "Caddyfile",
    "Containerfile",
    "Dockerfile",
    "GNUmakefile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Pipfile",
    "Podfile",
    "Procfile",
    "README",
    "Rakefile",
    "Tiltfile",
    "Vagrantfile",
    "WORKSPACE",
    "gradlew",
    "justfile",
    "makefile",
];

/// Labels before a name, in lower case.
const LABELS: &[&str] = &["file:", "filename:", "file name:", "filepath:", "file path:", "path:", "new file:"];

/// What is said before a name in backticks that is alone with it, in lower case.
const VERBS: &[&str] = &["create ", "create file ", "create the file ", "add ", "add file ", "new file "];

/// The last lines above a block. They are kept as they are, since hardly any is ever looked at for a name.
#[derive(Debug, Default)]
pub(crate) struct LinesAbove(VecDeque<String>);

/// How many, blank ones included.
const LINES_ABOVE: usize = 8;
/// A longer line is no name; this stands for it.
const NAME_LINE_BYTES_MAX: usize = 2 * PATH_BYTES_MAX;
const TOO_LONG: &str = "(a long line)";

impl LinesAbove {
    pub(crate) fn push(&mut self, line: &str) {
        let mut kept = if self.0.len() < LINES_ABOVE { String::new() } else { self.0.pop_front().unwrap_or_default() };
        kept.clear();
        kept.push_str(if line.len() > NAME_LINE_BYTES_MAX { TOO_LONG } else { line });
        self.0.push_back(kept);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// The lines that are not blank, the nearest first.
    pub(crate) fn nearest(&self) -> impl Iterator<Item = &str> {
        self.0.iter().rev().map(String::as_str).filter(|line| !line.trim().is_empty())
    }

    /// The path that the lines give a block. Up to three count; a line of its own wins over a path on a fence.
    pub(crate) fn path(&self, known: &BTreeSet<String>) -> Option<String> {
        path_from(self.nearest().take(3).map(|line| Above::read(line, known)))
    }

    /// The path that the prose nearest to the block mentions, if it is one alone and known. Where `any` is set, one that it
    /// quotes need not be known.
    pub(crate) fn mentioned(&self, known: &BTreeSet<String>, any: bool) -> Option<String> {
        let prose = self.nearest().find(|line| FenceLine::read(line).is_none() && marker(line).is_none())?;
        mentioned_path(prose, known).or_else(|| match &quoted_paths(prose, known)[..] {
            [only] if any => Some(only.clone()),
            _ => None,
        })
    }
}

/// What a line above a block can say about its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Above {
    /// An opening or closing fence, perhaps with a path on it.
    Fence(Option<String>),
    Text(Option<String>),
}

impl Above {
    pub(crate) fn read(line: &str, known: &BTreeSet<String>) -> Self {
        match FenceLine::read(line) {
            Some(fence) => Self::Fence(path_on_fence(fence.info(), known)),
            None => Self::Text(path_on_line(line, known)),
        }
    }
}

/// The path that these lines, the nearest first, give a block.
pub(crate) fn path_from(lines: impl Iterator<Item = Above>) -> Option<String> {
    let mut on_fence = None;
    for line in lines {
        match line {
            Above::Text(Some(path)) => return Some(path),
            Above::Fence(Some(path)) if on_fence.is_none() => on_fence = Some(path),
            Above::Fence(_) | Above::Text(None) => {}
        }
    }
    on_fence
}

/// The name on a line of its own, without headings, bullets, comment signs, quotes, labels and trailing remarks.
fn path_on_line(line: &str, known: &BTreeSet<String>) -> Option<String> {
    if line.len() > NAME_LINE_BYTES_MAX || marker(line).is_some() || line.trim().starts_with("*.") {
        return None;
    }
    if known.contains(line.trim()) {
        return Some(line.trim().to_owned());
    }
    let (text, quoted) = undecorate(line);
    let path = clean_known(text, known);
    looks_like_path(&path, quoted, known).then_some(path)
}

fn undecorate(line: &str) -> (&str, bool) {
    let mut text = line.trim();
    let mut quoted = false;
    loop {
        let before = text;
        text = text.trim_end_matches(':').trim();
        for (open, close) in [("<!--", "-->"), ("/*", "*/")] {
            text = text.strip_prefix(open).and_then(|t| t.strip_suffix(close)).unwrap_or(text).trim();
        }
        text = text.trim_start_matches('#').trim_matches(['*', '=', '\u{feff}']).trim();
        if text.starts_with("--") && text.ends_with("--") {
            text = text.trim_matches('-').trim();
        }
        if let Some((label, _target)) =
            text.strip_prefix('[').and_then(|link| link.strip_suffix(')')).and_then(|link| link.split_once("]("))
        {
            text = label.trim();
        }
        for sign in ["//", "-- ", "- ", "+ ", "> ", ";", "%"] {
            text = text.strip_prefix(sign).unwrap_or(text).trim();
        }
        let digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if digits.len() < text.len() {
            text = digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")).unwrap_or(text).trim();
        }
        for verb in VERBS {
            if text.get(..verb.len()).is_some_and(|start| start.eq_ignore_ascii_case(verb))
                && let Some(name) = text[verb.len()..].trim().strip_prefix('`').and_then(|name| name.strip_suffix('`'))
                && !name.contains('`')
            {
                text = name.trim();
                quoted = true;
            }
        }
        for quote in ['`', '"', '\''] {
            if text.len() > 1 && text.starts_with(quote) && text.ends_with(quote) {
                quoted = true;
            }
            text = text.trim_matches(quote);
        }
        if let Some((name, line)) = text.rsplit_once(':')
            && has_extension(name)
            && !line.is_empty()
            && line.chars().all(|c| c.is_ascii_digit() || c == '-')
        {
            text = name;
        }
        for label in LABELS {
            if text.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label)) {
                text = text[label.len()..].trim();
                quoted = true;
            }
        }
        if text.ends_with(')')
            && let Some((name, _remark)) = text.rsplit_once(" (")
        {
            text = name.trim();
        }
        if text == before {
            return (text, quoted);
        }
    }
}

/// The path on a fence: `path=src/a.py`, `python:src/a.py`, `python src/a.py`, `12:15:src/a.py` or the path alone.
fn path_on_fence(info: &str, known: &BTreeSet<String>) -> Option<String> {
    if info.is_empty() || info.len() > NAME_LINE_BYTES_MAX {
        return None;
    }
    let is_path = |text: &str, quoted| {
        let path = clean_known(text, known);
        ((path.contains('/') || has_extension(&path)) && looks_like_path(&path, quoted, known)).then_some(path)
    };
    for key in ["path=", "file=", "filename=", "filepath=", "title=", "name="] {
        let Some(at) = info.find(key).filter(|at| !info[..*at].ends_with(|c: char| c.is_alphanumeric())) else {
            continue;
        };
        let value = &info[at + key.len()..];
        let (value, quoted) = match value.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            Some(quote) => (value[1..].split(quote).next().unwrap_or(""), true),
            None => (value.split(|c: char| c.is_whitespace() || c == '}').next().unwrap_or(""), false),
        };
        if let Some(path) = is_path(value, quoted) {
            return Some(path);
        }
    }
    info.split_whitespace().take(2).find_map(|word| is_path(without_language(word), false))
}

/// Cuts `python:` and `12:15:` off, but not a drive letter.
fn without_language(mut word: &str) -> &str {
    while let Some((tag, rest)) = word.split_once(':')
        && !rest.is_empty()
        && tag.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '-' | '_'))
        && (tag.len() > 1 || tag.chars().all(|c| c.is_ascii_digit()))
    {
        word = rest;
    }
    word
}

/// The paths that a line of prose quotes in backticks.
pub(crate) fn quoted_paths(line: &str, known: &BTreeSet<String>) -> Vec<String> {
    let quoted = line.split('`').skip(1).step_by(2).map(clean);
    quoted.filter(|text| known.contains(text) || (looks_like_a_file(text) && looks_like_path(text, true, known))).collect()
}

/// More names in one line are a list.
const MENTIONED_MAX: usize = 4;

/// The one known path that a line of prose mentions, in full or by an end that no other has.
pub(crate) fn mentioned_path(line: &str, known: &BTreeSet<String>) -> Option<String> {
    let is_edge = |c: char| "`*\"'()[],;:!?.".contains(c);
    let words =
        line.split(char::is_whitespace).map(|word| clean(word.trim_end_matches(is_edge).trim_start_matches(|c| is_edge(c) && c != '.')));
    let names: BTreeSet<String> = words.filter(|word| looks_like_a_file(word)).take(MENTIONED_MAX + 1).collect();
    let paths: BTreeSet<&String> = names.iter().filter_map(|name| known_path(name, known)).collect();
    match (names.len(), paths.first()) {
        (..=MENTIONED_MAX, Some(only)) if paths.len() == 1 => Some((*only).clone()),
        _ => None,
    }
}

/// The known path of this name, or the one that ends with it.
pub(crate) fn known_path<'k>(name: &str, known: &'k BTreeSet<String>) -> Option<&'k String> {
    let name = name.trim_start_matches("./");
    let mut ending = known.iter().filter(|path| path.strip_suffix(name).is_some_and(|dir| dir.ends_with('/')));
    known.get(name).or_else(|| ending.next().filter(|_| ending.next().is_none()))
}

/// A name where the format leaves no doubt that it is one, but for quotes and the signs between directories.
pub(crate) fn written_path(text: &str) -> String {
    clean(text.trim().trim_matches(['`', '"', '\'']))
}

/// Whether a name has what names of files have, a directory or an ending.
pub(crate) fn looks_like_a_file(name: &str) -> bool {
    (name.contains('/') || has_extension(name)) && !name.contains(char::is_whitespace)
}

/// Backslashes separate directories. Those that Markdown escapes signs with do not, if all can be read so.
fn clean(text: &str) -> String {
    let text = text.trim();
    let escaped = text.replace("\\\\", "/").replace("\\_", "_");
    if escaped.contains('\\') { text.replace('\\', "/") } else { escaped }
}

/// The same, but for a known path whose directory ends before an underscore.
fn clean_known(text: &str, known: &BTreeSet<String>) -> String {
    let separated = text.trim().replace('\\', "/");
    if known.contains(&separated) { separated } else { clean(text) }
}

fn looks_like_path(path: &str, quoted: bool, known: &BTreeSet<String>) -> bool {
    if known.contains(path.trim_start_matches("./")) {
        return true;
    }
    let shaped = !path.is_empty()
        && path.len() <= PATH_BYTES_MAX
        && path.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '@' | '+' | '[' | '(' | '{' | '$' | '~' | '-'))
        && !path.ends_with(['.', ',', ';', '!', '?', ')', ':', '/'])
        && !path.contains(['<', '>', '|', '"', '`', '*', '?'])
        && !path.contains("://")
        && !is_of_another_kind(path)
        && !path.contains(char::is_control)
        && !path.chars().all(|c| c.is_ascii_digit() || c == '.');
    if !shaped {
        return false;
    }
    let marked = path.contains('/') || has_extension(path);
    let mut words = path.split_whitespace();
    match (words.next(), words.next_back()) {
        (Some(_), None) => marked || quoted || BARE_NAMES.contains(&path),
        // "docs/my notes.md" is a name, "src/a.py and src/b.py" and "Change a.py" are not.
        (Some(first), Some(last)) => {
            marked
                && (quoted
                    || (first.contains('/') && has_extension(last) && path.split_whitespace().filter(|w| has_extension(w)).count() == 1))
        }
        (None, _) => false,
    }
}

/// Variables, mentions, sites, lists and words that a slash joins.
fn is_of_another_kind(path: &str) -> bool {
    let variable = path.strip_prefix('$').is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase()));
    variable || path.starts_with(['@', ',']) || path.starts_with("www.") || path.contains(", ") || path == "and/or"
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, end)| {
        (1..=16).contains(&end.len()) && end.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_a_line() {
        let known = ["configure", "My notes.md", "app/_layout.tsx", "1. Introduction.md", "#x.txt", "foo.txt (copy)"];
        let known = BTreeSet::from(known.map(str::to_owned));
        let cases = [
            ("src/a.py", Some("src/a.py")),
            ("**`src/a.py`**:", Some("src/a.py")),
            ("### src/a.py", Some("src/a.py")),
            ("# `src/my\\_mod.py`", Some("src/my_mod.py")),
            ("src\\win\\a.cs", Some("src/win/a.cs")),
            ("src\\pages\\_app.tsx", Some("src/pages/_app.tsx")),
            ("app\\_layout.tsx", Some("app/_layout.tsx")),
            ("app\\_other.tsx", Some("app_other.tsx")),
            ("// s.js", Some("s.js")),
            ("<!-- index.html -->", Some("index.html")),
            ("/* a.css */", Some("a.css")),
            ("1. `a.rs`", Some("a.rs")),
            ("- a.rs", Some("a.rs")),
            ("File: a.rs", Some("a.rs")),
            ("**File: `a.rs`** (new file)", Some("a.rs")),
            ("a.rs (new file):", Some("a.rs")),
            ("```src/a.py```", Some("src/a.py")),
            ("__init__.py", Some("__init__.py")),
            (".gitignore", Some(".gitignore")),
            ("app/[id]/(auth)/page.tsx", Some("app/[id]/(auth)/page.tsx")),
            ("Grüße.md", Some("Grüße.md")),
            ("hooks/post", Some("hooks/post")),
            ("Makefile", Some("Makefile")),
            ("**Dockerfile**:", Some("Dockerfile")),
            ("`gradlew`", Some("gradlew")),
            ("configure", Some("configure")),
            ("My notes.md", Some("My notes.md")),
            ("`other notes.md`", Some("other notes.md")),
            ("docs/my notes.md", Some("docs/my notes.md")),
            ("../x.py", Some("../x.py")),
            ("/etc/passwd", Some("/etc/passwd")),
            ("b/app.py", Some("b/app.py")),
            ("[src/a.py](src/a.py)", Some("src/a.py")),
            ("[`a.py`](./a.py):", Some("a.py")),
            ("**a.py:**", Some("a.py")),
            ("**`a.py`:**", Some("a.py")),
            ("`a.py`:", Some("a.py")),
            ("#### **`src/a.py`**", Some("src/a.py")),
            ("#### 3. `src/a.py`", Some("src/a.py")),
            ("=== a.py ===", Some("a.py")),
            ("--- a.py ---", Some("a.py")),
            ("> a.py", Some("a.py")),
            ("* a.py", Some("a.py")),
            ("\"a.py\"", Some("a.py")),
            ("'a.py':", Some("a.py")),
            ("\u{feff}a.py", Some("a.py")),
            ("a.py\u{a0}", Some("a.py")),
            ("<file>a.py</file>", None),
            ("[see](https://example.com/a.py)", None),
            ("a.py.", None),
            ("e.g.", None),
            ("i.e. a.py", None),
            ("Change this:", None),
            ("Here you go:", None),
            ("Change:", None),
            ("**Before:**", None),
            ("Update a.py", None),
            ("src/a.py and src/b.py", None),
            ("See https://example.com/a.py", None),
            ("https://example.com/a.py", None),
            ("That is done.", None),
            ("done.", None),
            ("...", None),
            ("1.2.3", None),
            ("<div>", None),
            ("Create `src/n.py`:", Some("src/n.py")),
            ("### Create `src/n.py`", Some("src/n.py")),
            ("New file `src/n.py`:", Some("src/n.py")),
            ("Create `src/n.py` and `src/m.py`", None),
            ("1. Introduction.md", Some("1. Introduction.md")),
            ("#x.txt", Some("#x.txt")),
            ("foo.txt (copy)", Some("foo.txt (copy)")),
            ("LICENSE", Some("LICENSE")),
            ("src/n.py:1", Some("src/n.py")),
            ("src/a.py, src/b.py", None),
            ("@src/n.py", None),
            ("and/or", None),
            ("www.example.com", None),
            ("$HOME/x.py", None),
            ("*.py", None),
            (">>>>>>> REPLACE", None),
            ("src/", None),
        ];
        for (line, expected) in cases {
            assert_eq!(path_on_line(line, &known).as_deref(), expected, "{line:?}");
        }
    }

    #[test]
    fn names_in_prose() {
        let known = BTreeSet::from(["a/x.py", "b/x.py", "src/app.js", "README", "lib/y.rs"].map(str::to_owned));
        let cases = [
            ("Update `src/app.js` as follows:", Some("src/app.js")),
            ("Update app.js:", Some("src/app.js")),
            ("### 2. **app.js** (frontend)", Some("src/app.js")),
            ("In ./src/app.js.", Some("src/app.js")),
            ("`src/app.js` as before, app.js once more", Some("src/app.js")),
            ("e.g. in y.rs", Some("lib/y.rs")),
            ("Update x.py", None),
            ("app.js and y.rs", None),
            ("as README says", None),
            ("pp.js", None),
            ("new.js", None),
            ("1.a 2.b 3.c 4.d app.js", None),
            ("", None),
        ];
        for (line, expected) in cases {
            assert_eq!(mentioned_path(line, &known).as_deref(), expected, "{line:?}");
        }
    }

    #[test]
    fn names_on_a_fence() {
        let cases = [
            ("src/a.py", Some("src/a.py")),
            ("a.py", Some("a.py")),
            ("python:src/a.py", Some("src/a.py")),
            ("python src/a.py", Some("src/a.py")),
            ("12:15:src/a.py", Some("src/a.py")),
            ("python path=src/a.py", Some("src/a.py")),
            ("python {path=src/a.py}", Some("src/a.py")),
            ("ts title=\"my notes.md\"", Some("my notes.md")),
            ("C:/x/a.py", Some("C:/x/a.py")),
            ("markdown", None),
            ("makefile", None),
            ("c++", None),
            ("", None),
        ];
        for (info, expected) in cases {
            assert_eq!(path_on_fence(info, &BTreeSet::new()).as_deref(), expected, "{info:?}");
        }
    }
}
