import { prepareLocal } from './prepare-local.mjs';

const stop = async () => [];
const ready = {
  install: async () => ({ installed: [] as string[] }),
  startDaemons: async () => ({ started: ['libvirtd'], stop }),
  probe: async () => ({ usable: true, reason: 'It ran.', cached: true }),
  buildGuest: async () => ({ path: '/cache/tiny.qcow2', version: '1.abc' }),
  buildReader: async () => ({ folder: '/cache/reader' }),
  startContainers: async () => ({ socket: '/run/ct.socket', installed: ['incus-base'], started: ['incusd'], stop }),
};

const prepare = (steps: Partial<typeof ready> | Record<string, unknown>) =>
  prepareLocal({ log: () => {}, dataDir: '/nowhere', steps: { ...ready, ...steps } });

/** A step that must not run. */
const never = async () => {
  throw new Error('This step must not run.');
};

describe('prepareLocal', () => {
  test('is ready with KVM and the tiny guest if every step succeeds', async () => {
    expect(await prepare({})).toEqual({
      ok: true,
      problems: [],
      warnings: [],
      accelerator: 'kvm',
      tinyGuestPath: '/cache/tiny.qcow2',
      tinyGuestVersion: '1.abc',
      readerGuestPath: '/cache/reader',
      containersSocket: '/run/ct.socket',
      installed: ['incus-base'],
      started: ['libvirtd', 'incusd'],
      stop: expect.any(Function),
    });
  });

  test('continues with a warning without an engine of containers', async () => {
    const startContainers = async () => ({ installed: [], started: [], stop, warning: 'There are no containers.' });
    const machine = await prepare({ startContainers });
    expect(machine).toMatchObject({ ok: true, warnings: ['There are no containers.'], containersSocket: undefined });
  });

  test('stops the daemons of containers and of VMs, and names those that are left', async () => {
    const machine = await prepare({
      startDaemons: async () => ({ started: ['virtlogd'], stop: async () => ['virtlogd'] }),
      startContainers: async () => ({ installed: [], started: ['lxd'], stop: async () => ['lxd'] }),
    });
    expect(await machine.stop()).toEqual(['lxd', 'virtlogd']);
  });

  test('continues with a warning without an optional package', async () => {
    const machine = await prepare({ install: async () => ({ installed: [], warning: 'VMs get no network.' }) });
    expect(machine).toMatchObject({ ok: true, warnings: ['VMs get no network.'] });
  });

  test("stops if a package can't be installed", async () => {
    const machine = await prepare({
      install: async () => ({ installed: [], problem: 'Run sudo apt-get install.' }),
      startDaemons: never,
      probe: never,
      buildGuest: never,
    });
    expect(machine).toMatchObject({ ok: false, problems: ['Run sudo apt-get install.'] });
  });

  test('stops if libvirtd does not start', async () => {
    const machine = await prepare({
      startDaemons: async () => ({ started: [], problem: 'libvirtd exited during startup.', stop }),
      probe: never,
      buildGuest: never,
    });
    expect(machine).toMatchObject({ ok: false, problems: ['libvirtd exited during startup.'], started: [] });
  });

  test('falls back to software emulation with a warning if KVM does not work', async () => {
    const machine = await prepare({ probe: async () => ({ usable: false, reason: 'KVM hangs.', cached: false }) });
    expect(machine).toMatchObject({ ok: true, accelerator: 'tcg' });
    expect(machine.warnings).toEqual([expect.stringContaining('KVM hangs.')]);
  });

  test("continues with a warning if the tiny guest can't be built", async () => {
    const machine = await prepare({
      buildGuest: async () => {
        throw new Error('/cache has no room.');
      },
    });
    expect(machine.ok).toBe(true);
    expect(machine.tinyGuestPath).toBeUndefined();
    expect(machine.warnings).toEqual(['The tiny guest is not available: /cache has no room.']);
  });

  test("continues with a warning if the guest that reads files can't be built", async () => {
    const machine = await prepare({
      buildReader: async () => {
        throw new Error('ntfs-3g is missing.');
      },
    });
    expect(machine).toMatchObject({ ok: true, tinyGuestPath: '/cache/tiny.qcow2' });
    expect(machine.readerGuestPath).toBeUndefined();
    expect(machine.warnings).toEqual(["Files in backups can't be read: ntfs-3g is missing."]);
  });
});
