//! Nothing that this workspace depends on has a licence that `deny.toml` does not allow.

use std::{env, fs, path::Path, process::Command};

use serde_json::Value;

/// The licences of deny.toml's list, and the packages that are exceptions, each with its licence.
fn allowed() -> (Vec<String>, Vec<(String, String)>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.toml");
    let text = fs::read_to_string(file).unwrap();
    let strings =
        |text: &str| -> Vec<String> { text.split('"').skip(1).step_by(2).map(str::to_owned).collect() };
    let list = text.split("allow = [").nth(1).and_then(|behind| behind.split(']').next()).expect("a list");
    let exceptions = text.lines().filter(|line| line.contains("crate = ")).map(strings);
    let pairs = exceptions.map(|words| match &words[..] {
        [licence, name] => (name.clone(), licence.clone()),
        _ => panic!("an exception is a licence and a crate: {words:?}"),
    });
    (strings(list), pairs.collect())
}

/// Whether a licence expression can be met with what is allowed: AND binds what stands in parentheses, OR and `/` leave a choice.
fn met(expression: &str, allowed: &[String]) -> bool {
    let flat = expression.replace('/', " OR ");
    let any = |choice: &str| choice.split(" OR ").any(|one| allowed.iter().any(|name| name == one.trim()));
    flat.split(" AND ").all(|part| any(part.trim().trim_start_matches('(').trim_end_matches(')')))
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let (allowed, exceptions) = allowed();
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["metadata", "--format-version", "1", "--all-features", "--locked"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let told =
        |package: &Value| format!("{} {}: {}", package["name"], package["version"], package["license"]);
    let fine = |package: &Value| {
        let licence = package["license"].as_str().unwrap_or_default();
        let excepted = |(name, allowed): &(String, String)| package["name"] == **name && licence == allowed;
        met(licence, &allowed) || exceptions.iter().any(excepted)
    };
    let refused: Vec<String> = packages.iter().filter(|package| !fine(package)).map(told).collect();
    assert!(packages.len() > 100, "{} packages", packages.len());
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn expressions_mean_what_they_say() {
    let allowed = ["MIT", "Zlib"].map(str::to_owned);
    for good in ["MIT", "GPL-3.0 OR MIT", "GPL-3.0/MIT", "(MIT OR GPL-3.0) AND Zlib"] {
        assert!(met(good, &allowed), "{good}");
    }
    for bad in ["", "GPL-3.0", "GPL-3.0 AND MIT", "(MIT OR Zlib) AND GPL-3.0", "MIT-0"] {
        assert!(!met(bad, &allowed), "{bad}");
    }
}
