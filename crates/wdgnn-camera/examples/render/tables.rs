//! Tables of poses.

use std::{collections::BTreeMap, error::Error, fs, path::Path};

use wdgnn_camera::{
    geometry::{Pose, rotation, transpose},
    renderer::Robot,
};

/// Rows of a CSV file as numbers by column name.
fn read_csv(path: &Path) -> Result<Vec<BTreeMap<String, f64>>, Box<dyn Error>> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or_default().split(',').map(str::trim).collect();
    let row = |line: &str| {
        let numbers = line.split(',').map(|number| number.trim().parse::<f64>());
        let row =
            names.iter().zip(numbers).filter_map(|(&name, number)| Some((name.to_owned(), number.ok()?)));
        row.collect()
    };
    Ok(lines.map(row).collect())
}

/// Number of a column, or an error that names it.
fn number(row: &BTreeMap<String, f64>, name: &str) -> Result<f64, String> {
    row.get(name).copied().ok_or(format!("the CSV file must have a number in column {name} in each row"))
}

/// Robots by time in microseconds.
pub fn read_poses(path: &Path) -> Result<BTreeMap<u64, Vec<Robot>>, Box<dyn Error>> {
    let mut images = BTreeMap::<u64, Vec<Robot>>::new();
    for row in read_csv(path)? {
        let optional = |name: &str| row.get(name).copied().unwrap_or(0.0);
        let robot = Robot {
            marker: number(&row, "marker")? as u8,
            position: [number(&row, "x_mm")? / 1e3, number(&row, "y_mm")? / 1e3],
            heading: number(&row, "heading_deg")?.to_radians(),
            velocity: [optional("vx_mm_s") / 1e3, optional("vy_mm_s") / 1e3],
            turn_rate: optional("turn_deg_s").to_radians(),
        };
        images.entry((number(&row, "time_ms")? * 1e3).round() as u64).or_default().push(robot);
    }
    Ok(images)
}

/// Poses of a board in a camera's axes.
pub fn read_views(path: &Path) -> Result<Vec<Pose>, Box<dyn Error>> {
    let view = |row: BTreeMap<String, f64>| {
        let three = |names: [&str; 3]| -> Result<[f64; 3], String> {
            Ok([number(&row, names[0])?, number(&row, names[1])?, number(&row, names[2])?])
        };
        let translation = three(["x_mm", "y_mm", "z_mm"])?.map(|mm| mm / 1e3);
        // OpenCV's board has y down; this crate's plates have y up and face +z.
        let [x, y, z] = transpose(rotation(three(["rx", "ry", "rz"])?));
        let flipped = transpose([x, y.map(|number| -number), z.map(|number| -number)]);
        Ok(Pose { rotation: flipped, translation })
    };
    read_csv(path)?.into_iter().map(view).collect()
}
