/* RISC-V without a floating-point unit, as in an ESP32-C3, in QEMU: `qemu-system-riscv32 -M virt -bios none -nographic -kernel swarm.elf`. */
#include "board.h"
#include "stack.h"

extern uint32_t bss_begin[], bss_end[];
int main(void);

/* Serial port, and the device that ends the emulation. */
#define UART ((volatile uint8_t *)0x10000000)
#define FINISHER ((volatile uint32_t *)0x100000)

void board_print(const char *text) {
    while (*text != '\0') {
        *UART = (uint8_t)*text++;
    }
}

_Noreturn void board_exit(int status) {
    *FINISHER = status == 0 ? 0x5555 : (uint32_t)status << 16 | 0x3333;
    for (;;) {
    }
}

size_t board_stack_bytes(void) { return stack_used(); }

__attribute__((used)) static _Noreturn void start_c(void) {
    for (uint32_t *word = bss_begin; word < bss_end; word++) {
        *word = 0;
    }
    stack_paint();
    main();
    board_exit(1);
}

__attribute__((aligned(4), used)) static _Noreturn void trap(void) {
    board_print("trap\n");
    board_exit(1);
}

__attribute__((naked, section(".start"), used)) void start(void) {
    __asm__ volatile("la sp, stack_begin\n"
                     "la t0, trap\n"
                     "csrw mtvec, t0\n"
                     "j start_c\n");
}
