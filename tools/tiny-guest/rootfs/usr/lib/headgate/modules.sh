# Kernel modules without modprobe's index, which busybox reads byte by byte: the build wrote the same as shell functions.
MODULES=/lib/modules/tiny
. "$MODULES/table.sh"

# load MODULE: with all it needs. One that the kernel has built in, or does not have, is no error.
load() {
  chain_of "$1"
  for module in $chain; do
    [ -e "/sys/module/$module" ] || insmod "$MODULES/$module.ko"
  done
}

# A driver for each device there is. A bus driver brings new devices: so it looks again until nothing is new.
load_for_devices() {
  before=
  while now=$(echo /sys/module/*) && [ "$now" != "$before" ]; do
    before=$now
    for identity in $(cat /sys/bus/*/devices/*/modalias 2>/dev/null | sort -u); do
      drivers_of "$identity"
    done
  done
}
