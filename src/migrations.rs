//! Sole reader of the migration tree and the golden schemas that `build.rs` embeds.
