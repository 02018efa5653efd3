//! `host-sim`, as it is called in its repository.

fn main() -> std::process::ExitCode {
    host_sim::program::main()
}
