//! Loads and stores (A3.2, A4.6).

use super::{
    Bus, BusError, Cpu, Size, Trap, cycles,
    op::{Access, Index, Op, Reg},
    scs,
};

/// Start of the peripherals.
///
/// Accesses below it, to code and RAM, change no interrupt line.
const PERIPHERAL_BASE: u32 = 0x4000_0000;
/// Start of RAM. Writes below it go to flash, which takes time.
const RAM_BASE: u32 = 0x2000_0000;

/// Returns whether an address is on the private peripheral bus (B3.1).
const fn is_ppb(address: u32) -> bool {
    address >> 20 == 0xe00
}

impl Access {
    const fn size(self) -> Size {
        match self {
            Access::Word => Size::Word,
            Access::Half | Access::SignedHalf => Size::Half,
            Access::Byte | Access::SignedByte => Size::Byte,
        }
    }
}

/// Returns the address bits that are zero for an aligned access.
const fn alignment_mask(size: Size) -> u32 {
    match size {
        Size::Byte => 0,
        Size::Half => 1,
        Size::Word => 3,
    }
}

impl Cpu {
    #[inline]
    fn read_aligned(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if address >= PERIPHERAL_BASE {
            if is_ppb(address) {
                return self.ppb_load(address, size);
            }
            self.bus_accessed = true;
            bus.set_time(self.cycles);
        }
        bus.load(address, size).map_err(|BusError { address }| {
            self.fault_address = address;
            Trap::Data
        })
    }

    #[inline]
    fn write_aligned(
        &mut self, bus: &mut impl Bus, address: u32, size: Size, value: u32,
    ) -> Result<(), Trap> {
        if address >= PERIPHERAL_BASE {
            if is_ppb(address) {
                return self.ppb_store(address, size, value);
            }
            self.bus_accessed = true;
            bus.set_time(self.cycles);
        } else if address < RAM_BASE {
            self.bus_accessed = true;
            bus.set_time(self.cycles);
        }
        bus.store(address, size, value).map_err(|BusError { address }| {
            self.fault_address = address;
            Trap::Data
        })
    }

    /// Reads with any alignment: MemU (B2.3.4).
    #[inline]
    fn read(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if address & alignment_mask(size) == 0 {
            self.read_aligned(bus, address, size)
        } else {
            self.read_split(bus, address, size)
        }
    }

    /// Writes with any alignment: MemU (B2.3.4).
    #[inline]
    fn write(&mut self, bus: &mut impl Bus, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        if address & alignment_mask(size) == 0 {
            self.write_aligned(bus, address, size, value)
        } else {
            self.write_split(bus, address, size, value)
        }
    }

    #[cold]
    fn read_split(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if self.scs.ccr & scs::UNALIGN_TRP != 0 || is_ppb(address) {
            return Err(Trap::Unaligned);
        }
        let mut value = 0;
        for at in 0..=alignment_mask(size) {
            value |= self.read_aligned(bus, address.wrapping_add(at), Size::Byte)? << (8 * at);
        }
        Ok(value)
    }

    #[cold]
    fn write_split(&mut self, bus: &mut impl Bus, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        if self.scs.ccr & scs::UNALIGN_TRP != 0 || is_ppb(address) {
            return Err(Trap::Unaligned);
        }
        for at in 0..=alignment_mask(size) {
            self.write_aligned(bus, address.wrapping_add(at), Size::Byte, value >> (8 * at) & 0xff)?;
        }
        Ok(())
    }

    /// Reads an aligned word: MemA (B2.3.4).
    #[inline]
    pub(super) fn read_word(&mut self, bus: &mut impl Bus, address: u32) -> Result<u32, Trap> {
        if address & 3 != 0 { Err(Trap::Unaligned) } else { self.read_aligned(bus, address, Size::Word) }
    }

    /// Writes an aligned word: MemA (B2.3.4).
    #[inline]
    pub(super) fn write_word(&mut self, bus: &mut impl Bus, address: u32, value: u32) -> Result<(), Trap> {
        if address & 3 != 0 {
            Err(Trap::Unaligned)
        } else {
            self.write_aligned(bus, address, Size::Word, value)
        }
    }

    /// Adds the address phase of a load or store, unless it follows another one.
    #[inline]
    pub(super) fn charge_access(&mut self) {
        if self.last_access.wrapping_add(1) != self.instructions {
            self.cycles += cycles::FIRST_ACCESS;
        }
        self.last_access = self.instructions;
    }

    /// Sets a register to a loaded value. A load to PC branches.
    #[inline]
    fn put_loaded(&mut self, bus: &mut impl Bus, rt: Reg, value: u32) -> Result<(), Trap> {
        if rt == 15 {
            return self.branch_exchange(bus, value);
        }
        self.put(rt, value);
        Ok(())
    }

    #[inline]
    pub(super) fn load_word(&mut self, bus: &mut impl Bus, rt: Reg, address: u32) -> Result<(), Trap> {
        self.charge_access();
        let value = self.read(bus, address, Size::Word)?;
        self.put_loaded(bus, rt, value)
    }

    #[inline]
    pub(super) fn store_word(&mut self, bus: &mut impl Bus, rt: Reg, address: u32) -> Result<(), Trap> {
        self.charge_access();
        self.write(bus, address, Size::Word, self.get(rt))
    }

    #[inline]
    fn read_as(&mut self, bus: &mut impl Bus, access: Access, address: u32) -> Result<u32, Trap> {
        Ok(match access {
            Access::Word => self.read(bus, address, Size::Word)?,
            Access::Half => self.read(bus, address, Size::Half)?,
            Access::Byte => self.read(bus, address, Size::Byte)?,
            Access::SignedHalf => self.read(bus, address, Size::Half)? as i16 as u32,
            Access::SignedByte => self.read(bus, address, Size::Byte)? as i8 as u32,
        })
    }

    #[inline]
    pub(super) fn load_register(
        &mut self, bus: &mut impl Bus, access: Access, rt: Reg, address: u32,
    ) -> Result<(), Trap> {
        self.charge_access();
        let value = self.read_as(bus, access, address)?;
        self.put_loaded(bus, rt, value)
    }

    /// Loads a register, then sets the base register `rn` to `base`.
    ///
    /// A failed load leaves `rn` unchanged.
    #[inline(never)]
    pub(super) fn load_indexed(
        &mut self, bus: &mut impl Bus, access: Access, rt: Reg, rn: Reg, address: u32, base: u32,
    ) -> Result<(), Trap> {
        self.charge_access();
        let value = self.read_as(bus, access, address)?;
        self.put(rn, base);
        self.put_loaded(bus, rt, value)
    }

    #[inline]
    pub(super) fn store_register(
        &mut self, bus: &mut impl Bus, access: Access, rt: Reg, address: u32,
    ) -> Result<(), Trap> {
        self.charge_access();
        let value = self.get(rt);
        match access {
            Access::Word => self.write(bus, address, Size::Word, value),
            Access::Half | Access::SignedHalf => self.write(bus, address, Size::Half, value & 0xffff),
            Access::Byte | Access::SignedByte => self.write(bus, address, Size::Byte, value & 0xff),
        }
    }

    /// Executes LDM and POP (A7.7.41). Registers change only if all loads succeed.
    #[inline]
    pub(super) fn load_multiple(
        &mut self, bus: &mut impl Bus, rn: Reg, list: u16, write_back: bool, decrement_before: bool,
    ) -> Result<(), Trap> {
        let bytes = list.count_ones() * 4;
        self.cycles += u64::from(list.count_ones()) * cycles::LIST_REGISTER;
        let base = self.get(rn);
        let mut address = if decrement_before { base.wrapping_sub(bytes) } else { base };
        let end = if decrement_before { address } else { base.wrapping_add(bytes) };
        let mut values = [0; 16];
        let mut left = list;
        while left != 0 {
            values[(left.trailing_zeros() & 15) as usize] = self.read_word(bus, address)?;
            address = address.wrapping_add(4);
            left &= left - 1;
        }
        if write_back {
            self.put(rn, end);
        }
        left = list & 0x7fff;
        while left != 0 {
            let reg = left.trailing_zeros() & 15;
            self.put(reg as Reg, values[reg as usize]);
            left &= left - 1;
        }
        if list & 0x8000 != 0 { self.branch_exchange(bus, values[15]) } else { Ok(()) }
    }

    /// Executes STM and PUSH (A7.7.159).
    ///
    /// A base register in the list is stored with its original value.
    #[inline]
    pub(super) fn store_multiple(
        &mut self, bus: &mut impl Bus, rn: Reg, list: u16, write_back: bool, decrement_before: bool,
    ) -> Result<(), Trap> {
        let bytes = list.count_ones() * 4;
        self.cycles += u64::from(list.count_ones()) * cycles::LIST_REGISTER;
        let base = self.get(rn);
        let mut address = if decrement_before { base.wrapping_sub(bytes) } else { base };
        let end = if decrement_before { address } else { base.wrapping_add(bytes) };
        let mut left = list;
        while left != 0 {
            self.write_word(bus, address, self.get((left.trailing_zeros() & 15) as Reg))?;
            address = address.wrapping_add(4);
            left &= left - 1;
        }
        if write_back {
            self.put(rn, end);
        }
        Ok(())
    }

    /// Reads the table entry of TBB or TBH.
    pub(super) fn table_entry(
        &mut self, bus: &mut impl Bus, rn: Reg, rm: Reg, half: bool,
    ) -> Result<u32, Trap> {
        self.charge_access();
        let (base, at) = (self.get(rn), self.get(rm));
        if half {
            self.read(bus, base.wrapping_add(at << 1), Size::Half)
        } else {
            self.read(bus, base.wrapping_add(at), Size::Byte)
        }
    }

    /// Returns the address of LDRD or STRD and the new base.
    ///
    /// The base of a literal is the aligned PC (A7.7.51).
    fn pair_address(&self, rn: Reg, index: Index, imm: i16) -> (u32, u32) {
        let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
        let sum = base.wrapping_add_signed(i32::from(imm));
        (if index == Index::Post { base } else { sum }, sum)
    }

    /// Executes LDRD, STRD and the exclusive accesses.
    #[inline(never)]
    pub(super) fn execute_memory(&mut self, bus: &mut impl Bus, op: Op) -> Result<(), Trap> {
        match op {
            Op::LoadPair { rt, rt2, rn, index, imm } => {
                self.cycles += 2 * cycles::LIST_REGISTER;
                let (address, base) = self.pair_address(rn, index, imm);
                let first = self.read_word(bus, address)?;
                let second = self.read_word(bus, address.wrapping_add(4))?;
                if index != Index::Offset {
                    self.put(rn, base);
                }
                self.put(rt, first);
                self.put(rt2, second);
            }
            Op::StorePair { rt, rt2, rn, index, imm } => {
                self.cycles += 2 * cycles::LIST_REGISTER;
                let (address, base) = self.pair_address(rn, index, imm);
                self.write_word(bus, address, self.get(rt))?;
                self.write_word(bus, address.wrapping_add(4), self.get(rt2))?;
                if index != Index::Offset {
                    self.put(rn, base);
                }
            }
            Op::LoadExclusive { access, rt, rn, words } => {
                self.charge_access();
                let address = self.get(rn).wrapping_add(u32::from(words) * 4);
                if address & alignment_mask(access.size()) != 0 {
                    return Err(Trap::Unaligned);
                }
                let value = self.read_aligned(bus, address, access.size())?;
                self.exclusive_monitor = true;
                self.put(rt, value);
            }
            Op::StoreExclusive { access, rd, rt, rn, words } => {
                self.charge_access();
                let address = self.get(rn).wrapping_add(u32::from(words) * 4);
                if address & alignment_mask(access.size()) != 0 {
                    return Err(Trap::Unaligned);
                }
                // The local monitor ignores the address (A3.4.1).
                if self.exclusive_monitor {
                    let value = self.get(rt);
                    let value = match access.size() {
                        Size::Byte => value & 0xff,
                        Size::Half => value & 0xffff,
                        Size::Word => value,
                    };
                    self.write_aligned(bus, address, access.size(), value)?;
                }
                self.put(rd, u32::from(!self.exclusive_monitor));
                self.exclusive_monitor = false;
            }
            _ => {}
        }
        Ok(())
    }
}
