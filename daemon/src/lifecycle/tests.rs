use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Barrier;

use paird_protocol::address::SOCKET_PATH_BYTES_MAX;

use super::*;
use crate::transport::{BindError, Listener};

fn address(directory: &Path) -> Address {
    Address::named(directory.join("d.sock")).unwrap()
}

#[tokio::test]
async fn of_two_daemons_one_serves() {
    let directory = tempfile::tempdir().unwrap();
    let address = address(directory.path());
    let runtime = tokio::runtime::Handle::current();
    for round in 0..50 {
        if round > 0 {
            // What kill -9 leaves behind.
            drop(UnixListener::bind(&address.socket).unwrap());
        }
        let barrier = Barrier::new(4);
        let results: Vec<Result<(DaemonLock, Listener), LockError>> = std::thread::scope(|scope| {
            let starter = || {
                let _runtime = runtime.enter();
                barrier.wait();
                let lock = DaemonLock::acquire(&address)?;
                let listener = Listener::bind(&address, &lock).unwrap();
                Ok((lock, listener))
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(starter)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let serving = results.iter().filter(|result| result.is_ok()).count();
        assert_eq!(serving, 1, "round {round}");
        assert!(results.iter().filter_map(|result| result.as_ref().err()).all(|error| matches!(error, LockError::AlreadyRunning { .. })));
        assert!(UnixStream::connect(&address.socket).is_ok(), "the winner's socket is there");
        drop(results);
        assert!(!address.socket.exists());
    }
}

#[tokio::test]
async fn a_claim_gives_way_to_one_that_serves_and_outlasts_one_that_stops() {
    let directory = tempfile::tempdir().unwrap();
    let address = address(directory.path());
    let lock = DaemonLock::claim(&address, Duration::ZERO).await.unwrap();
    assert!(matches!(DaemonLock::claim(&address, Duration::ZERO).await, Err(LockError::AlreadyRunning { .. })));
    let listener = Listener::bind(&address, &lock).unwrap();
    assert!(matches!(DaemonLock::claim(&address, Duration::from_secs(3600)).await, Err(LockError::AlreadyRunning { .. })));
    drop(listener);
    let next = tokio::spawn({
        let address = address.clone();
        async move { DaemonLock::claim(&address, Duration::from_secs(60)).await }
    });
    tokio::task::yield_now().await;
    drop(lock);
    next.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_work_tree_has_one_daemon_on_whatever_socket() {
    let directory = tempfile::tempdir().unwrap();
    let (state, root) = (directory.path(), Path::new("/some/tree"));
    let first = TreeLock::claim(root, state, Duration::ZERO).await.unwrap();
    // It has not said where it serves, so it may still be starting.
    assert!(matches!(TreeLock::claim(root, state, Duration::ZERO).await, Err(LockError::TreeHeld { .. })));
    let address = address(directory.path());
    let listener = UnixListener::bind(&address.socket).unwrap();
    first.serves(&address).unwrap();
    let error = TreeLock::claim(root, state, Duration::from_secs(3600)).await.unwrap_err();
    assert!(matches!(&error, LockError::TreeServed { socket, .. } if *socket == address.socket), "{error}");
    drop(listener);
    assert!(matches!(TreeLock::claim(root, state, Duration::ZERO).await, Err(LockError::TreeHeld { .. })));
    drop(first);
    let _next = TreeLock::claim(root, state, Duration::ZERO).await.unwrap();
    assert_eq!(std::fs::read(address::tree_lock(state)).unwrap(), b"", "what the dead one said is forgotten");
}

#[tokio::test]
async fn only_a_dead_socket_of_ours_is_removed() {
    let directory = tempfile::tempdir().unwrap();
    let address = address(directory.path());
    let lock = DaemonLock::acquire(&address).unwrap();
    let bind = || Listener::bind(&address, &lock);

    std::fs::write(&address.socket, "precious").unwrap();
    assert!(matches!(bind(), Err(BindError::NotASocket { .. })));
    assert_eq!(std::fs::read_to_string(&address.socket).unwrap(), "precious");
    std::fs::remove_file(&address.socket).unwrap();

    let elsewhere = directory.path().join("elsewhere.sock");
    drop(UnixListener::bind(&elsewhere).unwrap());
    symlink(&elsewhere, &address.socket).unwrap();
    assert!(matches!(bind(), Err(BindError::NotASocket { .. })));
    assert!(elsewhere.symlink_metadata().is_ok());
    std::fs::remove_file(&address.socket).unwrap();

    let alive = UnixListener::bind(&address.socket).unwrap();
    assert!(matches!(bind(), Err(BindError::Taken { .. })));
    drop(alive);
    let listener = bind().unwrap();

    // Somebody took the path meanwhile: it is theirs.
    std::fs::remove_file(&address.socket).unwrap();
    std::fs::write(&address.socket, "theirs").unwrap();
    drop(listener);
    assert!(address.socket.exists());

    let other = Address::named(directory.path().join("other.sock")).unwrap();
    assert!(matches!(Listener::bind(&other, &lock), Err(BindError::OtherLock { .. })));
}

#[test]
fn a_lock_file_that_is_a_link_or_a_pipe_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let address = address(directory.path());
    let target = directory.path().join("target");
    symlink(&target, address.daemon_lock()).unwrap();
    assert!(matches!(DaemonLock::acquire(&address), Err(LockError::Open { .. })));
    assert!(!target.exists());
    std::fs::remove_file(address.daemon_lock()).unwrap();
    rustix::fs::mknodat(CWD, address.daemon_lock(), rustix::fs::FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    assert!(matches!(DaemonLock::acquire(&address), Err(LockError::NotOurs { .. })));
}

#[test]
fn the_directory_is_made_private_and_must_be() {
    let scratch = tempfile::tempdir().unwrap();
    let own = scratch.path().join("paird");
    let address = Address { socket: own.join("d.sock"), own_directory: true };
    drop(DaemonLock::acquire(&address).unwrap());
    assert_eq!(own.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(address.daemon_lock().metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let why = |error: LockError| error.to_string();
    std::fs::set_permissions(&own, PermissionsExt::from_mode(0o750)).unwrap();
    let error = why(DaemonLock::acquire(&address).unwrap_err());
    assert!(error.contains("open to others (mode 750)"), "{error}");

    std::fs::remove_dir_all(&own).unwrap();
    let real = scratch.path().join("real");
    std::fs::DirBuilder::new().mode(0o700).create(&real).unwrap();
    symlink(&real, &own).unwrap();
    let error = why(DaemonLock::acquire(&address).unwrap_err());
    assert!(error.contains("not a directory"), "{error}");

    let missing = Address { socket: scratch.path().join("no/such/d.sock"), own_directory: true };
    assert!(matches!(DaemonLock::acquire(&missing), Err(LockError::Directory(DirectoryError::Create { .. }))));
    let uid = rustix::process::geteuid().as_raw();
    std::fs::remove_file(&own).unwrap();
    std::fs::DirBuilder::new().mode(0o700).create(&own).unwrap();
    let error = address.prepare_directory(uid + 1).unwrap_err().to_string();
    assert!(error.contains("belongs to user"), "{error}");
}

#[tokio::test]
async fn the_longest_path_can_be_bound() {
    let scratch = tempfile::tempdir().unwrap();
    let room = SOCKET_PATH_BYTES_MAX - scratch.path().as_os_str().len() - 1;
    let address = Address::named(scratch.path().join(format!("{}.sock", "x".repeat(room - 5)))).unwrap();
    let lock = DaemonLock::acquire(&address).unwrap();
    Listener::bind(&address, &lock).unwrap();
}
