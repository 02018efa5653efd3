//! Vectors, rotations and rigid poses in `f64`.

/// Vector in meters.
pub type Vector = [f64; 3];
/// Rows of a 3 × 3 matrix.
pub type Matrix = [Vector; 3];

/// Dot product.
pub fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product.
pub fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Difference a − b.
pub fn sub(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Vector of length 1; `None` for the zero vector.
pub fn unit(a: Vector) -> Option<Vector> {
    let length = libm::sqrt(dot(a, a));
    (length > 0.0).then(|| a.map(|number| number / length))
}

/// Product of a matrix and a vector.
pub fn apply(matrix: Matrix, vector: Vector) -> Vector {
    [dot(matrix[0], vector), dot(matrix[1], vector), dot(matrix[2], vector)]
}

/// Transposed matrix.
pub fn transpose(m: Matrix) -> Matrix {
    [0, 1, 2].map(|column| m.map(|row| row[column]))
}

/// Inverse of a matrix; `None` if it is singular.
pub fn inverse(m: Matrix) -> Option<Matrix> {
    let cofactors = [cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])];
    let determinant = dot(m[0], cofactors[0]);
    (determinant.abs() > 1e-12)
        .then(|| transpose(cofactors.map(|row| row.map(|number| number / determinant))))
}

/// Rotation by the length of `vector`, in radians, about its direction (Rodrigues).
pub fn rotation(vector: Vector) -> Matrix {
    let angle = libm::sqrt(dot(vector, vector));
    let [x, y, z] = unit(vector).unwrap_or([1.0, 0.0, 0.0]);
    let (sine, cosine) = (libm::sin(angle), libm::cos(angle));
    let rest = 1.0 - cosine;
    [
        [cosine + x * x * rest, x * y * rest - z * sine, x * z * rest + y * sine],
        [y * x * rest + z * sine, cosine + y * y * rest, y * z * rest - x * sine],
        [z * x * rest - y * sine, z * y * rest + x * sine, cosine + z * z * rest],
    ]
}

/// Rigid pose: maps local coordinates to those of the parent frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Rotation from local to parent axes.
    pub rotation: Matrix,
    /// Origin of the local frame in the parent frame, in meters.
    pub translation: Vector,
}

impl Pose {
    /// Pose on a horizontal plane: position in meters, counter-clockwise heading in radians.
    pub fn planar(position: [f64; 2], height: f64, heading: f64) -> Self {
        Self { rotation: rotation([0.0, 0.0, heading]), translation: [position[0], position[1], height] }
    }

    /// Parent coordinates of a local point.
    pub fn point(&self, local: Vector) -> Vector {
        let turned = apply(self.rotation, local);
        [0, 1, 2].map(|axis| turned[axis] + self.translation[axis])
    }

    /// Pose in the frame of `self` of a `pose` in the parent frame.
    #[must_use]
    pub fn localize(&self, pose: &Self) -> Self {
        let back = transpose(self.rotation);
        let columns = transpose(pose.rotation).map(|axis| apply(back, axis));
        Self {
            rotation: transpose(columns),
            translation: apply(back, sub(pose.translation, self.translation)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(a: Vector, b: Vector) {
        assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12), "{a:?} {b:?}");
    }

    #[test]
    fn a_quarter_turn_about_z_maps_x_to_y() {
        let quarter = rotation([0.0, 0.0, core::f64::consts::FRAC_PI_2]);
        assert_near(apply(quarter, [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0]);
        assert_eq!(rotation([0.0; 3]), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    }

    #[test]
    fn inverse_times_matrix_is_the_identity() {
        let matrix = [[2.0, 1.0, 0.5], [-1.0, 3.0, 0.25], [0.0, 0.5, 1.0]];
        let inverse = inverse(matrix).unwrap();
        for axis in [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.3, -0.2, 0.9]] {
            assert_near(apply(inverse, apply(matrix, axis)), axis);
        }
        assert_eq!(super::inverse([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [0.0, 0.0, 1.0]]), None);
    }

    #[test]
    fn localized_pose_maps_through_the_parent() {
        let camera = Pose { rotation: rotation([0.4, -0.3, 1.1]), translation: [0.2, -0.5, 2.0] };
        let plate = Pose { rotation: rotation([-0.2, 0.9, 0.1]), translation: [1.0, 0.3, 0.1] };
        let point = [0.03, -0.02, 0.0];
        assert_near(camera.point(camera.localize(&plate).point(point)), plate.point(point));
    }
}
