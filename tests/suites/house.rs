//! The house's own rules, read off its sources: who may depend on whom, how long a file may be, what no file is called,
//! and that the documents say what the code says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use paird_protocol::methods::METHODS;

/// A room of the daemon's crate: the rooms and the crates that it may name. `crate=files` says that only these files may.
struct Room {
    name: &'static str,
    rooms: &'static [&'static str],
    crates: &'static [(&'static str, &'static [&'static str])],
}

/// Every file of the room.
const ALL: &[&str] = &[];

/// Data flows one way: transport -> dispatch -> session -> leaves -> base.
const ROOMS: &[Room] = &[
    Room { name: "lib", rooms: &[], crates: &[] },
    Room { name: "main", rooms: &[], crates: &[("paird", ALL), ("paird_base", ALL)] },
    Room {
        name: "daemon",
        rooms: &["dispatch", "lifecycle", "session", "transport"],
        crates: &[("paird_base", ALL), ("paird_protocol", &["daemon.rs"]), ("paird_vcs", ALL)],
    },
    Room { name: "lifecycle", rooms: &["transport=lifecycle/tests.rs"], crates: &[("paird_base", ALL), ("paird_protocol", ALL)] },
    Room { name: "transport", rooms: &["lifecycle"], crates: &[("paird_base", ALL), ("paird_protocol", ALL)] },
    Room {
        name: "dispatch",
        rooms: &["session", "transport"],
        crates: &[
            ("paird_base", ALL),
            ("paird_protocol", ALL),
            ("paird_edit", &["dispatch/edit.rs", "dispatch/from_wire.rs", "dispatch/to_wire.rs"]),
            ("paird_vcs", &["dispatch/commit.rs"]),
        ],
    },
    Room { name: "session", rooms: &[], crates: &[("paird_base", ALL), ("paird_edit", ALL), ("paird_provider", ALL), ("paird_vcs", ALL)] },
];

/// Which of our crates each crate may build on.
const CRATES: &[(&str, &[&str])] = &[
    ("protocol", &[]),
    ("daemon/base", &[]),
    ("daemon/edit", &["paird-base"]),
    ("daemon/provider", &["paird-base"]),
    ("daemon/vcs", &["paird-base"]),
    ("daemon", &["paird-base", "paird-edit", "paird-provider", "paird-vcs", "paird-protocol"]),
    ("clients/cli", &["paird-protocol"]),
    ("tests", &["paird-base", "paird-edit", "paird-protocol", "paird-vcs"]),
];

const LINES_MAX: usize = 500;
/// Names that say nothing.
const NAMES_BANNED: &[&str] = &["util", "utils", "helper", "helpers", "common", "manager", "misc", "types"];

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Files below a directory with this extension, by their name from `top`, without what is built or fetched.
fn files(top: &Path, dir: &str, extension: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut dirs = vec![top.join(dir)];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() && !path.is_symlink() {
                if !name.starts_with('.') && name != "target" && name != "node_modules" {
                    dirs.push(path);
                }
            } else if name.ends_with(&format!(".{extension}")) {
                found.push(path.strip_prefix(top).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// A source without its comments.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The same without the unit tests at its end.
fn code_without_tests(path: &Path) -> String {
    let code = code(path);
    let end = code.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(|&at| {
        let module = code[at..].lines().find(|line| !line.starts_with("#["));
        module.is_some_and(|line| line.ends_with("mod tests {"))
    });
    code[..end.unwrap_or(code.len())].to_owned()
}

fn is_test(file: &str) -> bool {
    file.starts_with("tests/") || file.contains("/tests/") || file.ends_with("/tests.rs")
}

/// The names that follow `prefix` in a text.
fn names_after<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let starts_word = !text[..at].ends_with(word);
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
        starts_word.then_some(&rest[..end])
    })
}

/// Crates of ours that a source names.
fn crates_named(code: &str) -> BTreeSet<String> {
    let ours = names_after(code, "paird_").map(|name| format!("paird_{name}"));
    let own = code.contains("paird::").then(|| "paird".to_owned());
    ours.chain(own).filter(|name| CRATES.iter().any(|(dir, _)| *name == crate_name(dir)) || name == "paird").collect()
}

fn crate_name(dir: &str) -> String {
    match dir {
        "daemon" => "paird".to_owned(),
        dir => format!("paird_{}", dir.rsplit('/').next().unwrap()),
    }
}

#[test]
fn rooms_depend_as_the_design_says() {
    let source = top().join("daemon/src");
    let mut faults = Vec::new();
    for file in files(&source, "", "rs") {
        let name = file.split(['/', '.']).next().unwrap();
        let Some(room) = ROOMS.iter().find(|room| room.name == name) else {
            faults.push(format!("{file}: the table has no room {name:?}"));
            continue;
        };
        let code = code(&source.join(&file));
        if code.contains("crate::{") {
            faults.push(format!("{file}: names several rooms in one `use`; write one for each"));
        }
        let may = |rules: &[&str], named: &str| {
            rules.iter().any(|rule| match rule.split_once('=') {
                Some((room, only)) => room == named && only == file,
                None => *rule == named,
            })
        };
        let own_modules = file.ends_with("mod.rs") || !file.contains('/');
        let above = names_after(&code, "super::").filter(|_| own_modules).filter(|named| ROOMS.iter().any(|room| room.name == *named));
        for named in names_after(&code, "crate::").chain(above) {
            if named != room.name && !may(room.rooms, named) {
                faults.push(format!("{file}: names {named}, which {name} must not know"));
            }
        }
        for named in crates_named(&code) {
            let rule = room.crates.iter().find(|(known, _)| *known == named);
            if !rule.is_some_and(|(_, only)| only.is_empty() || only.contains(&file.as_str())) {
                faults.push(format!("{file}: names {named}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn crates_depend_as_the_design_says() {
    for file in files(&top(), "", "toml").iter().filter(|file| file.ends_with("/Cargo.toml")) {
        let dir = file.strip_suffix("/Cargo.toml").unwrap();
        let text = std::fs::read_to_string(top().join(file)).unwrap();
        if !text.contains("[package]") {
            continue;
        }
        let (_, may) = CRATES.iter().find(|(known, _)| *known == dir).unwrap_or_else(|| panic!("the table has no crate {dir:?}"));
        let builds_on = text
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|name| *name == "paird" || name.starts_with("paird-"));
        for name in builds_on {
            assert!(may.contains(&name), "{dir} must not build on {name}");
        }
    }
}

#[test]
fn files_are_short_and_have_names_that_say_something() {
    for file in files(&top(), "", "rs") {
        let lines = std::fs::read_to_string(top().join(&file)).unwrap().lines().count();
        assert!(lines <= LINES_MAX, "{file} has {lines} lines");
        let stem = file.rsplit('/').next().unwrap().trim_end_matches(".rs");
        assert!(!NAMES_BANNED.contains(&stem), "{file} is called {stem}");
    }
}

#[test]
fn nothing_is_left_open_and_nothing_panics_at_will() {
    for file in files(&top(), "", "rs") {
        if file == "tests/suites/house.rs" {
            continue;
        }
        let whole = code(&top().join(&file));
        for open in ["todo!(", "unimplemented!(", "#[ignore", "dbg!("] {
            assert!(!whole.contains(open), "{file} holds {open}");
        }
        let text = std::fs::read_to_string(top().join(&file)).unwrap();
        assert!(!text.contains("TODO") && !text.contains("FIXME"), "{file} holds a note to oneself");
        if is_test(&file) {
            assert!(!whole.contains("thread::sleep") && !whole.contains("time::sleep"), "{file} sleeps");
        } else {
            let without = code_without_tests(&top().join(&file));
            for word in [".unwrap()", "panic!(", "unsafe "] {
                assert!(!without.contains(word), "{file} holds {word}");
            }
        }
    }
}

#[test]
fn links_of_the_documents_lead_somewhere() {
    let mut links = 0;
    for file in files(&top(), "", "md") {
        let text = std::fs::read_to_string(top().join(&file)).unwrap();
        let dir = top().join(&file).parent().unwrap().to_owned();
        for rest in text.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap();
            let path = target.split('#').next().unwrap();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            links += 1;
            assert!(dir.join(path).exists(), "{file} links to {target}, which is not there");
        }
    }
    assert!(links > 0, "the documents link to each other");
}

/// A cell of a table's row that is one or more names in backquotes.
fn named_in_cell(line: &str) -> impl Iterator<Item = &str> {
    let cell = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next()).unwrap_or("");
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn the_protocol_document_has_exactly_the_methods() {
    let text = std::fs::read_to_string(top().join("docs/protocol.md")).unwrap();
    let section = text.split("\n## Methods\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let mut told: BTreeMap<&str, usize> = BTreeMap::new();
    for name in section.lines().flat_map(named_in_cell) {
        let name = name.split([' ', '{', '…']).next().unwrap();
        if name.contains('/') || ["initialize", "shutdown", "rpc.discover"].contains(&name) {
            *told.entry(name).or_default() += 1;
        }
    }
    let told: BTreeSet<&str> = told.into_keys().collect();
    let declared: BTreeSet<&str> = METHODS.iter().map(|method| method.name).collect();
    let missing: Vec<_> = declared.difference(&told).collect();
    let strange: Vec<_> = told.difference(&declared).collect();
    assert!(missing.is_empty() && strange.is_empty(), "docs/protocol.md lacks {missing:?} and has {strange:?}");
}

#[test]
fn the_protocol_document_has_exactly_the_kinds_of_events_and_errors() {
    use paird_protocol::{ErrorKind, EventBody, envelope};
    let text = std::fs::read_to_string(top().join("docs/protocol.md")).unwrap();
    let section = text.split("\n## Errors\n").nth(1).unwrap();
    let mut rows: BTreeMap<&str, &str> =
        section.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |")?.split_once("` | ")).collect();
    for kind in ErrorKind::ALL {
        let codes = rows.remove(kind.as_str()).unwrap_or_else(|| panic!("docs/protocol.md lacks the error {kind}"));
        assert!(codes.starts_with(&kind.code().to_string()), "docs/protocol.md gives {kind} {codes}");
        let standard = match kind {
            ErrorKind::InvalidParams => vec![envelope::PARSE_ERROR, envelope::INVALID_REQUEST],
            ErrorKind::NotFound => vec![envelope::METHOD_NOT_FOUND],
            _ => vec![],
        };
        for code in [envelope::PARSE_ERROR, envelope::INVALID_REQUEST, envelope::METHOD_NOT_FOUND] {
            assert_eq!(codes.contains(&code.to_string()), standard.contains(&code), "docs/protocol.md gives {kind} {codes}");
        }
    }
    assert!(rows.is_empty(), "docs/protocol.md has errors of its own: {rows:?}");
    let source = std::fs::read_to_string(top().join("protocol/src/types/event.rs")).unwrap();
    let kinds: Vec<&str> = source.split("#[serde(rename = \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert_eq!(kinds.iter().collect::<BTreeSet<_>>(), EventBody::KINDS.iter().collect::<BTreeSet<_>>());
    for kind in kinds {
        assert!(text.contains(&format!("`{kind}`")), "docs/protocol.md lacks the event {kind}");
    }
}
