//! The digest of a set of items (backup format, section 12), worked out from their values.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// `<count>:<64 hex digits>` of items in canonical form.
pub fn digest<'a>(items: impl IntoIterator<Item = &'a Value>) -> String {
    let mut sum = [0u8; 32];
    let mut count = 0u64;
    for item in items {
        // Maps of serde_json are ordered by the bytes of their names, which is code point order.
        let hash = Sha256::digest(serde_json::to_vec(item).unwrap());
        let mut carry = 0u16;
        for (byte, add) in sum.iter_mut().zip(hash).rev() {
            let total = u16::from(*byte) + u16::from(add) + carry;
            *byte = (total & 0xff) as u8;
            carry = total >> 8;
        }
        count += 1;
    }
    format!("{count}:{}", super::sql::hex(&sum))
}
