/* STM32F405, the processor of the Crazyflie, in QEMU: `qemu-system-arm -M netduinoplus2 -semihosting -nographic -kernel swarm.elf`. */
#include "board.h"
#include "stack.h"

extern uint32_t bss_begin[], bss_end[];
int main(void);

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_print(const char *text) { semihosting(0x04, text); }

_Noreturn void board_exit(int status) {
    /* Exit codes of Arm semihosting: application exit, run-time error. */
    semihosting(0x18, (const void *)(status == 0 ? 0x20026 : 0x20023));
    for (;;) {
    }
}

size_t board_stack_bytes(void) { return stack_used(); }

static _Noreturn void fault(void) {
    board_print("fault\n");
    board_exit(1);
}

static _Noreturn void reset(void) {
    *(volatile uint32_t *)0xe000ed88 |= 0xfu << 20; /* CPACR: enables the floating-point unit */
    __asm__ volatile("dsb\nisb");
    for (uint32_t *word = bss_begin; word < bss_end; word++) {
        *word = 0;
    }
    stack_paint();
    main();
    board_exit(1);
}

__attribute__((section(".vectors"), used)) const void *const vectors[16] = {
    stack_begin, (void *)reset, (void *)fault, (void *)fault, (void *)fault, (void *)fault, (void *)fault,
};
