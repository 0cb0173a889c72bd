//! Commit records: checksum, order of refusals, spelling of floats.

use super::*;

const PREFIX: &str = "000000000000/Pets/01767229200123-0a0b0c01";
const PETS: &[u8] = include_bytes!(
    "../../../tests/data/backups/hash-only/000000000000/Pets/01767229200123-0a0b0c01/extenddb-manifest.json"
);

fn pets() -> Manifest {
    Manifest::read(PETS, PREFIX).expect("a good record")
}

fn refusal(bytes: &[u8]) -> Category {
    Manifest::read(bytes, PREFIX).expect_err("a refused record")[0].category
}

fn edited(from: &str, to: &str) -> Vec<u8> {
    let text = std::str::from_utf8(PETS).expect("UTF-8");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

fn resealed(edit: impl FnOnce(&mut Manifest)) -> Vec<u8> {
    let mut record = pets();
    edit(&mut record);
    record.seal()
}

#[test]
fn a_record_is_written_as_it_was_read() {
    let mut record = pets();
    assert_eq!(record.seal(), PETS);
    assert_eq!(record.warnings(), []);
}

#[test]
fn members_not_listed_and_blanks_do_not_change_the_checksum() {
    let extra = edited("{\"format_version\":1,", "{ \"x\":[{}],\n\"x\":1, \"format_version\" : 1,");
    assert_eq!(Manifest::read(&extra, PREFIX).expect("tolerated"), pets());
    let nulled = edited("\"item_count\":3,\"table_size", "\"table_class\":null,\"item_count\":3,\"table_size");
    assert_eq!(Manifest::read(&nulled, PREFIX).expect("null is absent"), pets());
}

#[test]
fn the_order_of_the_checks_decides_the_refusal() {
    use Category::*;
    assert_eq!(refusal(b""), ManifestMalformed);
    assert_eq!(refusal(b"[]"), ManifestMalformed);
    assert_eq!(refusal(&PETS[..PETS.len() - 1]), ManifestMalformed);
    // A version this build does not know is said before the shape is complained about.
    assert_eq!(refusal(br#"{"format_version":2}"#), UnsupportedFormatVersion);
    assert_eq!(refusal(br#"{"format_version":-1}"#), UnsupportedFormatVersion);
    assert_eq!(refusal(br#"{"format_version":2"#), ManifestMalformed);
    assert_eq!(refusal(&edited("\"format_version\":1", "\"format_version\":1.0")), ManifestMalformed);
    assert_eq!(refusal(&edited("\"format_version\":1", "\"format_version\":\"1\"")), ManifestMalformed);
    assert_eq!(
        refusal(&edited("\"format_version\":1", "\"format_version\":1,\"format_version\":1")),
        ManifestMalformed
    );
    assert_eq!(refusal(&edited("\"KeyType\":\"HASH\"", "\"KeyType\":{\"HASH\":null}")), ManifestMalformed);
    assert_eq!(refusal(&edited("\"item_count\":3,\"sha", "\"item_count\":-0,\"sha")), ManifestMalformed);
    assert_eq!(refusal(&edited("pets-nightly", "edited")), ManifestChecksumMismatch);
    assert_eq!(refusal(&resealed(|m| m.backup_arn = "arn:x".into())), InvalidArn);
    assert_eq!(refusal(&resealed(|m| m.backup_arn.push('0'))), PrefixMismatch);
    assert_eq!(refusal(&resealed(|m| m.source_table.table_name = "Pots".into())), ManifestInconsistent);
    assert_eq!(refusal(&resealed(|m| m.source_table.attribute_definitions.clear())), ManifestInconsistent);
    for key in [
        "data/../1.json.gz",
        "/data/1.json.gz",
        "data/1.json.gz\n",
        "data/.json.gz",
        "data/1.json",
        "data\\1.json.gz",
        "data/１.json.gz",
    ] {
        assert_eq!(refusal(&resealed(|m| m.data_files[0].key = key.into())), InvalidDataFileKey, "{key}");
    }
    assert_eq!(refusal(&resealed(|m| m.data_files.push(m.data_files[0].clone()))), DuplicateDataFile);
    assert_eq!(refusal(&resealed(|m| m.data_files[0].sha256.make_ascii_uppercase())), ManifestMalformed);
}

#[test]
fn all_findings_of_the_last_step_are_listed() {
    let bytes = resealed(|m| {
        m.backup_arn.push('0');
        m.source_table.key_schema.clear();
        m.data_files.push(m.data_files[0].clone());
        m.data_files[0].key = "x".into();
        m.data_files[1].key = "x".into();
    });
    let findings = Manifest::read(&bytes, PREFIX).expect_err("refused");
    let categories: Vec<_> = findings.iter().map(|f| f.category.word()).collect();
    assert_eq!(
        categories,
        [
            "prefix_mismatch",
            "manifest_inconsistent",
            "invalid_data_file_key",
            "invalid_data_file_key",
            "duplicate_data_file"
        ]
    );
}

#[test]
fn floats_are_spelled_by_one_rule() {
    for (value, text) in [
        (1_767_225_600.0, "1767225600.0"),
        (1_767_229_200.123, "1767229200.123"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (0.1, "0.1"),
        (1e-5, "0.00001"),
        (1.5e-6, "1.5e-6"),
        (1e15, "1000000000000000.0"),
        (1.234_567_890_123_456_7e15, "1234567890123456.8"),
        (1e16, "1e16"),
        (1.5e300, "1.5e300"),
        (-2.5, "-2.5"),
    ] {
        assert_eq!(float_text(value, Exponent::Bare), text);
    }
    assert_eq!(float_text(1e16, Exponent::Signed), "1e+16");
    assert_eq!(float_text(1e-7, Exponent::Signed), "1e-7");
}

#[test]
fn both_spellings_of_an_exponent_are_accepted() {
    for exponent in [Exponent::Bare, Exponent::Signed] {
        let mut record = pets();
        record.source_table.table_creation_date_time = 1e16;
        record.manifest_sha256 = record.checksum(exponent);
        let read = Manifest::read(&record.canonical(exponent), PREFIX).expect("accepted");
        assert!(read.warnings().iter().any(|f| f.category == Category::TimestampUnusual));
    }
}

#[test]
fn unusual_records_are_warned_about() {
    let mut record = pets();
    record.backup_creation_date_time = 1_767_229_200.123_456_7;
    record.backup_size_bytes += 1;
    record.source_table.item_count = 7;
    let words: Vec<_> = record.warnings().iter().map(|f| f.category.word()).collect();
    assert_eq!(words, ["timestamp_precision", "size_total_mismatch", "source_count_differs"]);
}
