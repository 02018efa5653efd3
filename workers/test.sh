#!/usr/bin/env bash
# Several processes fly one swarm, and print the digest of one process: two and four of them, with everything that goes wrong, one that is
# killed in the middle, started again by hand and by the launcher, and in two network namespaces (as root, with iproute2). The build takes minutes: Zenoh is some 280 crates.
#
#   workers/test.sh            all of it
#   workers/test.sh launch     only what starts workers by itself
#   workers/test.sh mixed      only emulated robots (QEMU) on workers
#   workers/test.sh speed      only the measurement: 100,000 robots on one worker and on two
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet -p host-sim --features workers
if [ $# = 0 ]; then
    cargo clippy --quiet -p host-sim -p wdgnn-workers --features host-sim/workers --all-targets -- -D warnings
    cargo test --quiet -p host-sim --features workers --lib -- commands::swarm
fi
program="${CARGO_TARGET_DIR:-target}/debug/host-sim"
folder=$(mktemp -d)
trap 'jobs -p | xargs -r kill 2> /dev/null || true; rm -rf "$folder"' EXIT
printf 000102030405060708090a0b0c0d0e0f > "$folder/swarm.key"
# Below those that systems draw for the other end of connections.
port=$((20000 + RANDOM % 12000))

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# The digest in what a process printed.
digest() {
    sed -n 's/^digest *//p' "$1"
}

# Addresses for so many workers on this machine, that nobody has used yet.
addresses() {
    port=$((port + 10))
    peers=$(for number in $(seq 0 $(($1 - 1))); do echo "127.0.0.1:$((port + number))"; done | paste -sd,)
}

# Flies a swarm with so many workers and with one process, and compares.
compare() {
    local workers=$1
    shift
    "$program" swarm "$@" > "$folder/one"
    addresses "$workers"
    local started=()
    for number in $(seq 0 $((workers - 1))); do
        "$program" swarm "$@" --worker "$number/$workers" --peers "$peers" > "$folder/$number" 2> "$folder/$number.err" &
        started+=($!)
    done
    for process in "${started[@]}"; do
        wait "$process" || { cat "$folder"/*.err; fail "a worker of: $*"; }
    done
    for number in $(seq 0 $((workers - 1))); do
        [ "$(digest "$folder/$number")" = "$(digest "$folder/one")" ] || fail "worker $number of $workers: $*"
    done
    echo "same digest on $workers workers: $(digest "$folder/one") $*"
}

# Kills a worker in the middle of a flight and starts it again.
lose() {
    local flight=(--robots 200 --ticks 2000 --profile dot154 --key "$folder/swarm.key" --drop-chance 0.2)
    "$program" swarm "${flight[@]}" > "$folder/one"
    addresses 3
    for number in 0 1 2; do
        "$program" swarm "${flight[@]}" --worker "$number/3" --peers "$peers" > "$folder/$number" 2> "$folder/$number.err" &
        if [ "$number" = 1 ]; then killed=$!; fi
    done
    sleep 1.5
    kill -9 "$killed" 2> /dev/null || fail "the flight was over before a worker could be killed: give it more ticks"
    wait "$killed" 2> /dev/null || true
    "$program" swarm "${flight[@]}" --worker 1/3 --peers "$peers" > "$folder/1" 2> "$folder/1.err" &
    wait
    grep -q "a worker was lost; everybody goes on from tick" "$folder/0.err" || fail "nobody noticed: $(cat "$folder/0.err")"
    for number in 0 1 2; do
        [ "$(digest "$folder/$number")" = "$(digest "$folder/one")" ] || fail "worker $number after a loss"
    done
    echo "same digest with a killed worker: $(digest "$folder/one"), $(grep -o 'everybody goes on from tick.*' "$folder/0.err")"
}

# The workers that a launcher has started.
started_by() {
    pgrep -P "$1" -f -- '--worker ' | sort
}

# Waits until a command is true, for up to half a minute.
until_true() {
    for _ in $(seq 300); do
        if "$@"; then return; fi
        sleep 0.1
    done
    fail "in vain: $*"
}

has_workers() {
    [ "$(started_by "$1" | wc -l)" = "$2" ]
}

all_gone() {
    ! kill -0 "$@" 2> /dev/null
}

# One command starts all workers, and one again that is killed; whatever ends it, no worker is left.
launch() {
    local flight=(--robots 200 --ticks 3000 --profile dot154 --key "$folder/swarm.key" --drop-chance 0.2) launcher workers code
    "$program" swarm "${flight[@]}" > "$folder/one"
    "$program" swarm "${flight[@]}" --workers 3 > "$folder/all" 2> "$folder/all.err" &
    launcher=$!
    until_true has_workers "$launcher" 3
    sleep 1.5
    kill -9 "$(started_by "$launcher" | sed -n 2p)" || fail "the flight was over before a worker could be killed: give it more ticks"
    wait "$launcher" || fail "the launcher: $(cat "$folder/all.err")"
    grep -q "died (signal: 9 (SIGKILL)): it is started again" "$folder/all.err" || fail "nobody died: $(cat "$folder/all.err")"
    [ "$(digest "$folder/all")" = "$(digest "$folder/one")" ] || fail "launched workers: $(cat "$folder/all")"
    [ "$(grep -c '^worker [012] ' "$folder/all")" = 3 ] || fail "not a line for each: $(cat "$folder/all")"
    echo "same digest with a launcher and a killed worker: $(digest "$folder/all"), $(grep -o 'worker . died.*' "$folder/all.err")"
    # It dies as often as it is started again, and then everybody ends.
    "$program" swarm "${flight[@]}" --workers 2 --restarts 1 > "$folder/all" 2> "$folder/all.err" &
    launcher=$!
    for _ in 1 2; do
        until_true has_workers "$launcher" 2
        sleep 0.5
        workers=$(started_by "$launcher")
        kill -9 "$(echo "$workers" | sed -n 2p)"
        sleep 0.5
    done
    code=0
    wait "$launcher" || code=$?
    [ "$code" = 1 ] || fail "exit code $code of a launcher that gave up"
    grep -q "after it was started again 1 times" "$folder/all.err" || fail "$(cat "$folder/all.err")"
    until_true all_gone $workers
    # What cannot be is told once, with its exit code, and nobody is started again for it.
    code=0
    "$program" swarm --workers 2 --collisions --ticks 5 > /dev/null 2> "$folder/all.err" || code=$?
    [ "$code" = 2 ] || fail "exit code $code of what cannot be: $(cat "$folder/all.err")"
    grep -q "collisions is for a --profile that a radio carries" "$folder/all.err" || fail "$(cat "$folder/all.err")"
    ! grep -q "started again" "$folder/all.err" || fail "$(cat "$folder/all.err")"
    # Ctrl-C, an end that is asked for, and one that is not.
    for signal in INT TERM KILL; do
        "$program" swarm "${flight[@]}" --workers 3 > /dev/null 2> "$folder/all.err" &
        launcher=$!
        until_true has_workers "$launcher" 3
        workers=$(started_by "$launcher")
        sleep 0.5
        kill -"$signal" "$launcher"
        wait "$launcher" 2> /dev/null || true
        until_true all_gone $workers
    done
    echo "no worker is left behind by a launcher that is interrupted, ended or killed"
}

# Robots on emulated microcontrollers among native ones, spread over workers; one of those is killed, and its emulators go with it.
mixed() {
    if ! command -v qemu-system-arm > /dev/null; then
        echo "not tested: emulated robots on workers (needs qemu-system-arm)"
        return
    fi
    local flight=(--robots 30 --ticks 1500 --profile dot154 --key "$folder/swarm.key" --drop-chance 0.1) launcher emulators
    "$program" swarm "${flight[@]}" > "$folder/one"
    "$program" swarm "${flight[@]}" --emulated 5 --workers 2 > "$folder/all" 2> "$folder/all.err" &
    launcher=$!
    until_true has_workers "$launcher" 2
    until_true emulates "$launcher" 5
    sleep 1
    emulators=$(emulators_of "$launcher")
    kill -9 "$(started_by "$launcher" | sed -n 2p)" || fail "the flight was over before a worker could be killed: give it more ticks"
    wait "$launcher" || fail "the launcher: $(cat "$folder/all.err")"
    grep -q "it is started again" "$folder/all.err" || fail "nobody died: $(cat "$folder/all.err")"
    [ "$(digest "$folder/all")" = "$(digest "$folder/one")" ] || fail "emulated robots on workers: $(cat "$folder/all")"
    for emulator in $emulators; do until_true all_gone "$emulator"; done
    "$program" swarm --robots 6 --ticks 50 > "$folder/one"
    "$program" swarm --robots 6 --ticks 50 --nodes emulated --workers 3 > "$folder/all" 2> "$folder/all.err" || fail "$(cat "$folder/all.err")"
    [ "$(digest "$folder/all")" = "$(digest "$folder/one")" ] || fail "emulated robots on workers: $(cat "$folder/all")"
    echo "same digest with emulated robots on two workers, one killed, and on three"
}

# The emulators of a launcher's workers.
emulators_of() {
    for worker in $(started_by "$1"); do pgrep -P "$worker" qemu-system-arm || true; done
}

emulates() {
    [ "$(emulators_of "$1" | wc -l)" = "$2" ]
}

# Two workers in network namespaces of their own, with a cable in between.
apart() {
    if [ "$(id -u)" != 0 ] || ! ip netns add wdgnn-one 2> /dev/null; then
        echo "not tested: two network namespaces (needs root, iproute2 and a kernel that allows them)"
        return
    fi
    ip netns add wdgnn-two
    trap 'jobs -p | xargs -r kill 2> /dev/null || true; ip netns del wdgnn-one; ip netns del wdgnn-two; rm -rf "$folder"' EXIT
    ip link add wdgnn-a type veth peer name wdgnn-b
    ip link set wdgnn-a netns wdgnn-one
    ip link set wdgnn-b netns wdgnn-two
    ip -n wdgnn-one address add 10.99.0.1/24 dev wdgnn-a
    ip -n wdgnn-two address add 10.99.0.2/24 dev wdgnn-b
    ip -n wdgnn-one link set wdgnn-a up
    ip -n wdgnn-two link set wdgnn-b up
    local flight=(--robots 200 --profile espnow --key "$folder/swarm.key") peers=10.99.0.1:7447,10.99.0.2:7447
    "$program" swarm "${flight[@]}" > "$folder/one"
    ip netns exec wdgnn-two "$program" swarm "${flight[@]}" --worker 1/2 --peers "$peers" > "$folder/1" &
    ip netns exec wdgnn-one "$program" swarm "${flight[@]}" --worker 0/2 --peers "$peers" > "$folder/0"
    wait
    for number in 0 1; do
        [ "$(digest "$folder/$number")" = "$(digest "$folder/one")" ] || fail "worker $number in its namespace"
    done
    local bytes
    bytes=$(ip -n wdgnn-one -s link show wdgnn-a | awk '/TX:/ { getline; print $1 }')
    echo "same digest in two network namespaces: $(digest "$folder/one"); $bytes bytes sent by one"
    grep '^worker' "$folder/0" "$folder/1" | sed 's/^.*:/  /'
}

# One worker against two, one thread each, in one run.
speed() {
    local flight=(--robots "${ROBOTS:-100000}" --ticks "${TICKS:-60}" --json) field
    for workers in 1 2 1 2; do
        addresses "$workers"
        for number in $(seq 0 $((workers - 1))); do
            RAYON_NUM_THREADS=1 bash -c 'TIMEFORMAT="{\"cpu_seconds\": %U}"; time "$@"' - "$program" swarm "${flight[@]}" \
                --worker "$number/$workers" --peers "$peers" > "$folder/$number" 2> "$folder/$number.err" &
        done
        wait
        for number in $(seq 0 $((workers - 1))); do
            field=$(grep -hE '"(digest|wall_seconds|parcels|bytes|snapshot_bytes|robots_told|waited_seconds)"' "$folder/$number" | tr -d ' \n')
            echo "$workers workers, worker $number: $field $(grep -h cpu "$folder/$number.err")"
        done
    done
}

case "${1:-}" in
    speed | launch | mixed)
        "$1"
        exit
        ;;
esac
for workers in 2 4; do
    compare "$workers"
    compare "$workers" --robots 1000 --ticks 60
    for profile in dot154 espnow esb32 p2p57; do
        compare "$workers" --profile "$profile" --key "$folder/swarm.key" --ticks 100
    done
done
compare 2 --profile dot154 --key "$folder/swarm.key" --drop-chance 0.3 --forge 5 --replay 50 --liars STATE:0.2
compare 4 --profile espnow --key "$folder/swarm.key" --collisions --partition 50-100 --interference 0.1:3
compare 3 --kill 3@50 --reboot 7@80 --drop 5@20-60 --join 0.3@100 --motor stuck:0.2@50 --sensor frozen:0.2@80
compare 2 --task coverage --robots 30
# More than there are addresses: packed, past a snapshot.
compare 3 --robots 70000 --ticks 52
lose
launch
mixed
apart
