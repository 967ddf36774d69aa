//! Why a block is not applied.

use serde::{Deserialize, Serialize};

use crate::guard::Gain;
use crate::ladder::Miss;
use crate::rungs::Rung;

/// The closed list of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailReason {
    /// A part of the reply that looks like an edit and could not be read, or was left out.
    Unreadable,
    /// The reply names no file for the block.
    NoPath,
    /// The path leaves the work tree, lies below `.git`, or is no path.
    BadPath,
    /// Ignore rules keep the file from being edited.
    Ignored,
    /// The file does not exist and SEARCH is not empty.
    NotFound,
    /// SEARCH is empty and the file is not.
    NotEmpty,
    /// A file stands where the reply adds one or moves one to.
    Exists,
    /// The blocks of the reply contradict each other.
    Contradiction,
    /// The file to be deleted is not what the reply shows of it, or a file is not what the model was shown.
    Differs,
    /// A listing whose file the reply does not name for certain shares too little with it.
    Doubtful,
    /// SEARCH is not in the file.
    NoMatch,
    /// SEARCH is in the file more than once.
    Ambiguous,
    /// REPLACE holds a line that stands for code left out.
    Elision,
    /// REPLACE holds a marker line of the edit format.
    Markers,
    /// The file is not UTF-8 and REPLACE has more than ASCII.
    Encoding,
    /// Not a plain text file: a directory, a link, a file with several names, binary data.
    UnsupportedFile,
    /// The file is larger than what is edited, or would become so, or takes too long to search.
    TooLarge,
}

/// Lines of a file that resemble a SEARCH text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Closest {
    /// Number of the first line, from 1, in the file with the reply's matching blocks applied.
    pub start_line: usize,
    /// At most [`paird_base::limits::CLOSEST_LINES_MAX`]; bytes that are not UTF-8 are replaced.
    pub lines: Vec<String>,
}

/// A block that is not applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Index of the block in its reply.
    pub block: usize,
    /// The file it was tried on, else the name in the reply.
    pub path: Option<String>,
    pub reason: FailReason,
    /// For people and the model: lower case, no full stop.
    pub message: String,
    /// For `no_match`, if anything in the file resembles SEARCH.
    pub closest: Option<Closest>,
    /// For `no_match`, the rung that would have found SEARCH but for what the message says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearly: Option<Rung>,
}

/// Numbers shown of a list.
const NUMBERS_SHOWN: usize = 20;

impl Miss {
    pub(crate) fn reason(&self) -> FailReason {
        match self {
            Self::NoMatch => FailReason::NoMatch,
            Self::Ambiguous(_) => FailReason::Ambiguous,
            Self::NotEmpty => FailReason::NotEmpty,
            Self::Gain(Gain::Elision(_)) => FailReason::Elision,
            Self::Gain(Gain::Marker(_)) => FailReason::Markers,
            Self::Encoding(_) => FailReason::Encoding,
            Self::Spent => FailReason::TooLarge,
        }
    }

    pub(crate) fn message(&self, path: &str) -> String {
        match self {
            Self::NoMatch => format!("SEARCH is not in {path}"),
            Self::Ambiguous(lines) => {
                let numbers: Vec<String> = lines.iter().take(NUMBERS_SHOWN).map(usize::to_string).collect();
                let more = if lines.len() > NUMBERS_SHOWN { " and more" } else { "" };
                format!(
                    "SEARCH is in {path} {} times, at lines {}{more}; add lines around it until it fits one place only",
                    lines.len(),
                    numbers.join(", ")
                )
            }
            Self::NotEmpty => format!("SEARCH is empty, but {path} exists and has content; put the lines to be changed into SEARCH"),
            Self::Gain(Gain::Elision(line)) => {
                format!("REPLACE has the line `{line}`, which SEARCH lacks and which stands for code left out; write all lines out")
            }
            Self::Gain(Gain::Marker(line)) => {
                format!("REPLACE has the line `{line}`, which would be written to {path} as text but is a marker of the edit format")
            }
            Self::Spent => format!("{path} repeats its lines so often that no more blocks can be looked for; send fewer at once"),
            Self::Encoding(line) => format!(
                "{path} is not UTF-8, and in which encoding to write `{line}` is not known; use ASCII alone, with escapes where the language has them"
            ),
        }
    }
}
