#!/bin/sh
# Printed here and not by the first process, because getty discards the output that is not read yet.
echo 'Headgate tiny container: ready'
: > /run/console-ready
cd /root
# Who may use the console of a container may also run programs in it as root, so a password would protect nothing.
exec /bin/sh -l
