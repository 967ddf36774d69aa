//! SEARCH is nowhere; is it because the block's work is done?
//!
//! Only a REPLACE with words that stands in one place proves that. One that is a part of SEARCH must be all of the file.

use super::Place;
use crate::block::Split;
use crate::index::Level;
use crate::lines::{Text, split_lines};

pub(crate) fn already(text: &mut Text<'_>, split: &Split<'_>) -> Option<Place> {
    let replace: Vec<&[u8]> = split_lines(split.replace.as_bytes()).collect();
    let part_of_search = || format!("\n{}", split.search).contains(&format!("\n{}", split.replace));
    if !split.replace.contains(char::is_alphanumeric) || replace.len() != text.len() && part_of_search() {
        return None;
    }
    match text.find(Level::Trailing, &replace, 2)[..] {
        [at] => Some(Place::plain(at, replace.len())),
        _ => None,
    }
}
