#!/bin/sh
# Called by udhcpc with the lease in variables.
case "$1" in
  deconfig) ip addr flush dev "$interface" ;;
  bound | renew)
    ip addr replace "$ip/$mask" dev "$interface"
    for address in $router; do ip route replace default via "$address"; break; done
    : > /etc/resolv.conf
    for address in $dns; do echo "nameserver $address" >> /etc/resolv.conf; done
    ;;
esac
