/* The stack, painted before main and looked at afterwards. Both ends are the linker script's. */
#include <stddef.h>
#include <stdint.h>

#define PAINT 0xdeadbeefu

extern uint32_t stack_end[], stack_begin[]; /* it grows towards its end */

/* All but the uppermost words, which whoever paints is using. */
static inline void stack_paint(void) {
    for (uint32_t *word = stack_end; word + 64 < stack_begin; word++) {
        *(volatile uint32_t *)word = PAINT;
    }
}

static inline size_t stack_used(void) {
    uint32_t *word = stack_end;
    while (word < stack_begin && *word == PAINT) {
        word++;
    }
    return (size_t)((uint8_t *)stack_begin - (uint8_t *)word);
}
