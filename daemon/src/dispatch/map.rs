use jsonrpsee::core::RegisterMethodError;
use paird_base::Tokens;
use paird_base::limits::MAP_TOKENS_DEFAULT;
use paird_protocol::MapGetResult;
use paird_protocol::methods::MapGet;

use super::{Module, edit, method};
use crate::session::Listing;

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<MapGet, _, _>(module, |daemon, _, params| async move {
        let budget = Tokens(params.tokens.unwrap_or(MAP_TOKENS_DEFAULT));
        let listing = edit::blocking(move || Ok(Listing::of(daemon.tree.files()?, budget))).await?;
        Ok(MapGetResult { text: listing.text, tokens: listing.tokens.0, complete: listing.complete })
    })
}
