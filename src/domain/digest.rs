//! The digest of a set of items: independent of their order and of the backend.
//!
//! Source: backup format, section 12: the count, and the sum modulo 2^256 of the SHA-256 of
//! each item's canonical JSON. A sum, so that two equal items do not cancel.

use sha2::{Digest as _, Sha256};

/// Count of items and sum of their hashes. `Display` is `<count>:<64 hex digits>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableDigest {
    /// Number of items.
    pub count: u64,
    /// Sum of hashes, most significant limb first.
    sum: [u64; 4],
}

impl TableDigest {
    /// Adds one item given in canonical JSON.
    pub fn add(&mut self, canonical: &[u8]) {
        let hash = Sha256::digest(canonical);
        let mut limbs = [0u64; 4];
        for (limb, chunk) in limbs.iter_mut().zip(hash.chunks_exact(8)) {
            let mut bytes = [0u8; 8];
            bytes.copy_from_slice(chunk);
            *limb = u64::from_be_bytes(bytes);
        }
        self.count += 1;
        self.add_limbs(&limbs);
    }

    /// Adds the items of another digest.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.add_limbs(&other.sum);
    }

    fn add_limbs(&mut self, other: &[u64; 4]) {
        let mut carry = 0u64;
        for i in (0..4).rev() {
            let (a, c1) = self.sum[i].overflowing_add(other[i]);
            let (b, c2) = a.overflowing_add(carry);
            self.sum[i] = b;
            carry = u64::from(c1) + u64::from(c2);
        }
    }
}

impl std::fmt::Display for TableDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d] = self.sum;
        write!(f, "{}:{a:016x}{b:016x}{c:016x}{d:016x}", self.count)
    }
}

impl std::str::FromStr for TableDigest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || format!("not a table digest: {text:?}");
        let (count, hex) = text.split_once(':').ok_or_else(bad)?;
        if hex.len() != 64 || !hex.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)) {
            return Err(bad());
        }
        let mut sum = [0u64; 4];
        for (limb, i) in sum.iter_mut().zip(0..) {
            *limb = u64::from_str_radix(&hex[i * 16..i * 16 + 16], 16).map_err(|_| bad())?;
        }
        Ok(Self { count: count.parse().map_err(|_| bad())?, sum })
    }
}

impl serde::Serialize for TableDigest {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
