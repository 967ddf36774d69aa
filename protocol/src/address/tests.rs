use super::*;

fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<OsString> + 'a {
    move |name| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
}

fn key() -> WorkTreeKey {
    WorkTreeKey::of(Path::new("/home/me/project"))
}

#[test]
fn the_key_is_the_head_of_the_digest() {
    // printf /abc | sha256sum
    assert_eq!(WorkTreeKey::of(Path::new("/abc")).as_str(), "aaaea3613df9");
    assert_ne!(key(), WorkTreeKey::of(Path::new("/home/me/project2")));
}

#[test]
fn the_socket_lies_in_the_run_time_directory_else_in_tmp() {
    let at = |pairs: &[(&str, &str)]| Address::of(&key(), &environment(pairs), 1000).unwrap();
    let name = format!("{}.sock", key());
    assert_eq!(at(&[("XDG_RUNTIME_DIR", "/run/user/1000")]).socket, Path::new("/run/user/1000/paird").join(&name));
    let fallback = Path::new("/tmp/paird-1000").join(&name);
    assert_eq!(at(&[]).socket, fallback);
    assert_eq!(at(&[("XDG_RUNTIME_DIR", "run")]).socket, fallback);
    assert_eq!(at(&[("XDG_RUNTIME_DIR", &format!("/{}", "x".repeat(90)))]).socket, fallback);
    assert!(at(&[]).own_directory);
}

#[test]
fn the_override_wins_and_must_be_usable() {
    let of = |value: &str| Address::of(&key(), &environment(&[(SOCKET_VARIABLE, value), ("XDG_RUNTIME_DIR", "/run")]), 1);
    let address = of("/x/d.sock").unwrap();
    assert_eq!((address.socket.to_str(), address.own_directory), (Some("/x/d.sock"), false));
    assert_eq!(address.daemon_lock(), Path::new("/x/d.lock"));
    assert_eq!(address.start_lock(), Path::new("/x/d.start.lock"));
    assert!(of("").unwrap().own_directory);
    assert_eq!(of("d.sock"), Err(AddressError::Relative { path: "d.sock".into() }));
    let longest = format!("/{}", "x".repeat(SOCKET_PATH_BYTES_MAX - 1));
    assert_eq!(of(&longest).unwrap().socket, Path::new(&longest));
    let error = of(&format!("{longest}x")).unwrap_err().to_string();
    assert!(error.contains(SOCKET_VARIABLE), "{error}");
}

#[test]
fn files_lie_where_xdg_says() {
    let home = [("HOME", "/home/me")];
    assert_eq!(state_dir(&key(), &environment(&home)).unwrap(), Path::new("/home/me/.local/state/paird").join(key().as_str()));
    assert_eq!(cache_dir(&environment(&home)).unwrap(), Path::new("/home/me/.cache/paird"));
    assert_eq!(config_dir(&environment(&home)).unwrap(), Path::new("/home/me/.config/paird"));
    assert_eq!(cache_dir(&environment(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")])).unwrap(), Path::new("/c/paird"));
    assert_eq!(cache_dir(&environment(&[])), Err(AddressError::NoHome { variable: "XDG_CACHE_HOME" }));
}
