//! Confirms that items with equal key hashes have equal keys, by reading them again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tokio::runtime::Handle;

use super::Shared;
use super::collect::Findings;
use super::keys::{Place, Suspects};
use crate::archive::data_file::DataFileReader;
use crate::archive::error::Result;
use crate::domain::finding::{Category, Finding};
use crate::domain::item::{Item, ItemParser};

/// Most places that are read again; of a key that occurs more often the first ones stand for all.
const MAX_PLACES: usize = 256;

/// Findings for the suspects whose keys are really equal.
pub(super) fn confirm(shared: &Shared, runtime: &Handle, suspects: Suspects) -> Result<Findings> {
    let mut findings = Findings::of_report();
    if suspects.groups.is_empty() {
        return Ok(findings);
    }
    let mut wanted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
    let mut places = 0;
    let mut left_out = suspects.more;
    let mut groups = Vec::new();
    for group in suspects.groups {
        if places >= MAX_PLACES {
            left_out += 1;
            continue;
        }
        places += group.len();
        group.iter().for_each(|place| {
            wanted.entry(place.file).or_default().insert(place.line);
        });
        groups.push(group);
    }
    let mut keys = HashMap::new();
    for (file, lines) in &wanted {
        read_keys(shared, runtime, *file, lines, &mut keys)?;
    }
    for group in groups {
        // The first item of each key is good; those after it repeat it.
        let mut first: HashMap<&[u8], Place> = HashMap::new();
        for place in group {
            let Some(key) = keys.get(&place) else { continue };
            if let Some(earlier) = first.get(key.as_slice()) {
                let message = format!("same key as {}", name(shared, *earlier));
                let finding = Finding::new(Category::DuplicateItemKey, name(shared, place), message);
                findings.add((u64::from(place.file), place.line), finding);
            } else {
                first.insert(key, place);
            }
        }
    }
    if left_out > 0 && findings.has(Category::DuplicateItemKey) {
        findings.omit(Category::DuplicateItemKey, left_out);
    }
    Ok(findings)
}

fn name(shared: &Shared, place: Place) -> String {
    format!("{} line {}", shared.manifest.data_files[place.file as usize].key, place.line)
}

/// Reads the keys of some lines of one file.
fn read_keys(
    shared: &Shared,
    runtime: &Handle,
    file: u32,
    lines: &BTreeSet<u64>,
    keys: &mut HashMap<Place, Vec<u8>>,
) -> Result<()> {
    let data_file = &shared.manifest.data_files[file as usize];
    let mut reader = DataFileReader::open(runtime, &shared.store, &shared.prefix, data_file)?;
    let mut parser = ItemParser::new();
    let last = lines.last().copied().unwrap_or(0);
    for line in 1..=last {
        shared.check_stop()?;
        let Some(text) = reader.next_line()? else { break };
        if lines.contains(&line)
            && let Ok(item) = parser.parse_line(text)
        {
            keys.insert(Place { file, line }, exact_key(shared, &item));
        }
    }
    Ok(())
}

/// The key's payloads in canonical JSON, which end themselves.
fn exact_key(shared: &Shared, item: &Item<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for attribute in shared.key.hash.iter().chain(&shared.key.range) {
        if let Some(value) = item.attr(&attribute.name) {
            out.extend_from_slice(value.json);
        }
    }
    out
}
