import type { GuestFacts } from './guest-facts.js';

/** A line of the boot, and the fraction of the boot's duration after which it appears. */
export interface BootMessage {
  at: number;
  line: string;
}

/** The output of the serial port from power-on to the login prompt. */
export function bootMessages({ profile, hostname, cpus, memoryBytes }: GuestFacts): readonly BootMessage[] {
  const lines = [
    'SeaBIOS (simulated) - this guest is a simulation',
    'Booting from Hard Disk...',
    'GNU GRUB  version 2.12',
    `[    0.000000] Linux version ${profile.kernelRelease} (simulated) ${profile.kernelVersion}`,
    '[    0.000000] Command line: BOOT_IMAGE=/vmlinuz root=/dev/vda1 console=ttyS0',
    `[    0.012443] Memory: ${Math.floor(memoryBytes / 1024)}K available`,
    `[    0.087310] smp: Brought up 1 node, ${cpus} CPU${cpus === 1 ? '' : 's'}`,
    '[    0.412702] virtio_blk virtio2: [vda] new disk',
    '[    0.731954] EXT4-fs (vda1): mounted filesystem',
    `[    1.204113] systemd[1]: Hostname set to <${hostname}>.`,
    '[  OK  ] Reached target network-online.target - Network is Online.',
    '[  OK  ] Started cloud-init.service - Cloud-init.',
    ...(profile.agent ? ['[  OK  ] Started qemu-guest-agent.service - QEMU Guest Agent.'] : []),
    '[  OK  ] Reached target multi-user.target - Multi-User System.',
  ];
  return lines.map((line, index) => ({ at: (index + 1) / (lines.length + 1), line }));
}
