//! Instruction patterns for the comparison with QEMU.
//!
//! `0` and `1` are fixed bits, and `x` is a random bit. Other letters are register fields of three
//! or four bits.

/// 16-bit data processing.
pub const NARROW: &str = "
    00000 xxxxx mmm ddd     LSLS, MOVS
    00001 xxxxx mmm ddd     LSRS
    00010 xxxxx mmm ddd     ASRS
    000110 x mmm nnn ddd    ADDS, SUBS
    000111 x xxx nnn ddd    ADDS, SUBS
    001 xx ddd xxxxxxxx     MOVS, CMP, ADDS, SUBS
    010000 xxxx mmm ddd     data processing
    010001 00 0 mmmm ddd    ADD
    010001 01 1 mmmm 0 x x  CMP R8..R11
    010001 10 0 mmmm ddd    MOV
    10101 ddd xxxxxxxx      ADD from SP
    1011 0010 xx mmm ddd    SXTH, SXTB, UXTH, UXTB
    1011 1010 00 mmm ddd    REV
    1011 1010 01 mmm ddd    REV16
    1011 1010 11 mmm ddd    REVSH
";

/// 32-bit data processing.
///
/// A line with `?` has encodings that are not instructions, which are drawn again. `h` and `l` are
/// different registers.
pub const WIDE: &str = "
    1110101 0000 x nnnn 0 xxx dddd xx xx mmmm       AND
    1110101 0000 1 nnnn 0 xxx 1111 xx xx mmmm       TST
    1110101 0001 x nnnn 0 xxx dddd xx xx mmmm       BIC
    1110101 0010 x nnnn 0 xxx dddd xx xx mmmm       ORR
    1110101 0010 x 1111 0 xxx dddd xx xx mmmm       MOV, shifts
    1110101 0011 x nnnn 0 xxx dddd xx xx mmmm       ORN
    1110101 0011 x 1111 0 xxx dddd xx xx mmmm       MVN
    1110101 0100 x nnnn 0 xxx dddd xx xx mmmm       EOR
    1110101 0100 1 nnnn 0 xxx 1111 xx xx mmmm       TEQ
    1110101 0110 0 nnnn 0 xxx dddd xx x0 mmmm       PKHBT, PKHTB
    1110101 1000 x nnnn 0 xxx dddd xx xx mmmm       ADD
    1110101 1000 1 nnnn 0 xxx 1111 xx xx mmmm       CMN
    1110101 1010 x nnnn 0 xxx dddd xx xx mmmm       ADC
    1110101 1011 x nnnn 0 xxx dddd xx xx mmmm       SBC
    1110101 1101 x nnnn 0 xxx dddd xx xx mmmm       SUB
    1110101 1101 1 nnnn 0 xxx 1111 xx xx mmmm       CMP
    1110101 1110 x nnnn 0 xxx dddd xx xx mmmm       RSB
    11110 x 0 0000 x nnnn 0 xxx dddd xxxxxxxx       AND
    11110 x 0 0000 1 nnnn 0 xxx 1111 xxxxxxxx       TST
    11110 x 0 0001 x nnnn 0 xxx dddd xxxxxxxx       BIC
    11110 x 0 0010 x nnnn 0 xxx dddd xxxxxxxx       ORR
    11110 x 0 0010 x 1111 0 xxx dddd xxxxxxxx       MOV
    11110 x 0 0011 x nnnn 0 xxx dddd xxxxxxxx       ORN
    11110 x 0 0011 x 1111 0 xxx dddd xxxxxxxx       MVN
    11110 x 0 0100 x nnnn 0 xxx dddd xxxxxxxx       EOR
    11110 x 0 0100 1 nnnn 0 xxx 1111 xxxxxxxx       TEQ
    11110 x 0 1000 x nnnn 0 xxx dddd xxxxxxxx       ADD
    11110 x 0 1000 1 nnnn 0 xxx 1111 xxxxxxxx       CMN
    11110 x 0 1010 x nnnn 0 xxx dddd xxxxxxxx       ADC
    11110 x 0 1011 x nnnn 0 xxx dddd xxxxxxxx       SBC
    11110 x 0 1101 x nnnn 0 xxx dddd xxxxxxxx       SUB
    11110 x 0 1101 1 nnnn 0 xxx 1111 xxxxxxxx       CMP
    11110 x 0 1110 x nnnn 0 xxx dddd xxxxxxxx       RSB
    11110 x 1 0000 0 nnnn 0 xxx dddd xxxxxxxx       ADDW
    11110 x 1 0101 0 nnnn 0 xxx dddd xxxxxxxx       SUBW
    11110 x 1 0010 0 xxxx 0 xxx dddd xxxxxxxx       MOVW
    11110 x 1 0110 0 xxxx 0 xxx dddd xxxxxxxx       MOVT
    11110 0 1 1000 0 nnnn 0 xxx dddd xx 0 xxxxx     SSAT
    11110 0 1 1001 0 nnnn 0 001 dddd xx 0 xxxxx     SSAT, ASR
    11110 0 1 1001 0 nnnn 0 000 dddd 00 0 0xxxx     SSAT16
    11110 0 1 1100 0 nnnn 0 xxx dddd xx 0 xxxxx     USAT
    11110 0 1 1101 0 nnnn 0 001 dddd xx 0 xxxxx     USAT, ASR
    11110 0 1 1101 0 nnnn 0 000 dddd 00 0 0xxxx     USAT16
    ? 11110 0 1 1010 0 nnnn 0 xxx dddd xx 0 xxxxx   SBFX
    ? 11110 0 1 1110 0 nnnn 0 xxx dddd xx 0 xxxxx   UBFX
    ? 11110 0 1 1011 0 nnnn 0 xxx dddd xx 0 xxxxx   BFI
    ? 11110 0 1 1011 0 1111 0 xxx dddd xx 0 xxxxx   BFC
    11111010 0 xx x nnnn 1111 dddd 0000 mmmm        LSL, LSR, ASR, ROR
    11111010 0 00 x nnnn 1111 dddd 10 xx mmmm       SXTAH, UXTAH
    11111010 0 01 x nnnn 1111 dddd 10 xx mmmm       SXTAB16, UXTAB16
    11111010 0 10 x nnnn 1111 dddd 10 xx mmmm       SXTAB, UXTAB
    11111010 0 00 x 1111 1111 dddd 10 xx mmmm       SXTH, UXTH
    11111010 0 01 x 1111 1111 dddd 10 xx mmmm       SXTB16, UXTB16
    11111010 0 10 x 1111 1111 dddd 10 xx mmmm       SXTB, UXTB
    11111010 1 x00 nnnn 1111 dddd 0 x 00 mmmm       parallel
    11111010 1 x01 nnnn 1111 dddd 0 x 00 mmmm       parallel
    11111010 1 x10 nnnn 1111 dddd 0 x 00 mmmm       parallel
    11111010 1 x00 nnnn 1111 dddd 0 x 01 mmmm       parallel, saturating
    11111010 1 x01 nnnn 1111 dddd 0 x 01 mmmm       parallel, saturating
    11111010 1 x10 nnnn 1111 dddd 0 x 01 mmmm       parallel, saturating
    11111010 1 x00 nnnn 1111 dddd 0 x 10 mmmm       parallel, halving
    11111010 1 x01 nnnn 1111 dddd 0 x 10 mmmm       parallel, halving
    11111010 1 x10 nnnn 1111 dddd 0 x 10 mmmm       parallel, halving
    11111010 1000 nnnn 1111 dddd 10 xx mmmm         QADD, QDADD, QSUB, QDSUB
    11111010 1010 nnnn 1111 dddd 1000 mmmm          SEL
    11111010 1001 0001 1111 dddd 10 xx 0001         REV, REV16, RBIT, REVSH
    11111010 1011 0010 1111 dddd 1000 0010          CLZ
    11111011 0000 nnnn aaaa dddd 000 x mmmm         MLA, MLS
    11111011 0000 nnnn 1111 dddd 0000 mmmm          MUL
    11111011 0001 nnnn aaaa dddd 00 xx mmmm         SMLABB
    11111011 0001 nnnn 1111 dddd 00 xx mmmm         SMULBB
    11111011 0010 nnnn aaaa dddd 000 x mmmm         SMLAD
    11111011 0010 nnnn 1111 dddd 000 x mmmm         SMUAD
    11111011 0011 nnnn aaaa dddd 000 x mmmm         SMLAWB
    11111011 0011 nnnn 1111 dddd 000 x mmmm         SMULWB
    11111011 0100 nnnn aaaa dddd 000 x mmmm         SMLSD
    11111011 0100 nnnn 1111 dddd 000 x mmmm         SMUSD
    11111011 0101 nnnn aaaa dddd 000 x mmmm         SMMLA
    11111011 0101 nnnn 1111 dddd 000 x mmmm         SMMUL
    11111011 0110 nnnn aaaa dddd 000 x mmmm         SMMLS
    11111011 0111 nnnn aaaa dddd 0000 mmmm          USADA8
    11111011 0111 nnnn 1111 dddd 0000 mmmm          USAD8
    11111011 1000 nnnn llll hhhh 0000 mmmm          SMULL
    11111011 1001 nnnn 1111 dddd 1111 mmmm          SDIV
    11111011 1010 nnnn llll hhhh 0000 mmmm          UMULL
    11111011 1011 nnnn 1111 dddd 1111 mmmm          UDIV
    11111011 1100 nnnn llll hhhh 0000 mmmm          SMLAL
    11111011 1100 nnnn llll hhhh 10 xx mmmm         SMLALBB
    11111011 1100 nnnn llll hhhh 110 x mmmm         SMLALD
    11111011 1101 nnnn llll hhhh 110 x mmmm         SMLSLD
    11111011 1110 nnnn llll hhhh 0000 mmmm          UMLAL
    11111011 1110 nnnn llll hhhh 0110 mmmm          UMAAL
    11110011 1110 1111 1000 dddd 00000000           MRS APSR
    11110011 1000 nnnn 1000 10 00 00000000          MSR APSR_nzcvq
    11110011 1000 nnnn 1000 11 00 00000000          MSR APSR_nzcvqg
";

/// Loads and stores relative to R11, which points to the scratch memory.
pub const MEMORY: &str = "
    11111000 1 00 x 1011 dddd 0000 00xxxxxx         LDRB, STRB
    11111000 1 01 x 1011 dddd 0000 00xxxxxx         LDRH, STRH
    11111000 1 10 x 1011 dddd 0000 00xxxxxx         LDR, STR
    11111001 1 00 1 1011 dddd 0000 00xxxxxx         LDRSB
    11111001 1 01 1 1011 dddd 0000 00xxxxxx         LDRSH
    11111000 0 00 x 1011 dddd 1100 00xxxxxx         LDRB, STRB
    11111000 0 01 x 1011 dddd 1100 00xxxxxx         LDRH, STRH
    11111000 0 10 x 1011 dddd 1x11 00xxxxxx         LDR, STR, indexed
    11111000 0 10 x 1011 dddd 1x01 00xxxxxx         LDR, STR, indexed
    11111001 0 00 1 1011 dddd 1x01 00xxxxxx         LDRSB, indexed
    11111001 0 01 1 1011 dddd 1x11 00xxxxxx         LDRSH, indexed
    1110100 1 x 1 x 0 1011 dddd hhhh 0000xxxx       STRD
    1110100 1 x 1 x 1 1011 llll hhhh 0000xxxx       LDRD
    1110100 0 x 1 1 1 1011 llll hhhh 0000xxxx       LDRD, post-indexed
    1110100 01 0 0 0 1011 0 x 0 0 xxxx xxxxxxx1     STM
    1110100 01 0 1 1 1011 0 x 0 0 0xxx xxxxxx11     LDM
    1110100 10 0 1 1 1011 0 x 0 0 0xxx xxxxxx11     LDMDB
    1110100 10 0 1 0 1011 0 x 0 0 0xxx xxxxxx11     STMDB
    1110110 1 x x 0 x 1011 xxxx 1010 0000xxxx       VLDR, VSTR
    1110110 1 x 0 0 x 1011 xxxx 1011 0000xxxx       VLDR, VSTR of doubles
    1110110 0 1 0 x x 1011 0xxx 1010 00001xxx       VLDM, VSTM
    1110110 1 0 0 1 x 1011 0xxx 1011 00001xx0       VLDMDB, VSTMDB
";

/// FP instructions.
pub const FLOAT: &str = "
    11101110 0 x 00 xxxx xxxx 1010 x x x 0 xxxx     VMLA, VMLS
    11101110 0 x 01 xxxx xxxx 1010 x x x 0 xxxx     VNMLA, VNMLS
    11101110 0 x 10 xxxx xxxx 1010 x x x 0 xxxx     VMUL, VNMUL
    11101110 0 x 11 xxxx xxxx 1010 x x x 0 xxxx     VADD, VSUB
    11101110 0 x 11 xxxx xxxx 1010 x x x 0 xxxx     VADD, VSUB
    11101110 1 x 00 xxxx xxxx 1010 x 0 x 0 xxxx     VDIV
    11101110 1 x 01 xxxx xxxx 1010 x x x 0 xxxx     VFNMA, VFNMS
    11101110 1 x 10 xxxx xxxx 1010 x x x 0 xxxx     VFMA, VFMS
    11101110 1 x 11 xxxx xxxx 1010 0 0 0 0 xxxx     VMOV immediate
    11101110 1 x 11 0000 xxxx 1010 x 1 x 0 xxxx     VMOV, VABS
    11101110 1 x 11 0001 xxxx 1010 x 1 x 0 xxxx     VNEG, VSQRT
    11101110 1 x 11 001x xxxx 1010 x 1 x 0 xxxx     VCVTB, VCVTT
    11101110 1 x 11 001x xxxx 1010 x 1 x 0 xxxx     VCVTB, VCVTT
    11101110 1 x 11 0100 xxxx 1010 x 1 x 0 xxxx     VCMP
    11101110 1 x 11 0101 xxxx 1010 x 1 0 0 0000     VCMP with zero
    11101110 1 x 11 1000 xxxx 1010 x 1 x 0 xxxx     VCVT from integers
    11101110 1 x 11 110x xxxx 1010 x 1 x 0 xxxx     VCVT, VCVTR to integers
    11101110 1 x 11 1x1x xxxx 1010 1 1 x 0 xxxx     VCVT fixed, 32 bits
    11101110 1 x 11 1x1x xxxx 1010 0 1 x 0 0xxx     VCVT fixed, 16 bits
    11101110 000 x xxxx dddd 1010 x 00 1 0000       VMOV core, single
    11101110 00 x x 0xxx dddd 1011 0 00 1 0000      VMOV core, half of a double
    11101100 010 0 llll hhhh 1010 00 x 1 0xxx       VMOV two singles
    11101100 010 1 llll hhhh 1010 00 x 1 0xxx       VMOV two cores
    11101100 010 x llll hhhh 1011 00 0 1 xxxx       VMOV a double
    11101110 1111 0001 1111 1010 0001 0000          VMRS APSR
";

/// Transfers of FPSCR, only as the first instruction of a snippet.
///
/// Later they would read the cumulative exception flags, which are not emulated.
pub const STATUS: &str = "
    11101110 1111 0001 dddd 1010 0001 0000          VMRS
    11101110 1110 0001 0011 1010 0001 0000          VMSR FPSCR, R3
";
