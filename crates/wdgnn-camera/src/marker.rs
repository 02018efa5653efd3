//! Bit patterns of OpenCV's marker dictionary `DICT_4X4_50`.

/// Number of markers.
pub const COUNT: usize = 50;
/// Cells of a marker's side, with the black frame of one cell.
pub const CELLS: usize = 6;

/// Bits of each marker, row by row from the top left; the highest bit is the first, 1 is white.
const BITS: [u16; COUNT] = [
    0xb532, 0x0f9a, 0x332d, 0x9946, 0x549e, 0x79cd, 0x9e2e, 0xc4f2, 0xfeda, 0xcf56, 0xf991, 0x11a7, 0x0eb7,
    0x2a0f, 0x24b1, 0x263e, 0x4665, 0x6600, 0x6c5e, 0x76af, 0x868b, 0xb02b, 0xccd5, 0xdd82, 0xfe47, 0x9471,
    0xace4, 0xa554, 0x2123, 0x346f, 0x4415, 0x57b2, 0x9ecf, 0xf0cb, 0x08ae, 0x0929, 0x1875, 0x04ff, 0x0df6,
    0x1c5a, 0x1718, 0x2a28, 0x328c, 0x38b2, 0x24e8, 0x2eeb, 0x2d3f, 0x4b64, 0x502e, 0x5013,
];

/// Cells of a marker, row by row from the top, `true` for white; `None` for an unknown marker.
pub fn cells(marker: u8) -> Option<[[bool; CELLS]; CELLS]> {
    let bits = BITS.get(usize::from(marker))?;
    let mut cells = [[false; CELLS]; CELLS];
    for (row, line) in cells[1..CELLS - 1].iter_mut().enumerate() {
        for (column, cell) in line[1..CELLS - 1].iter_mut().enumerate() {
            *cell = bits >> (15 - 4 * row - column) & 1 == 1;
        }
    }
    Some(cells)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_have_a_black_frame_and_the_bits_of_the_dictionary() {
        let picture = cells(0).unwrap().map(|row| row.map(|cell| if cell { '#' } else { '.' }));
        let lines: Vec<String> = picture.iter().map(|row| row.iter().collect()).collect();
        assert_eq!(lines, ["......", ".#.##.", "..#.#.", "...##.", "...#..", "......"]);
        assert_eq!(cells(50), None);
    }

    #[test]
    fn turned_markers_differ_from_all_others_in_at_least_four_bits() {
        let turn = |bits: u16| {
            (0..16).fold(0, |turned, bit| turned | (bits >> bit & 1) << (4 * (bit % 4) + 3 - bit / 4))
        };
        for (index, &bits) in BITS.iter().enumerate() {
            let turns = [bits, turn(bits), turn(turn(bits)), turn(turn(turn(bits)))];
            assert_eq!(turn(turns[3]), bits);
            for other in &BITS[index + 1..] {
                assert!(turns.iter().all(|turned| (turned ^ other).count_ones() >= 4), "{index}");
            }
        }
    }
}
