/* The weight file and, of a sealed swarm, its key. */
    .section .rodata.wdgnn, "a"
    .balign 8
    .global weights
weights:
    .incbin WEIGHTS
    .global weights_end
weights_end:
    .global swarm_key
swarm_key:
#ifdef KEY
    .incbin KEY
#endif
    .global swarm_key_end
swarm_key_end:
    .section .note.GNU-stack, "", %progbits
