//! Modelled Cortex-M4 cycles of the instructions that QEMU executed, by ARM's reference manual.
//!
//! A model, not a measurement: no wait states, no pipelined loads, average divisions. Instruction counts alone mislead: a
//! division is one instruction of 14 cycles.

use std::collections::HashMap;

/// Refilling the pipeline after a branch (ARM DDI 0439, table 3-1: 1 to 3).
const REFILL: u64 = 2;

/// Instructions and modelled cycles between executions of the instruction at `mark`, in a QEMU trace made with
/// `-singlestep -d in_asm,exec,nochain`.
pub fn sections(trace: &str, mark: u64) -> Vec<(u64, u64)> {
    let mut instructions: HashMap<u64, Instruction> = HashMap::new();
    let mut sections = Vec::new();
    let (mut inside, mut count, mut cycles) = (false, 0, 0);
    let mut last: Option<(u64, Instruction)> = None;
    for line in trace.lines() {
        if let Some((address, instruction)) = disassembled(line) {
            instructions.insert(address, instruction);
        }
        let Some(address) = executed(line) else { continue };
        if let Some((from, instruction)) = last.filter(|_| inside) {
            count += 1;
            cycles += instruction.cycles(address != from + instruction.length);
        }
        if address == mark {
            if inside {
                sections.push((count, cycles));
            }
            (inside, count, cycles) = (!inside, 0, 0);
        }
        last = instructions.get(&address).map(|instruction| (address, *instruction));
    }
    sections
}

/// `0x00000400:  b580       push     {r7, lr}`.
fn disassembled(line: &str) -> Option<(u64, Instruction)> {
    let (address, rest) = line.strip_prefix("0x")?.split_once(':')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let mut words = rest.split_whitespace().peekable();
    let mut length = 0;
    while let Some(word) =
        words.next_if(|word| word.len() == 4 && word.bytes().all(|b| b.is_ascii_hexdigit()))
    {
        length += word.len() as u64 / 2;
    }
    let name = words.next()?;
    let operands = words.collect::<Vec<_>>().join(" ");
    Some((address, Instruction { length, cost: cost(name, &operands) }))
}

/// `Trace 0: 0x7f… [00800408/00000400/00000110/ff000201] Reset`: the second number is the address.
fn executed(line: &str) -> Option<u64> {
    let (_, rest) = line.strip_prefix("Trace ")?.split_once('[')?;
    u64::from_str_radix(rest.split('/').nth(1)?, 16).ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    length: u64,
    cost: u64,
}

impl Instruction {
    fn cycles(self, jumped: bool) -> u64 {
        self.cost + if jumped { REFILL } else { 0 }
    }
}

/// Cycles without a jump (ARM DDI 0439, tables 3-1 and 7-1).
fn cost(name: &str, operands: &str) -> u64 {
    let name = name.trim_end_matches(".w").trim_end_matches(".n");
    let registers = || {
        let list = operands.split_once('{').map_or("", |(_, list)| list.trim_end_matches(['}', '!', ' ']));
        let one = |part: &str| match part.split_once('-') {
            Some((from, to)) => {
                let number = |name: &str| name.trim()[1..].parse::<u64>().unwrap_or_default();
                number(to) - number(from) + 1
            }
            None => 1,
        };
        // A double register is two words.
        list.split(',').map(|part| one(part) * if part.trim().starts_with('d') { 2 } else { 1 }).sum::<u64>()
    };
    match name {
        _ if name.starts_with("vdiv") || name.starts_with("vsqrt") => 14,
        _ if ["vmla", "vmls", "vnmla", "vnmls", "vfma", "vfms"].iter().any(|one| name.starts_with(one)) => 3,
        _ if ["vldm", "vstm", "vpush", "vpop"].iter().any(|one| name.starts_with(one)) => 1 + registers(),
        _ if name.starts_with("vldr") || name.starts_with("vstr") => 2,
        _ if name.starts_with("udiv") || name.starts_with("sdiv") => 7,
        _ if ["push", "pop", "ldm", "stm"].iter().any(|one| name.starts_with(one)) => 1 + registers(),
        _ if name.starts_with("ldrd") || name.starts_with("strd") => 3,
        _ if name.starts_with("ldr") || name.starts_with("str") => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_manual() {
        assert_eq!(cost("push", "{r4, r5, r7, lr}"), 5);
        assert_eq!(cost("vpush", "{d8, d9}"), 5);
        assert_eq!(cost("vldmia", "r0!, {s0-s15}"), 17);
        assert_eq!(cost("vdiv.f32", "s0, s1, s2"), 14);
        assert_eq!(cost("vmla.f32", "s0, s1, s2"), 3);
        assert_eq!(cost("ldr.w", "r0, [r1]"), 2);
        assert_eq!(cost("adds", "r0, r0, #1"), 1);
    }

    #[test]
    fn a_section_lies_between_two_marks() {
        let trace = "IN: x\n0x00000010:  bf00       nop      \nTrace 0: 0x7f [0/00000010/1/2] mark\n\
                     0x00000012:  e000       b        #0x16\nTrace 0: 0x7f [0/00000012/1/2] x\n\
                     0x00000016:  6800       ldr      r0, [r0]\nTrace 0: 0x7f [0/00000016/1/2] x\n\
                     Trace 0: 0x7f [0/00000010/1/2] mark\n";
        // nop 1, b 1 + 2, ldr 2 + 2 (the return to the mark is a jump).
        assert_eq!(sections(trace, 0x10), [(3, 8)]);
    }
}
