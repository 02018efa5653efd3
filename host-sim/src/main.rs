//! `host-sim`, the name of the program in this repository.

fn main() -> std::process::ExitCode {
    host_sim::program::main()
}
