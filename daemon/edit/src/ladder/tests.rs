//! How much is compared, counted in lines: no rung looks at more of a file than some times its length, whatever it holds.

use paird_base::limits::LINES_COMPARED_MAX;

use super::*;

/// Lines of the file and of the block that may be compared, for each of them that there is.
const TIMES_MAX: u64 = 60;

fn compared(file: &str, search: &str, replace: &str) -> (u64, u64) {
    let block = Block::new(0, None, search, replace, 1);
    let mut text = Text::read(file.as_bytes()).unwrap();
    let _ = fit(&mut text, &block, "a.rs", Claims::default());
    (text.spent(), (file.lines().count() + search.lines().count() + replace.lines().count()) as u64)
}

#[test]
fn one_block_is_placed_in_linear_time() {
    let numbered = |count: usize, word: &str| (0..count).map(|nth| format!("{word} {nth}\n")).collect::<String>();
    for size in [1_000, 4_000, 16_000] {
        let same = "    a();\n".repeat(size);
        let pairs = "    a();\n  b();\n".repeat(size);
        let spaced = "    a();\n\n\n".repeat(size);
        let many = numbered(size, "line");
        let cases = [
            ("equal lines", same.clone(), "    a();\n".repeat(size / 2), "x\n".to_owned()),
            ("equal lines and one more", same.clone(), "    a();\n".repeat(size / 2) + "b\n", "x\n".to_owned()),
            ("equal lines at another depth", same.clone(), "a();\n".repeat(size / 2), "x\n".to_owned()),
            ("uneven indentation", pairs.clone(), "a();\nb();\n".repeat(size / 2), "x\n".to_owned()),
            ("blank edges", same.clone(), format!("\n{}\n", "    a();\n".repeat(size / 2)), "x\n".to_owned()),
            ("dots", same.clone(), "    a();\n...\n".repeat(size / 2), "    b();\n...\n".repeat(size / 2)),
            ("dots in lines that are there once", many.clone(), many.replace('\n', "\n...\n"), many.replace('\n', "\n...\n")),
            ("blank lines in between", spaced, "    a();\n\n".repeat(size), "    a();\n\n".repeat(size - 1) + "x\n"),
            ("all but the last line", many.clone(), format!("{many}more\n"), many.replace("line 7\n", "x\n")),
            ("a line in a hundred", many.clone(), many.replace("00\n", "01\n"), numbered(size, "new")),
            ("near equal halves", many.clone() + &many, many.replace("line 9\n", "x\n"), numbered(size, "new")),
        ];
        for (what, file, search, replace) in cases {
            let (compared, lines) = compared(&file, &search, &replace);
            assert!(compared <= TIMES_MAX * lines, "{what}, {size}: {compared} lines compared for {lines}");
        }
    }
}

#[test]
fn many_blocks_on_lines_that_repeat_are_given_up() {
    let file = "{\n}\n".repeat(200_000);
    let mut text = Text::read(file.as_bytes()).unwrap();
    let mut given_up = 0;
    for nth in 0..2_000 {
        let block = Block::new(nth, None, format!("{}}}\n}}\n", "{\n".repeat(1 + nth % 3)), "x\n", 1);
        match fit(&mut text, &block, "a.rs", Claims::default()) {
            Err(Miss::NoMatch) => {}
            Err(Miss::Spent) => given_up += 1,
            other => panic!("{other:?}"),
        }
    }
    assert!(given_up > 0);
    assert!(text.spent() < LINES_COMPARED_MAX * 11 / 10, "{}", text.spent());
}
