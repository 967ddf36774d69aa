//! Every example of docs/edit-formats.md is what it says.

use crate::case::run;

const PAGE: &str = include_str!("../../../../docs/edit-formats.md");
/// Examples stand between fences of four, since replies have some of three.
const FENCE: &str = "````";

#[test]
fn examples_of_the_page() {
    let mut heading = "";
    let mut example: Option<String> = None;
    let mut count = 0;
    for line in PAGE.lines() {
        match &mut example {
            Some(text) if line == FENCE => {
                run(&format!("@@ case {heading}\n{text}"));
                example = None;
                count += 1;
            }
            Some(text) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line.starts_with('#') => heading = line.trim_start_matches('#').trim(),
            None if line.starts_with(FENCE) => {
                assert_eq!(line, "````case", "an example below {heading} would not be run");
                example = Some(String::new());
            }
            None => {}
        }
    }
    assert!(example.is_none() && count >= 15, "{count} examples were run");
}

#[test]
fn the_page_names_every_rung() {
    for rung in ["exact", "trailing", "indent", "blank_edges", "elision", "already", "close", "create", "whole"] {
        let rung: paird_edit::Rung = serde_json::from_str(&format!("{rung:?}")).unwrap();
        let name = serde_json::to_string(&rung).unwrap();
        let row = format!("| `{}` | {:.2}", name.trim_matches('"'), rung.score());
        assert!(PAGE.contains(row.trim_end_matches('0')), "{row}");
    }
}
