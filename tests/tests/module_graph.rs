//! Data goes one way: no module refers to itself by way of others.

use std::{collections::BTreeSet, path::Path};

use system_tests::module_graph::Graph;

fn graph(folder: &str) -> Graph {
    Graph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)).unwrap()
}

/// Fails for every way round that does not lie within one of those that are known.
fn check(graph: &Graph, known: &[&[&str]]) {
    let known: Vec<BTreeSet<String>> =
        known.iter().map(|knot| knot.iter().map(|&name| name.into()).collect()).collect();
    for knot in graph.knots() {
        assert!(
            known.iter().any(|known| knot.is_subset(known)),
            "{} in a knot of {knot:?}",
            graph.way_round(&knot)
        );
    }
}

#[test]
fn the_core_has_no_way_round() {
    let graph = graph("wdgnn-core/src");
    check(&graph, &[]);
    check(&graph.at_the_root(), &[]);
}

#[test]
fn the_simulator_has_no_way_round_but_those_that_are_known() {
    let known: [&[&str]; 3] = [
        &["faults", "faults::flown", "faults::frames"],
        &["page", "page::charts", "page::flock", "page::replay"],
        &["train::recipe", "train::through"],
    ];
    check(&graph("host-sim/src"), &known);
}
