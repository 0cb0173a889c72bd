//! `job list|show`.

use crate::support::{Deployment, Kind, on_every_backend};

fn without_jobs_the_list_is_empty(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    let json = deployment.run(["job", "list", "-o", "json"]).succeeds().json();
    assert_eq!(json, serde_json::json!({ "jobs": [], "truncated": false }));
}

fn a_job_that_is_not_there_exits_6(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    for id in ["7", "x", ""] {
        deployment.run(["job", "show", id]).exits(6).says("job list");
    }
}

fn a_limit_out_of_bounds_exits_2(kind: Kind) {
    let deployment = Deployment::released(kind, "0.0.4");
    for limit in ["0", "4096"] {
        deployment.run(["job", "list", "--limit", limit]).exits(2).says("from 1 to 4095");
    }
}

on_every_backend!(without_jobs_the_list_is_empty, a_job_that_is_not_there_exits_6, a_limit_out_of_bounds_exits_2);
