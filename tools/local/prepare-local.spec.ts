import { prepareLocal } from './prepare-local.mjs';

const stop = async () => [];
const ready = {
  install: async () => ({ installed: [] as string[] }),
  startDaemons: async () => ({ started: ['libvirtd'], stop }),
  probe: async () => ({ usable: true, reason: 'It ran.', cached: true }),
  buildGuest: async () => ({ path: '/cache/tiny.qcow2', version: '1.abc' }),
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
      installed: [],
      started: ['libvirtd'],
      stop,
    });
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
});
