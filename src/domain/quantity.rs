//! Sizes, durations and rates as people write them: `64MiB`, `15s`, `7d`, `50MiB/s`.

use std::time::Duration;

/// Units of size; a bare number is bytes.
const SIZE_UNITS: &[(&str, u64)] = &[
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Units of time in milliseconds; a bare number is seconds.
const TIME_UNITS: &[(&str, u64)] = &[
    ("ms", 1),
    ("s", 1_000),
    ("min", 60_000),
    ("m", 60_000),
    ("h", 3_600_000),
    ("d", 86_400_000),
    ("w", 7 * 86_400_000),
];

/// Reads a size in bytes.
///
/// # Errors
/// Says what was found and which units there are.
pub fn parse_size(text: &str) -> Result<u64, String> {
    parse(text, SIZE_UNITS, 1).ok_or_else(|| {
        format!("{text:?} is no size: expected a whole number and a unit, for example 67108864, 64MiB or 1GB")
    })
}

/// Reads a rate in bytes a second: a size, with or without `/s`.
///
/// # Errors
/// As [`parse_size`].
pub fn parse_rate(text: &str) -> Result<u64, String> {
    match parse_size(text.trim().strip_suffix("/s").unwrap_or(text)) {
        Ok(0) => Err("a rate of 0 bytes a second would never end".to_owned()),
        Ok(rate) => Ok(rate),
        Err(_) => Err(format!("{text:?} is no rate: expected for example 50MiB/s")),
    }
}

/// Reads a duration.
///
/// # Errors
/// Says what was found and which units there are.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    parse(text, TIME_UNITS, 1_000).map(Duration::from_millis).ok_or_else(|| {
        format!("{text:?} is no duration: expected a whole number and one of ms, s, m, h, d, w, for example 15s or 7d")
    })
}

fn parse(text: &str, units: &[(&str, u64)], bare: u64) -> Option<u64> {
    let text = text.trim();
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().ok()?;
    let unit = unit.trim_start();
    let factor = if unit.is_empty() { bare } else { units.iter().find(|(name, _)| *name == unit)?.1 };
    number.checked_mul(factor)
}

/// A size for people: `64.0 MiB`.
#[must_use]
pub fn show_size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        b if b < 1 << 10 => return format!("{b} B"),
        b if b < 1 << 20 => (1u64 << 10, "KiB"),
        b if b < 1 << 30 => (1 << 20, "MiB"),
        b if b < 1 << 40 => (1 << 30, "GiB"),
        _ => (1 << 40, "TiB"),
    };
    let tenths = u128::from(bytes) * 10 / u128::from(unit);
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

/// A duration for people: `850 ms`, `12.3 s`, `4 min 5 s`, `3 h 2 min`, `5 d 1 h`.
#[must_use]
pub fn show_duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    let s = ms / 1000;
    match s {
        0 => format!("{ms} ms"),
        1..60 => format!("{s}.{} s", ms % 1000 / 100),
        60..3600 => format!("{} min {} s", s / 60, s % 60),
        3600..86_400 => format!("{} h {} min", s / 3600, s % 3600 / 60),
        _ => format!("{} d {} h", s / 86_400, s % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_units_and_bare_bytes() {
        assert_eq!(parse_size("64MiB"), Ok(64 << 20));
        assert_eq!(parse_size("1 GB"), Ok(1_000_000_000));
        assert_eq!(parse_size("67108864"), Ok(67_108_864));
    }

    #[test]
    fn a_size_that_is_none_is_refused_with_what_was_found() {
        for text in ["", "MiB", "-1", "1.5GiB", "64mib", "99999999999TiB"] {
            assert!(parse_size(text).expect_err(text).contains(&format!("{text:?}")), "{text}");
        }
    }

    #[test]
    fn durations_take_units_and_bare_seconds() {
        assert_eq!(parse_duration("15"), Ok(Duration::from_secs(15)));
        assert_eq!(parse_duration("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_duration("7d"), Ok(Duration::from_secs(604_800)));
        assert!(parse_duration("7 fortnights").is_err());
    }

    #[test]
    fn a_rate_of_nothing_is_refused() {
        assert_eq!(parse_rate("50MiB/s"), Ok(50 << 20));
        assert!(parse_rate("0").is_err());
    }

    #[test]
    fn sizes_and_durations_read_well() {
        assert_eq!(show_size(1023), "1023 B");
        assert_eq!(show_size(64 << 20), "64.0 MiB");
        assert_eq!(show_duration(Duration::from_millis(12_340)), "12.3 s");
        assert_eq!(show_duration(Duration::from_secs(245)), "4 min 5 s");
    }
}
