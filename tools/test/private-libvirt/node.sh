#!/bin/sh
# Runs Node. A worker of Jest gets a libvirt of its own: daemons in new mount, network and process namespaces, with empty folders
# instead of /run/libvirt and /var/lib/libvirt, so that tests in several workers do not affect each other or the guests of this machine. When the
# worker ends, the kernel ends the daemons and all guests with it.
#
# HEADGATE_TEST_NODE: path of Node. HEADGATE_TEST_FOLDER: where the folders are created.
set -eu

case "${1-}" in
  inside) shift ;;
  *jest-worker*processChild*)
    exec unshare --mount --net --pid --fork --kill-child --mount-proc "$0" inside "$@"
    ;;
  *) exec "$HEADGATE_TEST_NODE" "$@" ;;
esac

# Jest names the temporary files of its cache after the number of the process, and workers share the cache: the processes of each
# worker get numbers of their own.
echo "$((JEST_WORKER_ID * 1000))" >/proc/sys/kernel/ns_last_pid

folder=$(mktemp -d "$HEADGATE_TEST_FOLDER/XXXXXX")
# QEMU runs as another user.
chmod 755 "$folder"
mkdir "$folder/lib" "$folder/log" "$folder/cache" "$folder/etc"
cp -a /etc/libvirt/. "$folder/etc"
rm -rf "$folder"/etc/qemu/*.xml "$folder"/etc/qemu/autostart "$folder"/etc/qemu/networks "$folder"/etc/storage
# What libvirt has found out about the emulators of this machine.
if [ -d /var/cache/libvirt ]; then cp -a /var/cache/libvirt/. "$folder/cache"; fi

mkdir -p /var/lib/libvirt /var/log/libvirt /var/cache/libvirt
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/libvirt
mount --bind "$folder/lib" /var/lib/libvirt
mount --bind "$folder/log" /var/log/libvirt
mount --bind "$folder/cache" /var/cache/libvirt
mount --bind "$folder/etc" /etc/libvirt
ip link set lo up

virtlogd -d
libvirtd -d
export HEADGATE_TEST_LIBVIRT=private
# The shell stays as the first process of the namespace, which has to collect the ended processes of all others.
"$HEADGATE_TEST_NODE" "$@" &
wait $!
