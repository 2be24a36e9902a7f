# say TEXT: prints one line on the graphical and the serial console.
say() {
  for console in tty1 ttyS0; do
    { echo "$*" > "/dev/$console"; } 2>/dev/null
  done
}
