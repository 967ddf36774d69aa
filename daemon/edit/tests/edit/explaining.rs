//! The message to the model.

use expect_test::expect;
use paird_base::limits::{BLOCKS_MAX, CLOSEST_SEARCHES_MAX, EXPLAIN_BYTES_MAX, FAILED_BLOCK_BYTES_MAX};
use paird_base::{Content, RepoPath};
use paird_edit::{Block, FailReason, Format, Parsed, Scope, Seen, Snapshot, explain, parse, propose};

fn planned(parsed: &Parsed, files: &[(&str, &str)]) -> paird_edit::Proposal {
    let path = |name: &str| RepoPath::parse(name).unwrap();
    let snapshot: Snapshot = files.iter().map(|(name, text)| (path(name), Seen::File(Content::new(text.as_bytes(), 0o644)))).collect();
    propose(parsed, &snapshot, &Scope { chat_files: files.iter().map(|(name, _)| path(name)).collect(), ..Scope::default() })
}

#[test]
fn names_the_lines_that_come_closest() {
    let reply = "i.sql\n<<<<<<< SEARCH\nBEGIN;\n-- drop old\n=======\nBEGIN;\n-- keep\n>>>>>>> REPLACE\n\nx.py\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n\nx.py\n<<<<<<< SEARCH\nc\n";
    let parsed = parse(Format::Diff, reply);
    let proposal = planned(&parsed, &[("i.sql", "-- jobs\nBEGIN;\n-- drop old rows nightly\n"), ("x.py", "a\n")]);
    expect![[r"
        # 1 of 2 SEARCH/REPLACE blocks does not apply

        ## Block 1, i.sql

        SEARCH is not in i.sql; line 2 differs: SEARCH has `-- drop old`, line 3 of the file is `-- drop old rows nightly`
        ```
        <<<<<<< SEARCH
        BEGIN;
        -- drop old
        =======
        BEGIN;
        -- keep
        >>>>>>> REPLACE
        ```

        The lines of i.sql that come closest, with their numbers:
        ```
            2  BEGIN;
            3  -- drop old rows nightly
        ```

        ## Line 18 of your reply

        the block for x.py has no divider (=======); nothing of it is taken

        SEARCH must hold the file's lines as they are, blanks, comments and all, and must fit one place only.
        The other 1 block applies (x.py: 1); do not send it again.
        Reply with corrected versions of the parts above only.
    "]]
    .assert_eq(&explain(&parsed, &proposal.failed));
}

#[test]
fn a_misspelt_line_is_found_without_any_equal_line() {
    let parsed = parse(Format::Diff, "a.rs\n<<<<<<< SEARCH\n    let total = compute_totl(items);\n=======\nx\n>>>>>>> REPLACE\n");
    let failed = planned(&parsed, &[("a.rs", "fn f() {\n    let other = 1;\n    let total = compute_total(items);\n}\n")]).failed;
    assert_eq!(failed[0].reason, FailReason::NoMatch);
    let closest = failed[0].closest.as_ref().unwrap();
    assert!(closest.lines.iter().any(|line| line.contains("compute_total(")), "{closest:?}");
    assert!(failed[0].message.contains("line 1 differs"), "{}", failed[0].message);
}

#[test]
fn nothing_alike_is_not_shown() {
    let parsed = parse(Format::Diff, "a.rs\n<<<<<<< SEARCH\nsomething else entirely\n=======\nx\n>>>>>>> REPLACE\n");
    assert_eq!(planned(&parsed, &[("a.rs", "fn f() {\n}\n")]).failed[0].closest, None);
}

#[test]
fn nothing_to_say() {
    assert_eq!(explain(&parse(Format::Diff, "no edits"), &[]), "");
}

#[test]
fn a_fence_is_longer_than_any_in_the_block() {
    let parsed = parse(Format::Diff, "a.md\n<<<<<<< SEARCH\n````\nx\n````\n=======\n>>>>>>> REPLACE\n");
    assert!(explain(&parsed, &planned(&parsed, &[("a.md", "y\n")]).failed).contains("\n`````\n<<<<<<< SEARCH"));
}

#[test]
fn bounded_however_much_fails() {
    let long = "missing line\n".repeat(FAILED_BLOCK_BYTES_MAX / 4);
    let blocks = (0..BLOCKS_MAX).map(|nth| Block::new(nth, Some("a.py".to_owned()), format!("{long}{nth}\n"), long.clone(), 1)).collect();
    let parsed = Parsed { blocks, ..Parsed::default() };
    let failed = planned(&parsed, &[("a.py", &"missing lines\n".repeat(100))]).failed;
    assert_eq!(failed.len(), BLOCKS_MAX);
    assert!(failed.iter().filter(|failed| failed.closest.is_some()).count() <= CLOSEST_SEARCHES_MAX);
    let message = explain(&parsed, &failed);
    assert!(message.len() < EXPLAIN_BYTES_MAX + 2 * FAILED_BLOCK_BYTES_MAX, "{} bytes", message.len());
    assert!(message.contains("are not shown"));
}

#[test]
fn a_hunk_is_shown_as_one() {
    let reply = "```diff\n--- a.py\n+++ a.py\n@@ ... @@\n def f():\n-    return one\n+    return two\n+\n     # end\n```\n";
    let parsed = parse(Format::Udiff, reply);
    let failed = planned(&parsed, &[("a.py", "def f():\n    return 1\n    # end\n")]).failed;
    expect![[r"
        # 1 of 1 hunks does not apply

        ## Block 1, a.py

        SEARCH is not in a.py; line 2 differs: SEARCH has `    return one`, line 2 of the file is `    return 1`; REPLACE changes that line, or adds lines beside it
        ```
         def f():
        -    return one
        +    return two
        +
             # end
        ```

        The lines of a.py that come closest, with their numbers:
        ```
            1  def f():
            2      return 1
            3      # end
        ```

        SEARCH is a hunk's kept and removed lines, REPLACE its kept and added ones. The kept and removed lines must be the file's as they are, blanks, comments and all, and must fit one place only.
        Reply with corrected versions of the parts above only.
    "]]
    .assert_eq(&explain(&parsed, &failed));
}

#[test]
fn other_blocks_are_shown_for_what_they_are() {
    let patch =
        "*** Begin Patch\n*** Delete File: no.py\n*** Add File: a.py\n+b\n*** Update File: gone.py\n*** Move to: new.py\n*** End Patch\n";
    let parsed = parse(Format::Patch, patch);
    let message = explain(&parsed, &planned(&parsed, &[("a.py", "a\n")]).failed);
    for words in ["delete the file", "```\nb\n```", "move the file to new.py", "hunks do not apply"] {
        assert!(message.contains(words), "{words}: {message}");
    }
    let parsed = parse(Format::Whole, "a.py\n```\n# ... rest of the code ...\n```\n");
    let message = explain(&parsed, &planned(&parsed, &[("a.py", "a\n")]).failed);
    assert!(message.contains("file listings does not") && message.contains("whole text"), "{message}");
}
