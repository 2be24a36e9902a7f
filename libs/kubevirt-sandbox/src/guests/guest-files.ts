import type { GuestFacts } from './guest-facts.js';

/** Read access to the small file tree of a simulated guest: full paths and their contents. */
export type GuestFiles = Map<string, string>;

/** The files that a curious user opens first. */
export function guestFiles({ hostname, profile, cpus, memoryBytes, interfaces }: GuestFacts, user: string): GuestFiles {
  const memoryKiB = Math.floor(memoryBytes / 1024);
  return new Map([
    ['/etc/hostname', `${hostname}\n`],
    ['/etc/hosts', `127.0.0.1 localhost\n${interfaces[0]?.address ?? '127.0.1.1'} ${hostname}\n`],
    [
      '/etc/os-release',
      `NAME="${profile.name}"\nID=${profile.id}\nVERSION_ID="${profile.version}"\nPRETTY_NAME="${profile.prettyName}"\n`,
    ],
    ['/etc/passwd', `root:x:0:0:root:/root:/bin/bash\n${user}:x:1000:1000::/home/${user}:/bin/bash\n`],
    ['/etc/motd', 'This is a simulated guest of the sandbox.\n'],
    ['/proc/cpuinfo', Array.from({ length: cpus }, (_none, cpu) => cpuInfo(cpu)).join('\n')],
    ['/proc/meminfo', `MemTotal: ${memoryKiB} kB\nMemFree: ${Math.floor(memoryKiB * 0.7)} kB\n`],
    ['/var/log/cloud-init.log', 'Cloud-init finished: simulated datasource\n'],
    [`/home/${user}/readme.txt`, 'Nothing here is real, but the console is.\n'],
  ]);
}

const cpuInfo = (cpu: number): string => `processor : ${cpu}\nmodel name : QEMU Virtual CPU (simulated)\n`;

/** The names in a directory, or undefined when there is no such directory. */
export function listDirectory(files: GuestFiles, path: string): string[] | undefined {
  const prefix = path === '/' ? '/' : `${path}/`;
  const names = [...files.keys()].filter((file) => file.startsWith(prefix)).map((file) => file.slice(prefix.length));
  if (names.length === 0) return undefined;
  return [...new Set(names.map((name) => name.split('/')[0]!))].sort();
}
