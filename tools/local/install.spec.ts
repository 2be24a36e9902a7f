import { findMissing, installMissing } from './install.mjs';
import { packagerOf, parseOsRelease } from './machine.mjs';
import type { InstallPorts } from './install.mjs';

const ALL = [
  ...['qemu-system-x86_64', 'qemu-img', 'virsh', 'libvirtd', 'virtlogd', 'xorriso', 'mke2fs', 'dnsmasq'],
  ...['swtpm_setup', '/usr/share/OVMF', '/usr/share/osinfo/os'],
];
const succeeded = { code: 0, stdout: '', stderr: '', timedOut: false, missing: false };

/** A simulated machine that records commands. The programs in `provides` appear after an installation. */
function buildPorts({
  has = ALL,
  provides = ALL,
  users = ['libvirt-qemu'],
  machine = {},
  installCode = 0,
  knownPackages = true,
}: {
  has?: string[];
  provides?: string[];
  users?: string[];
  machine?: Partial<InstallPorts['machine']>;
  installCode?: number;
  knownPackages?: boolean;
} = {}) {
  const programs = new Set(has);
  const known = new Set(users);
  const commands: string[] = [];
  const ports: InstallPorts = {
    find: (program) => (programs.has(program) ? `/usr/bin/${program}` : undefined),
    hasFile: (file) => programs.has(file),
    hasUser: (user) => known.has(user),
    log: () => {},
    machine: { name: 'Debian', packager: 'apt', root: true, elevate: [], systemd: true, ...machine },
    run: async (file, args) => {
      commands.push([file, ...args].join(' '));
      if (file === 'apt-cache') {
        return {
          ...succeeded,
          stdout: args
            .slice(1)
            .map(() => (knownPackages ? '  Candidate: 1.0\n' : '  Candidate: (none)\n'))
            .join(''),
        };
      }
      if (args.includes('install')) {
        if (installCode !== 0) return { ...succeeded, code: installCode, stderr: 'E: Unable to locate package\n' };
        provides.forEach((program) => programs.add(program));
        known.add('libvirt-qemu');
      }
      return succeeded;
    },
  };
  return { ports, commands };
}

describe('findMissing', () => {
  test('finds nothing missing on a complete machine', () => {
    expect(findMissing(buildPorts().ports)).toEqual([]);
  });

  test('accepts any of several equivalent programs', () => {
    const { ports } = buildPorts({
      has: [...ALL.filter((name) => !['xorriso', 'libvirtd'].includes(name)), 'genisoimage', 'virtqemud'],
    });
    expect(findMissing(ports)).toEqual([]);
  });

  test.each([
    ['/usr/share/edk2/ovmf', '/usr/share/OVMF', []],
    ['/usr/share/OVMF', '/usr/share/osinfo/os', ['data of libosinfo']],
    ['/usr/share/OVMF', 'swtpm_setup', ['swtpm']],
  ])('finds firmware and data by their files: with %s, without %s', (present, absent, missing) => {
    const { ports } = buildPorts({ has: [...ALL.filter((name) => name !== absent), present] });
    expect(findMissing(ports).map(({ what }) => what)).toEqual(missing);
  });

  test('treats libvirt without its guest user as missing on Debian, where libvirtd would exit during startup', () => {
    expect(findMissing(buildPorts({ users: [] }).ports).map(({ what }) => what)).toEqual(['libvirt']);
    expect(findMissing(buildPorts({ users: [], machine: { packager: 'dnf' } }).ports)).toEqual([]);
  });
});

describe('installMissing', () => {
  test('runs nothing on a complete machine', async () => {
    const { ports, commands } = buildPorts();
    expect(await installMissing(ports)).toEqual({ installed: [] });
    expect(commands).toEqual([]);
  });

  test('installs with apt as root, without recommended packages and without questions', async () => {
    const { ports, commands } = buildPorts({ has: ALL.filter((name) => name !== 'qemu-img') });
    expect(await installMissing(ports)).toEqual({ installed: ['qemu-utils'] });
    expect(commands.at(-1)).toBe(
      'env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends qemu-utils',
    );
  });

  test('updates the package lists only if a package is unknown', async () => {
    const known = buildPorts({ has: [] });
    await installMissing(known.ports);
    expect(known.commands.some((command) => command.includes('apt-get update'))).toBe(false);
    const unknown = buildPorts({ has: [], knownPackages: false });
    await installMissing(unknown.ports);
    expect(unknown.commands.some((command) => command.includes('apt-get update'))).toBe(true);
  });

  test('installs the SysV variant of libvirt without systemd', async () => {
    const without = await installMissing(buildPorts({ has: [], machine: { systemd: false } }).ports);
    expect(without.installed).toContain('libvirt-daemon-system-sysv');
    const withSystemd = await installMissing(buildPorts({ has: [] }).ports);
    expect(withSystemd.installed).not.toContain('libvirt-daemon-system-sysv');
  });

  test('installs with dnf on Fedora', async () => {
    const { ports, commands } = buildPorts({ has: [], machine: { packager: 'dnf' } });
    await installMissing(ports);
    expect(commands.at(-1)).toContain('dnf install -y --setopt=install_weak_deps=False qemu-system-x86-core');
  });

  test('uses sudo if it works without a password', async () => {
    const { ports, commands } = buildPorts({ has: [], machine: { root: false, elevate: ['sudo', '-n'] } });
    await installMissing(ports);
    expect(commands.at(-1)).toMatch(/^sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install/);
  });

  test('reports the command to run if it may not install', async () => {
    const { ports, commands } = buildPorts({
      has: ALL.filter((name) => name !== 'virsh'),
      machine: { root: false, elevate: undefined },
    });
    const { problem } = await installMissing(ports);
    expect(problem).toContain('sudo apt-get install -y --no-install-recommends libvirt-clients');
    expect(commands).toEqual([]);
  });

  test('names the missing requirements on an unknown distribution', async () => {
    const { problem } = await installMissing(
      buildPorts({ has: [], machine: { packager: undefined, name: 'Alpine' } }).ports,
    );
    expect(problem).toMatch(/^Alpine does not have QEMU, qemu-img/);
  });

  test("warns, and does not fail, if only an optional program can't be installed", async () => {
    const has = ALL.filter((name) => name !== 'dnsmasq');
    const refused = await installMissing(buildPorts({ has, machine: { root: false, elevate: undefined } }).ports);
    expect(refused).toEqual({ installed: [], warning: expect.stringContaining('apt-get install') });
    expect(refused.warning).toMatch(/^VMs get no network/);
    const failed = await installMissing(buildPorts({ has, provides: [], installCode: 100 }).ports);
    expect(failed).toEqual({ installed: [], warning: expect.stringContaining('Unable to locate package') });
    const required = await installMissing(buildPorts({ has: [], machine: { root: false, elevate: undefined } }).ports);
    expect(required.problem).toContain('dnsmasq');
  });

  test('reports why the package manager failed', async () => {
    const { problem } = await installMissing(buildPorts({ has: [], installCode: 100 }).ports);
    expect(problem).toContain('E: Unable to locate package');
  });

  test('reports a package manager that succeeded without installing everything', async () => {
    const { problem } = await installMissing(buildPorts({ has: [], provides: ['virsh'] }).ports);
    expect(problem).toContain('QEMU');
  });
});

describe('packagerOf', () => {
  test.each([
    ['ID=debian\nPRETTY_NAME="Debian GNU/Linux 12 (bookworm)"', 'apt'],
    ['ID=ubuntu\nID_LIKE=debian', 'apt'],
    ['ID=linuxmint\nID_LIKE="ubuntu debian"', 'apt'],
    ['ID=fedora\nVERSION_ID=43', 'dnf'],
    ['ID=alpine', undefined],
    ['', undefined],
  ])('detects the package manager from %j', (text, packager) => {
    expect(packagerOf(parseOsRelease(text))).toBe(packager);
  });
});
