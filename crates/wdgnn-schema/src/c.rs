//! C header: one struct per frame and functions that read numbers.

use super::{Field, Frame};

const HEAD: &str = r"/* Radio frames of wdgnn, made by `host-sim schema --format c`.
 *
 * All members are bytes, so the structs have no padding and no alignment: cast a received packet of the right length.
 * Dimensions are those of the flocking network. All numbers are little-endian. */
#ifndef WDGNN_FRAMES_H
#define WDGNN_FRAMES_H

#include <stdint.h>
#include <string.h>

static inline uint16_t wdgnn_u16(const uint8_t b[2]) { return (uint16_t)(b[0] | b[1] << 8); }

static inline uint32_t wdgnn_u24(const uint8_t b[3]) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16;
}

static inline uint32_t wdgnn_u32(const uint8_t b[4]) { return wdgnn_u24(b) | (uint32_t)b[3] << 24; }

static inline float wdgnn_f32(const uint8_t b[4]) {
    uint32_t bits = wdgnn_u32(b);
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Half precision, IEEE 754 binary16. */
static inline float wdgnn_f16(const uint8_t b[2]) {
    uint32_t half = wdgnn_u16(b), exponent = half >> 10 & 31, mantissa = half & 1023;
    uint32_t bits = (half & 0x8000u) << 16;
    float number;
    if (exponent == 0) {
        number = (float)mantissa / 16777216.0f;
        return bits ? -number : number;
    }
    bits |= (exponent == 31 ? 255u : exponent + 112u) << 23 | mantissa << 13;
    memcpy(&number, &bits, sizeof number);
    return number;
}
";

pub fn describe(frames: &[Frame]) -> String {
    let structs: String = frames.iter().map(structure).collect();
    format!("{HEAD}{structs}\n#endif\n")
}

fn structure(frame: &Frame) -> String {
    let (snake, upper) = (frame.snake(), frame.snake().to_uppercase());
    let members: String = frame.fields.iter().map(member).collect();
    let (name, bytes, first, key) = (frame.name, frame.bytes, frame.first, frame.key());
    format!(
        "\n/* {name}, {bytes} bytes */\n\
         #define WDGNN_{upper}_FIRST 0x{first:02x}\n\
         #define WDGNN_{upper}_KEY 0x{key}u\n\
         typedef struct {{\n{members}}} wdgnn_{snake};\n\
         typedef char wdgnn_{snake}_has_{bytes}_bytes[sizeof(wdgnn_{snake}) == {bytes} ? 1 : -1];\n"
    )
}

fn member(field: &Field) -> String {
    let list = if field.list { format!("[{}]", field.count) } else { String::new() };
    match field.kind.bytes() {
        1 => format!("    uint8_t {}{list};\n", field.name),
        bytes => format!("    uint8_t {}{list}[{bytes}]; /* {} */\n", field.name, field.kind.name()),
    }
}
