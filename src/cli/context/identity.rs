//! Who runs this: the process as claims name it, and the person as jobs record them.

use crate::domain::claim::Writer;

/// A fresh identity: a UUID, with host and process for people.
pub(super) fn this_process() -> Writer {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    Writer(format!("{}@{host}:{}", uuid::Uuid::new_v4(), std::process::id()))
}

/// The operating system's user, by name where the system knows one.
pub(super) fn principal() -> String {
    let uid = rustix::process::getuid().as_raw().to_string();
    let users = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)? == uid).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("uid {uid}"))
}
