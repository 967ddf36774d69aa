//! Every example of docs/edit-formats.md and docs/differences.md is what it says.

use crate::case::run;

const FORMATS: &str = include_str!("../../../../docs/edit-formats.md");
const DIFFERENCES: &str = include_str!("../../../../docs/differences.md");
/// Examples stand between fences of four or five, since replies have some of three or four.
const FENCES: [&str; 2] = ["`````", "````"];

#[test]
fn examples_of_the_formats() {
    run_examples(FORMATS, 30);
}

#[test]
fn examples_of_the_differences() {
    run_examples(DIFFERENCES, 14);
}

fn run_examples(page: &str, at_least: usize) {
    let mut heading = "";
    let mut example: Option<(&str, String)> = None;
    let mut count = 0;
    for line in page.lines() {
        match &mut example {
            Some((fence, text)) if line == *fence => {
                run(&format!("@@ case {heading}\n{text}"));
                example = None;
                count += 1;
            }
            Some((_, text)) => {
                text.push_str(line);
                text.push('\n');
            }
            None if line.starts_with('#') => heading = line.trim_start_matches('#').trim(),
            None => {
                if let Some(fence) = FENCES.iter().find(|fence| line.starts_with(**fence)) {
                    assert_eq!(&line[fence.len()..], "case", "an example below {heading} would not be run");
                    example = Some((fence, String::new()));
                }
            }
        }
    }
    assert!(example.is_none() && count >= at_least, "{count} examples were run");
}

#[test]
fn the_page_names_every_rung() {
    for rung in ["exact", "trailing", "indent", "blank_edges", "elision", "already", "close", "create", "whole"] {
        let rung: paird_edit::Rung = serde_json::from_str(&format!("{rung:?}")).unwrap();
        let name = serde_json::to_string(&rung).unwrap();
        let row = format!("| `{}` | {:.2}", name.trim_matches('"'), rung.score());
        assert!(FORMATS.contains(row.trim_end_matches('0')), "{row}");
    }
}
