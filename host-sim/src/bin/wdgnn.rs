//! `wdgnn`, the name of `host-sim` after installation.

fn main() -> std::process::ExitCode {
    host_sim::program::main()
}
