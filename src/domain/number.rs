//! Numbers: validation, normalized decimal text, and the SQLite number-key text.
//!
//! Sources: backup format, section 7 (limits and normalized text); SQLite data layout, section 4
//! (number-key text, whose byte order is the numeric order).

/// Most significant digits of a number.
pub const MAX_DIGITS: usize = 38;

/// Largest decimal exponent `E` of `0.d1…dk × 10^E`: magnitudes stay below 1E126.
const MAX_E: i64 = 126;
/// Smallest `E`: magnitudes from 1E-130.
const MIN_E: i64 = -129;
/// Added to `E` in number-key text, so that it stays positive.
const BIAS: i64 = 100_000;

/// Why a text is not a number that ExtendDB holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberError {
    /// Not of the form of a number.
    #[error("not a number")]
    Form,
    /// The exponent does not fit in 32 bits.
    #[error("exponent out of range")]
    Exponent,
    /// More than 38 significant digits.
    #[error("more than 38 significant digits")]
    Digits,
    /// Magnitude of 1E126 or above.
    #[error("magnitude above 9.99…E+125")]
    TooLarge,
    /// Magnitude below 1E-130.
    #[error("magnitude below 1E-130")]
    TooSmall,
}

/// A number taken apart: `± 0.d1…dk × 10^E` with `d1` and `dk` not zero; zero has no digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    len: u8,
    /// ASCII digits.
    digits: [u8; MAX_DIGITS],
    e: i64,
}

impl Decimal {
    /// Parses: optional sign, digits with at most one point and at least one digit, optional exponent.
    ///
    /// # Errors
    /// See [`NumberError`].
    pub fn parse(text: &[u8]) -> Result<Self, NumberError> {
        let (negative, rest) = match text.first() {
            Some(b'-') => (true, &text[1..]),
            Some(b'+') => (false, &text[1..]),
            _ => (false, text),
        };
        let mut out = Self { negative, len: 0, digits: [b'0'; MAX_DIGITS], e: 0 };
        let (mantissa, exponent) = match rest.iter().position(|b| matches!(b, b'e' | b'E')) {
            Some(at) => (&rest[..at], parse_exponent(&rest[at + 1..])?),
            None => (rest, 0),
        };
        let mut any = false;
        let mut point: Option<i64> = None;
        // Digits before the point, counted from the first that is not zero; negative for zeros after it.
        let mut significant = 0usize;
        let mut pending_zeros = 0usize;
        let mut whole = 0i64;
        let mut leading_fraction_zeros = 0i64;
        for &b in mantissa {
            match b {
                b'0'..=b'9' => {
                    any = true;
                    if b == b'0' && significant == 0 {
                        if point.is_some() {
                            leading_fraction_zeros += 1;
                        }
                        continue;
                    }
                    if point.is_none() {
                        whole += 1;
                    }
                    if b == b'0' {
                        pending_zeros += 1;
                        significant += 1;
                        continue;
                    }
                    significant += 1;
                    let at = usize::from(out.len) + pending_zeros;
                    if at >= MAX_DIGITS {
                        // Remember that there are too many; the form must still be checked to its end.
                        out.len = u8::MAX;
                        pending_zeros = 0;
                        continue;
                    }
                    out.digits[at] = b;
                    out.len = u8::try_from(at + 1).expect("at most 38");
                    pending_zeros = 0;
                }
                b'.' if point.is_none() => point = Some(whole),
                _ => return Err(NumberError::Form),
            }
        }
        if !any {
            return Err(NumberError::Form);
        }
        if out.len == 0 {
            return Ok(Self { negative: false, e: 0, ..out });
        }
        out.e = if whole > 0 { whole } else { -leading_fraction_zeros } + exponent;
        if out.len == u8::MAX {
            return Err(NumberError::Digits);
        }
        out.check_magnitude()
    }

    fn check_magnitude(self) -> Result<Self, NumberError> {
        if self.e > MAX_E {
            return Err(NumberError::TooLarge);
        }
        if self.e < MIN_E {
            return Err(NumberError::TooSmall);
        }
        Ok(self)
    }

    fn digits(&self) -> &[u8] {
        &self.digits[..usize::from(self.len)]
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.len == 0
    }

    /// Number of significant digits; zero has none.
    #[must_use]
    pub fn significant_digits(&self) -> u32 {
        u32::from(self.len)
    }

    /// Appends the normalized decimal text: no exponent, no superfluous zeros, no sign on zero.
    pub fn write_normalized(&self, out: &mut Vec<u8>) {
        let digits = self.digits();
        if digits.is_empty() {
            out.push(b'0');
            return;
        }
        if self.negative {
            out.push(b'-');
        }
        let len = i64::from(self.len);
        let zeros = |count: i64| std::iter::repeat_n(b'0', usize::try_from(count).unwrap_or(0));
        if self.e <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(zeros(-self.e));
            out.extend_from_slice(digits);
        } else if self.e >= len {
            out.extend_from_slice(digits);
            out.extend(zeros(self.e - len));
        } else {
            let (whole, fraction) = digits.split_at(usize::try_from(self.e).unwrap_or(0));
            out.extend_from_slice(whole);
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }

    /// The SQLite number-key text, whose byte order is the numeric order.
    #[must_use]
    pub fn number_key(&self) -> String {
        if self.is_zero() {
            return "1".to_owned();
        }
        let mut out = String::with_capacity(8 + usize::from(self.len));
        let digits = self.digits().iter();
        if self.negative {
            out.push_str(&format!("0{:06}", BIAS - self.e));
            out.extend(digits.map(|d| char::from(b'9' - (d - b'0'))));
            out.push(':');
        } else {
            out.push_str(&format!("2{:06}", BIAS + self.e));
            out.extend(digits.map(|&d| char::from(d)));
        }
        out
    }

    /// Reads number-key text back.
    ///
    /// # Errors
    /// A text that [`Decimal::number_key`] does not write is damage.
    pub fn from_number_key(text: &str) -> Result<Self, String> {
        let damage = || format!("{text:?} is not number-key text");
        let zero = Self { negative: false, len: 0, digits: [b'0'; MAX_DIGITS], e: 0 };
        if text == "1" {
            return Ok(zero);
        }
        let bytes = text.as_bytes();
        if bytes.len() < 8 || !bytes[1..7].iter().all(u8::is_ascii_digit) {
            return Err(damage());
        }
        let biased: i64 = text[1..7].parse().map_err(|_| damage())?;
        let (negative, e, body) = match bytes[0] {
            b'2' => (false, biased - BIAS, &bytes[7..]),
            b'0' => (true, BIAS - biased, bytes[7..].strip_suffix(b":").ok_or_else(damage)?),
            _ => return Err(damage()),
        };
        if body.is_empty() || body.len() > MAX_DIGITS || !body.iter().all(u8::is_ascii_digit) {
            return Err(damage());
        }
        let mut out = Self { negative, len: u8::try_from(body.len()).map_err(|_| damage())?, e, ..zero };
        for (to, &from) in out.digits.iter_mut().zip(body) {
            *to = if negative { b'9' - (from - b'0') } else { from };
        }
        if out.digits().first() == Some(&b'0') || out.digits().last() == Some(&b'0') {
            return Err(damage());
        }
        out.check_magnitude().map_err(|_| damage())
    }
}

impl std::fmt::Display for Decimal {
    /// Normalized decimal text.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::with_capacity(40);
        self.write_normalized(&mut out);
        f.write_str(std::str::from_utf8(&out).expect("digits, point and sign are ASCII"))
    }
}

fn parse_exponent(text: &[u8]) -> Result<i64, NumberError> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Form);
    }
    let mut value = 0i64;
    for &b in digits {
        value = (value * 10 + i64::from(b - b'0')).min(1 << 40);
    }
    if value > i64::from(i32::MAX) {
        return Err(NumberError::Exponent);
    }
    Ok(if negative { -value } else { value })
}

/// Length and size of the number at the start of a text, when it is certainly normalized already and within all
/// limits: the common case, in one look. `None` says nothing.
#[inline]
#[must_use]
pub fn plain_prefix(text: &[u8]) -> Option<(usize, u64)> {
    let negative = text.first() == Some(&b'-');
    let start = usize::from(negative);
    let (mut at, mut point) = (start, None);
    // Places of the first and the last digit that is not zero, counted from 1.
    let (mut digits, mut first, mut last) = (0, 0, 0);
    while let Some(&b) = text.get(at) {
        match b {
            b'0' => digits += 1,
            b'1'..=b'9' => {
                digits += 1;
                last = digits;
                if first == 0 {
                    first = digits;
                }
            }
            b'.' if point.is_none() => point = Some(at),
            _ => break,
        }
        at += 1;
    }
    if digits > MAX_DIGITS as u64 || digits == 0 {
        return None;
    }
    let whole = point.unwrap_or(at) - start;
    let leading_zero = text[start] == b'0';
    let normalized = match point {
        // No sign on zero, no zero before other digits.
        None => !leading_zero || (at == 1 && !negative),
        // A digit before the point, only one if it is zero; the last one after it is not zero.
        Some(_) => whole >= 1 && (!leading_zero || whole == 1) && text[at - 1] != b'.' && last == digits,
    };
    let significant = if first == 0 { 0 } else { last + 1 - first };
    normalized.then(|| (at, size_of(significant, negative)))
}

/// Whether a whole text is certainly normalized already and within all limits. `false` says nothing.
#[must_use]
pub fn is_plainly_normalized(text: &[u8]) -> bool {
    plain_prefix(text).is_some_and(|(len, _)| len == text.len())
}

/// Appends the normalized text of a number.
///
/// # Errors
/// See [`NumberError`].
pub fn normalize_into(text: &[u8], out: &mut Vec<u8>) -> Result<(), NumberError> {
    if is_plainly_normalized(text) {
        out.extend_from_slice(text);
    } else {
        Decimal::parse(text)?.write_normalized(out);
    }
    Ok(())
}

/// The normalized text of a number.
///
/// # Errors
/// See [`NumberError`].
pub fn normalize(text: &str) -> Result<String, NumberError> {
    Decimal::parse(text.as_bytes()).map(|d| d.to_string())
}

/// Number-key text of a number.
///
/// # Errors
/// See [`NumberError`].
pub fn encode_number_key(text: &str) -> Result<String, NumberError> {
    Decimal::parse(text.as_bytes()).map(|d| d.number_key())
}

/// Normalized text of a number-key text.
///
/// # Errors
/// Says that the text is damaged.
pub fn decode_number_key(key: &str) -> Result<String, String> {
    Decimal::from_number_key(key).map(|d| d.to_string())
}

/// Bytes that a number takes by DynamoDB's counting, from its normalized text.
#[must_use]
pub fn size_bytes(normalized: &[u8]) -> u64 {
    let negative = normalized.first() == Some(&b'-');
    let digits = normalized.iter().filter(|b| b.is_ascii_digit());
    let mut significant = 0u64;
    let mut pending = 0u64;
    for &b in digits {
        match b {
            b'0' if significant == 0 => {}
            b'0' => pending += 1,
            _ => {
                significant += pending + 1;
                pending = 0;
            }
        }
    }
    size_of(significant, negative)
}

fn size_of(significant: u64, negative: bool) -> u64 {
    if significant == 0 { 1 } else { (significant.div_ceil(2) + 1 + u64::from(negative)).min(21) }
}

#[cfg(test)]
mod tests;
