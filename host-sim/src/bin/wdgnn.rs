//! `wdgnn`, as it is called once it is installed: the same as `host-sim`.

fn main() -> std::process::ExitCode {
    host_sim::program::main()
}
