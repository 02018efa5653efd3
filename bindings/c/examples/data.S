/* Files of the swarm, included as they are: -DWEIGHTS="\"model.wdgnn\"" -DFLIGHT="\"flight.bin\"". */
    .section .rodata.data, "a"
    .balign 8
    .global flight
flight:
    .incbin FLIGHT
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
    .balign 8
    .global operator
operator:
#ifdef OPERATOR
    .incbin OPERATOR
#endif
    .section .note.GNU-stack, "", %progbits
