/* A computer with an operating system. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

void board_print(const char *text) { fputs(text, stdout); }
_Noreturn void board_exit(int status) { exit(status); }
size_t board_stack_bytes(void) { return 0; }
