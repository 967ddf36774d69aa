//! Names of the things that clients pass back to us.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[doc = $doc:literal])+ $name:ident = $prefix:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// A fresh one: 60 random bits behind a letter that tells what it names.
            #[must_use]
            pub fn fresh() -> Self {
                Self(format!(concat!($prefix, "{}"), paird_base::random_id(12)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

ids! {
    /// A chat.
    SessionId = "s";
    /// One turn of a chat.
    TurnId = "t";
    /// One reply's change of one file.
    EditId = "e";
    /// A decision that a person must make.
    QuestionId = "q";
}
