/* What the example needs of a machine. */
#ifndef BOARD_H
#define BOARD_H

#include <stddef.h>

void board_print(const char *text);
_Noreturn void board_exit(int status);
/* The most stack that was ever used, 0 where nobody looks. */
size_t board_stack_bytes(void);

#endif
