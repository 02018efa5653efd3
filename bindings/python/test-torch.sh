#!/usr/bin/env bash
# Runs the tests that need torch and stable-baselines3 (5 GB of packages). One of them runs emulated microcontrollers and
# needs the tools that ../../test.sh installs.
exec "$(dirname "$0")/test.sh" ppo tests_torch
