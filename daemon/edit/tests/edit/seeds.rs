//! Two surprises of a program that does the same trade, each the other way round here.

use paird_base::{Content, RepoPath};
use paird_edit::{
    CloseMatch, Edit, FailReason, Format, Located, Proposal, Rung, Scope, Seen, Snapshot, locate_blocks, parse, propose, wanted_paths,
};

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).unwrap()
}

fn planned(format: Format, reply: &str, file: &str, scope: &Scope) -> Proposal {
    let snapshot: Snapshot = [(path("a.py"), Seen::File(Content::new(file.as_bytes(), 0o644)))].into_iter().collect();
    propose(&parse(format, reply), &snapshot, scope)
}

fn scope(close_match: CloseMatch) -> Scope {
    Scope { chat_files: [path("a.py")].into(), close_match, ..Scope::default() }
}

const FILE: &str = "def f(x):\n    a = load(x)\n    b = parse(a)\n    c = check(b)\n    return c\n";

fn reply(search_line: &str, replace_line: &str, last: &str) -> String {
    let lines = |middle: &str, last: &str| format!("def f(x):\n    a = load(x)\n{middle}\n    c = check(b)\n{last}\n");
    format!("a.py\n```\n<<<<<<< SEARCH\n{}=======\n{}>>>>>>> REPLACE\n```\n", lines(search_line, "    return c"), lines(replace_line, last))
}

/// The rung that forgives a slip is there and runs; it is off where it is said to be, and nowhere else.
#[test]
fn seed_fuzzy_off() {
    let slip = reply("    b = parse( a )", "    b = parse( a )", "    return c + 1");
    let after = FILE.replace("return c", "return c + 1");
    let text = |edit: &Edit| String::from_utf8_lossy(&edit.after.as_ref().unwrap().bytes).into_owned();

    let applied = planned(Format::Diff, &slip, FILE, &scope(CloseMatch::Apply));
    assert_eq!((applied.edits[0].hunks[0].rung, applied.edits[0].held, text(&applied.edits[0])), (Rung::Close, false, after.clone()));
    let held = planned(Format::Diff, &slip, FILE, &scope(CloseMatch::Hold));
    assert_eq!((held.edits[0].hunks[0].rung, held.edits[0].held, text(&held.edits[0])), (Rung::Close, true, after));
    let off = planned(Format::Diff, &slip, FILE, &scope(CloseMatch::Off));
    assert!(off.edits.is_empty());
    assert_eq!((off.failed[0].reason, off.failed[0].nearly), (FailReason::NoMatch, Some(Rung::Close)));

    // What holds for a place that is found exactly does not depend on it.
    let exact = reply("    b = parse(a)", "    b = parse(a)", "    return c + 1");
    for close_match in [CloseMatch::Apply, CloseMatch::Hold, CloseMatch::Off] {
        let edit = &planned(Format::Diff, &exact, FILE, &scope(close_match)).edits[0];
        assert_eq!((edit.hunks[0].rung, edit.held), (Rung::Exact, false));
    }
    // The same slip in the line that is to be changed is none that can be forgiven.
    let meant = reply("    b = parse( a )", "    b = parse_all(a)", "    return c");
    let failed = planned(Format::Diff, &meant, FILE, &scope(CloseMatch::Apply)).failed;
    assert!(failed[0].message.contains("line 3 of the file is `    b = parse(a)`"), "{}", failed[0].message);
}

/// A guard that cannot tell, or is not asked in so many words, does not let an edit pass.
#[test]
fn seed_guard_fails_open() {
    let apply = scope(CloseMatch::Apply);
    let block = |search: &str, replace: &str| format!("a.py\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n");
    let reason = |reply: &str, file: &str, scope: &Scope| {
        let proposal = planned(Format::Diff, reply, file, scope);
        assert!(proposal.edits.is_empty(), "{:?}", proposal.edits);
        proposal.failed[0].reason
    };

    // Two places are too many, however long the text is that stands in them.
    for word in ["x", "abcdefghij", "a text of many more than ten letters, all of them in both places"] {
        let line = format!("{word}\n");
        assert_eq!(reason(&block(&line, "y\n"), &format!("{line}-\n{line}"), &apply), FailReason::Ambiguous);
    }
    // One candidate is not enough: what is asked of one of several is asked of the only one.
    let body = "def g():\n    imagined()\n    more()\n    done()\n    end()\n";
    assert_eq!(reason(&block(body, "x\n"), "def g():\n    real()\n    other()\n    done()\n    end()\n", &apply), FailReason::NoMatch);
    // A stand-in for code is one on every rung.
    for (search, file) in [("a\n", "a\n"), ("a\n", "a  \r\n"), ("a\n", "    a\n"), ("\na\n\n", "a\nb\n"), ("", "")] {
        let reply = block(search, "# ... existing code ...\n");
        assert_eq!(reason(&reply, file, &apply), FailReason::Elision, "{search:?} in {file:?}");
    }
    // No name is no permission; neither is a name that the file is not called.
    let nameless = "```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```\n";
    assert_eq!(reason(nameless, "a\n", &apply), FailReason::NoPath);
    for name in ["./a.py", "b/../a.py", "x//../a.py"] {
        let refused = Scope { refused: [(path("a.py"), "it is for reading only".to_owned())].into(), ..apply.clone() };
        let proposal = planned(Format::Diff, &block("a\n", "b\n").replacen("a.py", name, 1), "a\n", &refused);
        assert!(proposal.edits.is_empty() && proposal.failed.len() == 1, "{name}: {proposal:?}");
    }
    // A file that could not be read as text is not taken for an empty one, nor one that was not looked at for a new one.
    assert_eq!(reason(&block("", "b\n"), "a\0\n", &apply), FailReason::UnsupportedFile);
    for entry in [Seen::Unsupported("it is a directory".to_owned()), Seen::TooLarge("it has too many bytes".to_owned())] {
        let snapshot: Snapshot = [(path("a.py"), entry)].into_iter().collect();
        for format in [Format::Diff, Format::Whole] {
            let reply = if format == Format::Diff { block("", "b\n") } else { "a.py\n```\nb\n```\n".to_owned() };
            let parsed = parse(format, &reply);
            assert!(wanted_paths(&parsed, &apply).contains(&path("a.py")));
            let proposal = propose(&parsed, &snapshot, &apply);
            assert!(proposal.edits.is_empty() && proposal.failed.len() == 1, "{proposal:?}");
        }
    }
    // A whole text that was cut off is none.
    let cut = planned(Format::Whole, "a.py\n```\na = 1\nb =", "a = 1\nb = 2\n", &apply);
    assert!(cut.edits.is_empty() && !cut.problems.is_empty(), "{cut:?}");
}

/// Each block has one answer, in reply order, and a failed one says what nearly found it.
#[test]
fn every_block_is_located_or_explained() {
    let reply = [
        "a.py\n<<<<<<< SEARCH\ndef f(x):\n=======\ndef g(x):\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\n    nothing\n=======\nx\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\nreturn c\n=======\nreturn d\n>>>>>>> REPLACE\n",
        "<<<<<<< SEARCH\na = load(x)\n...\nc = chek(b)\n=======\na = read(x)\n...\nc = chek(b)\n>>>>>>> REPLACE\n",
    ];
    let snapshot: Snapshot = [(path("a.py"), Seen::File(Content::new(FILE.as_bytes(), 0o644)))].into_iter().collect();
    let located = locate_blocks(&parse(Format::Diff, &reply.concat()), &snapshot, &scope(CloseMatch::Apply));
    let place = |one: &Located| one.place.as_ref().map(|hunk| (hunk.start_line, hunk.end_line)).map_err(|failed| failed.reason);
    let told: Vec<_> = located.iter().map(|one| (one.block, one.nearest, place(one))).collect();
    assert_eq!(
        told,
        [
            (0, Some(Rung::Exact), Ok((1, 1))),
            (1, None, Err(FailReason::NoMatch)),
            (2, Some(Rung::Indent), Ok((5, 5))),
            (3, Some(Rung::Elision), Err(FailReason::NoMatch)),
        ]
    );
}
