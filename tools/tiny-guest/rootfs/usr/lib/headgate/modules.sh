# Kernel modules without modprobe's index: /lib/modules/tiny/order holds `module: first second … module`, and
# /lib/modules/tiny/aliases holds `pattern module`.
MODULES=/lib/modules/tiny

# load MODULE: with all it needs. One that the kernel has built in, or does not have, is no error.
load() {
  while read -r name chain; do
    [ "$name" = "$1:" ] || continue
    for module in $chain; do
      [ -e "/sys/module/$module" ] || insmod "$MODULES/$module.ko"
    done
    return
  done < "$MODULES/order"
}

# A driver for each device there is. A bus driver brings new devices: so it looks again until nothing is new.
load_for_devices() {
  before=
  while now=$(echo /sys/module/*) && [ "$now" != "$before" ]; do
    before=$now
    cat /sys/bus/*/devices/*/modalias 2>/dev/null | sort -u > /identities
    while read -r identity; do
      while read -r pattern module; do
        case "$identity" in
          $pattern) load "$module" ;;
        esac
      done < "$MODULES/aliases"
    done < /identities
  done
  rm -f /identities
}
