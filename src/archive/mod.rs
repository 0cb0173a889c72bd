//! The portable backup: data files, the two export manifests, the commit record.
