# Loads kernel modules without modprobe's index, which busybox reads slowly: the build generated equivalent shell functions.
MODULES=/lib/modules/tiny
. "$MODULES/table.sh"

# load MODULE: loads it with its dependencies. Built-in and missing modules are skipped.
load() {
  chain_of "$1"
  for module in $chain; do
    [ -e "/sys/module/$module" ] || insmod "$MODULES/$module.ko"
  done
}

# Loads a driver for each device. Bus drivers add devices, so this repeats until no module is added.
load_for_devices() {
  before=
  while now=$(echo /sys/module/*) && [ "$now" != "$before" ]; do
    before=$now
    for identity in $(cat /sys/bus/*/devices/*/modalias 2>/dev/null | sort -u); do
      drivers_of "$identity"
    done
  done
}
