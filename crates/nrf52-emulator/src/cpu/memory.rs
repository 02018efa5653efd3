//! Loads and stores (A3.2, A4.6).

use super::{
    Bus, BusFault, Cpu, Size, Trap, cycles,
    op::{Access, Index, Op, Reg},
};

/// Below are code and RAM, which change no interrupt line.
const PERIPHERALS: u32 = 0x4000_0000;
/// Below is code: a write there is one to flash, and takes its time.
const RAM: u32 = 0x2000_0000;

/// The private peripheral bus (B3.1).
const fn is_private(address: u32) -> bool {
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

const fn mask(size: Size) -> u32 {
    match size {
        Size::Byte => 0,
        Size::Half => 1,
        Size::Word => 3,
    }
}

impl Cpu {
    #[inline]
    fn read_aligned(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if address >= PERIPHERALS {
            if is_private(address) {
                return self.private_load(address, size);
            }
            self.touched = true;
            bus.time(self.cycles);
        }
        bus.load(address, size).map_err(|BusFault { address }| {
            self.fault_address = address;
            Trap::Data
        })
    }

    #[inline]
    fn write_aligned(
        &mut self,
        bus: &mut impl Bus,
        address: u32,
        size: Size,
        value: u32,
    ) -> Result<(), Trap> {
        if address >= PERIPHERALS {
            if is_private(address) {
                return self.private_store(address, size, value);
            }
            self.touched = true;
            bus.time(self.cycles);
        } else if address < RAM {
            self.touched = true;
            bus.time(self.cycles);
        }
        bus.store(address, size, value).map_err(|BusFault { address }| {
            self.fault_address = address;
            Trap::Data
        })
    }

    /// MemU (B2.3.4): of any alignment.
    #[inline]
    fn read(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if address & mask(size) == 0 {
            self.read_aligned(bus, address, size)
        } else {
            self.read_split(bus, address, size)
        }
    }

    /// MemU
    #[inline]
    fn write(&mut self, bus: &mut impl Bus, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        if address & mask(size) == 0 {
            self.write_aligned(bus, address, size, value)
        } else {
            self.write_split(bus, address, size, value)
        }
    }

    #[cold]
    fn read_split(&mut self, bus: &mut impl Bus, address: u32, size: Size) -> Result<u32, Trap> {
        if self.scs.traps_unaligned() || is_private(address) {
            return Err(Trap::Unaligned);
        }
        let mut value = 0;
        for at in 0..=mask(size) {
            value |= self.read_aligned(bus, address.wrapping_add(at), Size::Byte)? << (8 * at);
        }
        Ok(value)
    }

    #[cold]
    fn write_split(&mut self, bus: &mut impl Bus, address: u32, size: Size, value: u32) -> Result<(), Trap> {
        if self.scs.traps_unaligned() || is_private(address) {
            return Err(Trap::Unaligned);
        }
        for at in 0..=mask(size) {
            self.write_aligned(bus, address.wrapping_add(at), Size::Byte, value >> (8 * at) & 0xff)?;
        }
        Ok(())
    }

    /// MemA: what must be aligned.
    #[inline]
    pub(super) fn read_word(&mut self, bus: &mut impl Bus, address: u32) -> Result<u32, Trap> {
        if address & 3 != 0 { Err(Trap::Unaligned) } else { self.read_aligned(bus, address, Size::Word) }
    }

    /// MemA
    #[inline]
    pub(super) fn write_word(&mut self, bus: &mut impl Bus, address: u32, value: u32) -> Result<(), Trap> {
        if address & 3 != 0 {
            Err(Trap::Unaligned)
        } else {
            self.write_aligned(bus, address, Size::Word, value)
        }
    }

    /// Accesses back to back overlap.
    #[inline]
    pub(super) fn access_cost(&mut self) {
        if self.last_access.wrapping_add(1) != self.instructions {
            self.cycles += cycles::FIRST_ACCESS;
        }
        self.last_access = self.instructions;
    }

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
        self.access_cost();
        let value = self.read(bus, address, Size::Word)?;
        self.put_loaded(bus, rt, value)
    }

    #[inline]
    pub(super) fn store_word(&mut self, bus: &mut impl Bus, rt: Reg, address: u32) -> Result<(), Trap> {
        self.access_cost();
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
        &mut self,
        bus: &mut impl Bus,
        access: Access,
        rt: Reg,
        address: u32,
    ) -> Result<(), Trap> {
        self.access_cost();
        let value = self.read_as(bus, access, address)?;
        self.put_loaded(bus, rt, value)
    }

    /// The base changes only when the load succeeded.
    #[inline(never)]
    pub(super) fn load_indexed(
        &mut self,
        bus: &mut impl Bus,
        access: Access,
        rt: Reg,
        rn: Reg,
        address: u32,
        base: u32,
    ) -> Result<(), Trap> {
        self.access_cost();
        let value = self.read_as(bus, access, address)?;
        self.put(rn, base);
        self.put_loaded(bus, rt, value)
    }

    #[inline]
    pub(super) fn store_register(
        &mut self,
        bus: &mut impl Bus,
        access: Access,
        rt: Reg,
        address: u32,
    ) -> Result<(), Trap> {
        self.access_cost();
        let value = self.get(rt);
        match access {
            Access::Word => self.write(bus, address, Size::Word, value),
            Access::Half | Access::SignedHalf => self.write(bus, address, Size::Half, value & 0xffff),
            Access::Byte | Access::SignedByte => self.write(bus, address, Size::Byte, value & 0xff),
        }
    }

    /// LDM, POP (A7.7.41): registers change only when all loads succeeded.
    #[inline]
    pub(super) fn load_many(
        &mut self,
        bus: &mut impl Bus,
        rn: Reg,
        list: u16,
        write_back: bool,
        down: bool,
    ) -> Result<(), Trap> {
        let bytes = list.count_ones() * 4;
        self.cycles += u64::from(list.count_ones()) * cycles::LIST_REGISTER;
        let base = self.get(rn);
        let mut address = if down { base.wrapping_sub(bytes) } else { base };
        let end = if down { address } else { base.wrapping_add(bytes) };
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

    /// STM, PUSH (A7.7.159). The base in the list is stored as it was.
    #[inline]
    pub(super) fn store_many(
        &mut self,
        bus: &mut impl Bus,
        rn: Reg,
        list: u16,
        write_back: bool,
        down: bool,
    ) -> Result<(), Trap> {
        let bytes = list.count_ones() * 4;
        self.cycles += u64::from(list.count_ones()) * cycles::LIST_REGISTER;
        let base = self.get(rn);
        let mut address = if down { base.wrapping_sub(bytes) } else { base };
        let end = if down { address } else { base.wrapping_add(bytes) };
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

    /// TBB, TBH: an entry of the table.
    pub(super) fn table_entry(
        &mut self,
        bus: &mut impl Bus,
        rn: Reg,
        rm: Reg,
        half: bool,
    ) -> Result<u32, Trap> {
        self.access_cost();
        let (base, at) = (self.get(rn), self.get(rm));
        if half {
            self.read(bus, base.wrapping_add(at << 1), Size::Half)
        } else {
            self.read(bus, base.wrapping_add(at), Size::Byte)
        }
    }

    /// Where a pair is, and what its base becomes. LDRD of a literal counts from the aligned PC (A7.7.51).
    fn indexed(&self, rn: Reg, index: Index, imm: i16) -> (u32, u32) {
        let base = if rn == 15 { self.get(15) & !3 } else { self.get(rn) };
        let moved = base.wrapping_add_signed(i32::from(imm));
        (if index == Index::Post { base } else { moved }, moved)
    }

    /// Pairs and exclusives.
    #[inline(never)]
    pub(super) fn execute_memory(&mut self, bus: &mut impl Bus, op: Op) -> Result<(), Trap> {
        match op {
            Op::LoadPair { rt, rt2, rn, index, imm } => {
                self.cycles += 2 * cycles::LIST_REGISTER;
                let (address, base) = self.indexed(rn, index, imm);
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
                let (address, base) = self.indexed(rn, index, imm);
                self.write_word(bus, address, self.get(rt))?;
                self.write_word(bus, address.wrapping_add(4), self.get(rt2))?;
                if index != Index::Offset {
                    self.put(rn, base);
                }
            }
            Op::LoadExclusive { access, rt, rn, words } => {
                self.access_cost();
                let address = self.get(rn).wrapping_add(u32::from(words) * 4);
                if address & mask(access.size()) != 0 {
                    return Err(Trap::Unaligned);
                }
                let value = self.read_aligned(bus, address, access.size())?;
                self.exclusive = true;
                self.put(rt, value);
            }
            Op::StoreExclusive { access, rd, rt, rn, words } => {
                self.access_cost();
                let address = self.get(rn).wrapping_add(u32::from(words) * 4);
                if address & mask(access.size()) != 0 {
                    return Err(Trap::Unaligned);
                }
                // A3.4.1: the local monitor of one processor does not look at the address.
                if self.exclusive {
                    let value = self.get(rt);
                    let value = match access.size() {
                        Size::Byte => value & 0xff,
                        Size::Half => value & 0xffff,
                        Size::Word => value,
                    };
                    self.write_aligned(bus, address, access.size(), value)?;
                }
                self.put(rd, u32::from(!self.exclusive));
                self.exclusive = false;
            }
            _ => {}
        }
        Ok(())
    }
}
