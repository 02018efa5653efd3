//! Data goes one way: no module refers to itself by way of others.

use std::path::Path;

use system_tests::module_graph::Graph;

fn graph(folder: &str) -> Graph {
    Graph::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)).unwrap()
}

/// Fails for every way round, among modules and among the folders that they lie in.
fn check(graph: &Graph) {
    for graph in [graph, &graph.at_the_root()] {
        let knots: Vec<String> = graph.knots().iter().map(|knot| graph.way_round(knot)).collect();
        assert!(knots.is_empty(), "{}", knots.join("; "));
    }
}

#[test]
fn the_core_has_no_way_round() {
    check(&graph("wdgnn-core/src"));
}

#[test]
fn the_simulator_has_no_way_round() {
    check(&graph("sim/src"));
    check(&graph("host-sim/src"));
    check(&graph("live/src"));
}
