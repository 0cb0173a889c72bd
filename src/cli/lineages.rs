//! How `migrate status` and `migrate verify` look to people.

use crate::ops::migrate::status::{LineageStatus, StatusReport};
use crate::ui::Page;

/// Lays out what was found of every lineage.
#[must_use]
pub fn page(report: &StatusReport) -> Page {
    let headers = ["LINEAGE", "STATE", "RECORDED", "RECOGNISED", "TARGET", "FINGERPRINT"];
    let rows = report.lineages.iter().map(|l| {
        [
            l.lineage.to_string(),
            l.state.word().to_owned(),
            l.recorded_version.clone().unwrap_or_else(|| "-".to_owned()),
            recognised(l),
            l.target_version.clone().unwrap_or_else(|| "-".to_owned()),
            l.fingerprint.map_or_else(|| "-".to_owned(), |f| f.short()),
        ]
    });
    let mut page = Page::new().facts([("Deployment", report.location.clone())]).table(headers, rows);
    for lineage in &report.lineages {
        let lines = details(lineage);
        if !lines.is_empty() {
            page = page.text(format!("{}\n{}", lineage.lineage, lines.join("\n")));
        }
    }
    page
}

fn recognised(l: &LineageStatus) -> String {
    match (&l.recognised_version, &l.variant) {
        (Some(version), Some(variant)) => format!("{version} ({variant})"),
        (Some(version), None) => version.clone(),
        (None, _) => "-".to_owned(),
    }
}

fn details(l: &LineageStatus) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(l.refusal.iter().map(|r| format!("  refused: {r}")));
    lines.extend(l.drift.iter().map(|d| format!("  {}: {d}", if d.repairable { "repairable" } else { "drift" })));
    lines.extend(
        l.pending
            .iter()
            .map(|p| format!("  pending: {} {}{}", p.version, p.name, if p.breaking { " (breaking)" } else { "" })),
    );
    lines.extend(l.notes.iter().map(|n| format!("  note: {n}")));
    lines.extend(l.extras.iter().map(|e| format!("  beside it: {e}")));
    lines
}
