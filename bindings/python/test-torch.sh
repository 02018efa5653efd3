#!/usr/bin/env bash
# Tests what needs torch and stable-baselines3: 5 GB of packages, most of them for graphics cards. Ends on emulated
# microcontrollers, so it needs what ../../test.sh installs.
exec "$(dirname "$0")/test.sh" ppo tests_torch
