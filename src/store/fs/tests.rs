//! The filesystem store: atomic puts, links, deletions, identity.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use super::*;

fn key(text: &str) -> Key {
    Key::new(text).expect("a valid key")
}

async fn put(store: &FsStore, at: &str, body: &str) -> Result<()> {
    let mut writer = store.put(&key(at)).await?;
    writer.write(Bytes::from(body.to_owned())).await?;
    writer.finish().await
}

async fn read(store: &FsStore, at: &str) -> Result<String> {
    let mut reader = store.get(&key(at)).await?;
    let mut out = Vec::new();
    while let Some(bytes) = reader.next().await? {
        out.extend_from_slice(&bytes);
    }
    Ok(String::from_utf8(out).expect("UTF-8"))
}

fn store() -> (tempfile::TempDir, FsStore) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let store = FsStore::open(dir.path()).expect("a store");
    (dir, store)
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root).expect("readable") {
        let path = entry.expect("readable").path();
        found.push(path.strip_prefix(root).expect("below").to_string_lossy().into_owned());
        if path.is_dir() && !path.is_symlink() {
            let name = path.file_name().expect("named").to_string_lossy().into_owned();
            found.extend(files(&path).into_iter().map(|f| format!("{name}/{f}")));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_put_object_is_read_back_and_private() {
    let (dir, store) = store();
    put(&store, "a/b/c/data/1", "hello").await.expect("written");
    assert_eq!(read(&store, "a/b/c/data/1").await.expect("read"), "hello");
    assert_eq!(store.head(&key("a/b/c/data/1")).await.expect("head").expect("there").size_bytes, 5);
    let mode = |path: &str| std::fs::metadata(dir.path().join(path)).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode("a/b"), 0o700);
    assert_eq!(mode("a/b/c/data/1"), 0o600);
    put(&store, "a/b/c/data/1", "replaced").await.expect("written");
    assert_eq!(read(&store, "a/b/c/data/1").await.expect("read"), "replaced");
}

#[tokio::test]
async fn an_unfinished_or_aborted_put_leaves_nothing_under_the_key() {
    let (dir, store) = store();
    let mut writer = store.put(&key("a/b/c/x")).await.expect("begun");
    writer.write(Bytes::from_static(b"half")).await.expect("written");
    assert!(store.list("").await.expect("listed").is_empty(), "temporaries are hidden");
    assert!(matches!(store.oddities("a").await.expect("listed")[..], [Oddity::Temporary(_)]));
    drop(writer);
    store.put(&key("a/b/c/y")).await.expect("begun").abort().await.expect("aborted");
    assert_eq!(files(dir.path()), ["a", "a/b", "a/b/c"]);
    assert_eq!(store.get(&key("a/b/c/x")).await.err().expect("absent").kind, ErrorKind::NotFound);
}

#[tokio::test]
async fn an_exclusive_create_never_replaces() {
    let (dir, store) = store();
    let record = key("a/b/c/record");
    let create = |body: &'static str| store.create(&record, Bytes::from_static(body.as_bytes()));
    assert_eq!(create("first").await.expect("created"), Created::Yes);
    assert_eq!(create("second").await.expect("answered"), Created::Exists);
    assert_eq!(read(&store, "a/b/c/record").await.expect("read"), "first");
    assert_eq!(files(dir.path()).len(), 4, "no temporary is left");
    assert_eq!(std::fs::metadata(dir.path().join("a/b/c/record")).expect("there").nlink(), 1);
}

#[tokio::test]
async fn links_are_refused_wherever_they_stand() {
    let (dir, store) = store();
    put(&store, "a/b/c/real", "x").await.expect("written");
    put(&store, "outside/o/o/x", "secret").await.expect("written");
    symlink(dir.path().join("a/b/c/real"), dir.path().join("a/b/c/link")).expect("linked");
    symlink(dir.path().join("outside"), dir.path().join("a/b/d")).expect("linked");
    let denied = |e: Error| assert_eq!(e.kind, ErrorKind::PermissionDenied, "{e}");
    for at in ["a/b/c/link", "a/b/d/o/o/x"] {
        denied(store.get(&key(at)).await.err().expect("refused"));
        denied(store.head(&key(at)).await.expect_err("refused"));
        denied(put(&store, at, "y").await.expect_err("refused"));
        denied(store.create(&key(at), Bytes::new()).await.expect_err("refused"));
    }
    denied(store.delete_prefix(&key("a/b/d")).await.expect_err("refused"));
    denied(store.delete_prefix(&key("a/b/d/o")).await.expect_err("refused"));
    let listed: Vec<_> = store.list("a").await.expect("listed").into_iter().map(|o| o.key.to_string()).collect();
    assert_eq!(listed, ["a/b/c/real"]);
    assert_eq!(store.children("a/b").await.expect("listed"), ["c"]);
    let odd = store.oddities("a").await.expect("listed");
    assert_eq!(odd, [Oddity::Link("a/b/c/link".into()), Oddity::Link("a/b/d".into())]);
    assert_eq!(store.oddities("a/b/d").await.expect("listed"), [Oddity::Link("a/b/d".into())]);
    assert_eq!(store.delete_prefix(&key("a/b/c")).await.expect("deleted"), 2);
    assert_eq!(read(&store, "outside/o/o/x").await.expect("still there"), "secret");
}

#[tokio::test]
async fn deleting_a_prefix_takes_what_it_emptied_and_no_more() {
    let (dir, store) = store();
    for at in ["a/t/1/data/1", "a/t/1/record", "a/t/10/record", "a/u/1/record"] {
        put(&store, at, "x").await.expect("written");
    }
    std::mem::forget(store.put(&key("a/t/1/data/2")).await.expect("begun"));
    assert_eq!(store.delete_prefix(&key("a/t/1")).await.expect("deleted"), 3);
    assert_eq!(store.delete_prefix(&key("a/t/1")).await.expect("nothing left"), 0);
    assert_eq!(files(dir.path()), ["a", "a/t", "a/t/10", "a/t/10/record", "a/u", "a/u/1", "a/u/1/record"]);
    assert_eq!(store.delete_prefix(&key("a/t/10")).await.expect("deleted"), 1);
    assert_eq!(files(dir.path()), ["a", "a/u", "a/u/1", "a/u/1/record"]);
    for short in ["a", "a/u"] {
        assert_eq!(store.delete_prefix(&key(short)).await.expect_err("refused").kind, ErrorKind::InvalidKey);
    }
    assert_eq!(store.delete_prefix(&key("a/u/1")).await.expect("deleted"), 1);
    assert!(files(dir.path()).is_empty());
}

#[tokio::test]
async fn listings_are_in_key_order_and_by_component() {
    let (_dir, store) = store();
    for at in ["a/b/c/x", "a/b-c/x", "a/b.c/x", "a/bc/x", "a/b/c", "a/b0/x"] {
        if at != "a/b/c" {
            put(&store, at, "x").await.expect("written");
        }
    }
    let list = async |prefix: &str| -> Vec<String> {
        store.list(prefix).await.expect("listed").into_iter().map(|o| o.key.to_string()).collect()
    };
    assert_eq!(list("").await, ["a/b-c/x", "a/b.c/x", "a/b/c/x", "a/b0/x", "a/bc/x"]);
    assert_eq!(list("a/b").await, ["a/b/c/x"]);
    assert_eq!(list("a/b/").await, ["a/b/c/x"]);
    assert_eq!(list("a/b/c/x").await, ["a/b/c/x"]);
    assert!(list("a/b/c/x/y").await.is_empty());
    assert!(list("nothing").await.is_empty());
    assert_eq!(store.list("/").await.expect_err("invalid").kind, ErrorKind::InvalidKey);
    assert_eq!(store.list("a//b").await.expect_err("invalid").kind, ErrorKind::InvalidKey);
}

#[tokio::test]
async fn a_file_in_place_of_a_directory_is_an_error_to_write_and_nothing_to_read() {
    let (_dir, store) = store();
    put(&store, "a/b/c", "x").await.expect("written");
    assert_eq!(put(&store, "a/b/c/d", "x").await.expect_err("refused").kind, ErrorKind::Io);
    assert_eq!(put(&store, "a/b", "x").await.expect_err("refused").kind, ErrorKind::Io);
    assert_eq!(store.get(&key("a/b/c/d")).await.err().expect("absent").kind, ErrorKind::NotFound);
    assert_eq!(store.head(&key("a/b/c/d")).await.expect("answered"), None);
    assert_eq!(store.head(&key("a/b")).await.expect("answered"), None);
}

#[tokio::test]
async fn an_identity_is_made_once_and_a_strange_directory_only_on_request() {
    let (dir, store) = store();
    assert_eq!(store.identity().await.expect("answered"), None);
    let first = store.initialise(false).await.expect("made");
    assert_eq!(store.initialise(true).await.expect("kept"), first);
    assert_eq!(store.identity().await.expect("read"), Some(first.clone()));
    assert_eq!((first.kind.as_str(), first.root), ("filesystem", store.root()));
    let path = dir.path().join("extenddb-store.json");
    for bad in [
        "{",
        r#"{"format_version":2,"store_id":"x","created_at":1.0}"#,
        r#"{"format_version":1,"store_id":"X","created_at":1.0}"#,
    ] {
        std::fs::write(&path, bad).expect("written");
        assert_eq!(store.identity().await.expect_err("refused").kind, ErrorKind::BadIdentity);
    }
    std::fs::remove_file(&path).expect("removed");
    put(&store, "a/b/c", "x").await.expect("written");
    assert_eq!(store.initialise(false).await.expect_err("refused").kind, ErrorKind::NotEmpty);
    store.initialise(true).await.expect("adopted");
}

#[tokio::test]
async fn a_root_must_be_a_directory_and_usable() {
    let (dir, store) = store();
    store.validate().await.expect("usable");
    assert!(files(dir.path()).is_empty(), "the probe is removed");
    assert_eq!(FsStore::open(dir.path().join("none")).expect_err("refused").kind, ErrorKind::Config);
    std::fs::write(dir.path().join("file"), "x").expect("written");
    assert_eq!(FsStore::open(dir.path().join("file")).expect_err("refused").kind, ErrorKind::Config);
    symlink(dir.path(), dir.path().join("way")).expect("linked");
    FsStore::open(dir.path().join("way")).expect("the root may be reached through a link");
}

#[tokio::test]
async fn the_registry_opens_it_and_names_what_it_lacks() {
    let (dir, _store) = store();
    let by = |text: &str| crate::store::registry::by_location(text).expect("a location");
    let path = dir.path().to_str().expect("UTF-8");
    let opened = crate::store::registry::open(by(path)).await.expect("opened");
    assert_eq!(opened.kind(), "filesystem");
    let refused = crate::store::registry::open(by("s3://bucket/prefix")).await.err().expect("refused");
    assert_eq!(refused.kind, ErrorKind::Config);
    assert!(refused.to_string().contains("s3"), "{refused}");
    let mut odd = by(path);
    odd.bucket = Some("b".into());
    assert!(crate::store::registry::open(odd).await.err().expect("refused").to_string().contains("bucket"));
}
