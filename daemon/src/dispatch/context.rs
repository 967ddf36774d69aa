use jsonrpsee::core::RegisterMethodError;
use paird_protocol::ContextListResult;
use paird_protocol::methods::{ContextAdd, ContextDrop, ContextList};

use super::{Fault, Module, from_wire, method, session, to_wire};
use crate::session::{Error, Owner};

pub(super) fn register(module: &mut Module) -> Result<(), RegisterMethodError> {
    method::<ContextList, _, _>(module, |daemon, _, params| async move {
        let session = session::find(&daemon, params.session_id).await?;
        Ok(session.call(listing).await?)
    })?;
    method::<ContextAdd, _, _>(module, |daemon, _, params| async move {
        let session = session::find(&daemon, params.session_id).await?;
        let paths = from_wire::chat_files(&daemon, &params.paths)?;
        let read_only = params.read_only;
        Ok(session.call(move |o| o.add_files(&paths, read_only).map(|_| listing(o))).await??)
    })?;
    method::<ContextDrop, _, _>(module, |daemon, _, params| async move {
        let session = session::find(&daemon, params.session_id).await?;
        let paths = params.paths.as_deref().map(from_wire::paths).transpose()?;
        let dropped = move |o: &mut Owner| o.drop_files(paths.as_deref()).map(|_| listing(o));
        let listing = session.call(dropped).await?;
        listing.map_err(|error: Error| Fault::from(error).hint("context/list has the exact names; nothing was dropped"))
    })
}

fn listing(owner: &mut Owner) -> ContextListResult {
    ContextListResult { files: to_wire::names(&owner.state.files), read_only: to_wire::names(&owner.state.read_only), seq: owner.seq() }
}
