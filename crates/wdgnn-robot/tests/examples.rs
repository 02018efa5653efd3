//! Runs the examples of the crates. Each checks its own results.

/// Includes an example as a module and runs it as a test.
macro_rules! examples {
    ($($name:ident in $path:literal;)*) => {
        $(
            #[path = $path]
            mod $name;
        )*

        $(
            #[test]
            fn $name() {
                $name::main();
            }
        )*
    };
}

examples! {
    two_robots in "../../../wdgnn-core/examples/two_robots.rs";
    own_task in "../../../wdgnn-core/examples/own_task.rs";
    lossy_radio in "../examples/lossy_radio.rs";
    restart in "../examples/restart.rs";
    robot_from_file in "../examples/robot_from_file.rs";
    secured_link in "../examples/secured_link.rs";
}
