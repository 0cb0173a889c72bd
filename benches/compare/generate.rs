//! Items that look like somebody's data and compress like it: about 2.7 to 1.

use std::fmt::Write as _;

/// A small fast generator (xorshift); the same seed, the same items.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 33) % bound
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()]
    }
}

const WORDS: &[&str] = &[
    "order",
    "delayed",
    "customer",
    "asked",
    "to",
    "leave",
    "at",
    "the",
    "door",
    "parcel",
    "weight",
    "checked",
    "by",
    "hand",
    "return",
    "label",
    "printed",
    "address",
    "corrected",
    "second",
    "attempt",
    "signature",
    "required",
    "fragile",
    "paid",
    "invoice",
    "sent",
];
const STATES: &[&str] = &["new", "paid", "packed", "shipped", "delivered", "returned"];
const CITIES: &[&str] = &["Aachen", "Bergen", "Cork", "Dijon", "Espoo", "Faro", "Graz", "Haarlem", "Izmir", "Jena"];

/// The key of the item of a number.
pub fn key(number: u64) -> (String, u64) {
    // Not in order: neither a server nor a loader gets its keys sorted.
    let scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (format!("c-{:08x}", scattered >> 32), number)
}

/// Appends the canonical JSON of an item of about 400 bytes.
pub fn small(random: &mut Random, number: u64, out: &mut String) {
    let (customer, order) = key(number);
    let (a, b) = (random.next(), random.next());
    write!(
        out,
        "{{\"amount\":{{\"N\":\"{}.{}\"}},\"city\":{{\"S\":\"{}\"}},\"created\":{{\"S\":\"2026-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z\"}},\
         \"customer\":{{\"S\":\"{customer}\"}},\"note\":{{\"S\":\"{} {} {} {} {}\"}},\"order\":{{\"N\":\"{order}\"}},\
         \"paid\":{{\"BOOL\":{}}},\"state\":{{\"S\":\"{}\"}},\"token\":{{\"S\":\"{a:016x}{b:016x}\"}},\"weights\":{{\"L\":[{{\"N\":\"{}\"}},{{\"N\":\"{}\"}}]}}}}",
        random.below(900) + 1,
        random.below(9) + 1,
        random.pick(CITIES),
        random.below(12) + 1,
        random.below(28) + 1,
        random.below(24),
        random.below(60),
        random.below(60),
        random.below(1000),
        random.pick(WORDS),
        random.pick(WORDS),
        random.pick(WORDS),
        random.pick(WORDS),
        random.pick(WORDS),
        random.below(2) == 0,
        random.pick(STATES),
        random.below(5000) + 1,
        random.below(5000) + 1,
    )
    .expect("a String takes everything");
}

/// Appends the canonical JSON of an item of about 100 KB.
pub fn large(random: &mut Random, number: u64, out: &mut String) {
    let (customer, order) = key(number);
    write!(out, "{{\"customer\":{{\"S\":\"{customer}\"}},\"lines\":{{\"L\":[").expect("a String takes everything");
    let end = out.len() + 100_000;
    while out.len() < end {
        let token = random.next();
        write!(
            out,
            "{{\"M\":{{\"sku\":{{\"S\":\"{token:016x}\"}},\"text\":{{\"S\":\"{} {} {}\"}},\"units\":{{\"N\":\"{}\"}}}}}},",
            random.pick(WORDS),
            random.pick(WORDS),
            random.pick(WORDS),
            random.below(5000) + 1
        )
        .expect("a String takes everything");
    }
    out.pop();
    write!(out, "]}},\"order\":{{\"N\":\"{order}\"}}}}").expect("a String takes everything");
}

/// A way to write the item of a number.
pub type Item = fn(&mut Random, u64, &mut String);
