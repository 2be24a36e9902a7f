import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DomainError,
  ServiceShutdown,
  SILENT_LOG,
  type DiskBuildRequest,
  type FollowedBuild,
} from '@headgate/domain-contracts';
import { FixedClock } from '@headgate/testing';
import { PluginFolder } from '../install/plugin-folder.js';
import { PluginHost } from '../run/plugin-host.js';
import { BundledSource } from '../store/bundled-source.js';
import { archiveOf, servingWith, sha256Of } from '../testing/build-plugin.js';
import { FakePodman } from '../testing/fake-podman.js';
import { PluginDiskBuilder, type PluginDiskBuilderDeps } from './plugin-disk-builder.js';
import { Podman } from './podman.js';

const GIB = 1024 ** 3;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBb0lVJ8dgPdFCFkLWpDMYpwNcW1OmnsJBR0xgKkKrrP ann@example.org';
const ORDER: DiskBuildRequest = {
  image: 'registry.example.org/fedora/fedora-bootc:43',
  diskBytes: 10 * GIB,
  sshKey: KEY,
};

/** A report that records. */
function recordReport(signal = new AbortController().signal) {
  const lines: string[] = [];
  const positions: string[] = [];
  const report: FollowedBuild = {
    log: (line) => void lines.push(line),
    savePosition: async (position) => void positions.push(position),
    signal,
  };
  return { lines, positions, report };
}

describe('PluginDiskBuilder', () => {
  let data: string;
  let podman: FakePodman;
  let plugins: PluginFolder;
  let host: PluginHost;
  let builder: PluginDiskBuilder;
  const clock = new FixedClock(0);

  const open = (overrides: Partial<PluginDiskBuilderDeps> = {}): PluginDiskBuilder =>
    new PluginDiskBuilder({
      plugins,
      host,
      clock,
      podman: new Podman(podman.program),
      folder: join(data, 'builds'),
      isRoot: true,
      checkRegistry: async () => undefined,
      freeBytes: async () => 100 * GIB,
      ...overrides,
    });
  const installBootc = async (): Promise<void> => {
    const [offer] = await new BundledSource().offers();
    if (!offer) throw new Error('there is no bundled plugin');
    await plugins.install(offer, await offer.fetch(new AbortController().signal), async () => undefined);
  };
  /** A plugin with the name of the first-party one, and another plan. */
  const installPlanning = async (plan: string): Promise<void> => {
    const plugin = { name: 'bootc', code: servingWith(`{ planDisk: () => (${plan}) }`, { name: 'bootc' }) };
    const archive = await archiveOf({ ...plugin, permissions: ['host-devices'] });
    const offer = { name: 'bootc', version: '1.0.0', digest: sha256Of(archive), origin: 'bundled' };
    await plugins.install(offer, archive, async () => undefined);
  };

  /** Both steps of a build. */
  const build = async (id: string, request: DiskBuildRequest, report: FollowedBuild): Promise<string> => {
    await builder.pull(request, report);
    return builder.install(id, request, report);
  };

  beforeEach(async () => {
    data = mkdtempSync(join(tmpdir(), 'headgate-builds-'));
    podman = new FakePodman();
    plugins = new PluginFolder({ folder: join(data, 'plugins'), clock, log: SILENT_LOG });
    await plugins.open();
    host = new PluginHost({ workFolder: join(data, 'work'), clock, log: SILENT_LOG });
    builder = open();
  });
  afterEach(async () => {
    await host.close();
    podman.close();
    rmSync(data, { recursive: true });
  });

  describe('reports a missing precondition', () => {
    test.each<[title: string, overrides: () => Partial<PluginDiskBuilderDeps>, reason: RegExp]>([
      ['without the rights of root', () => ({ isRoot: false }), /needs a service that runs as root/],
      ['without podman', () => ({ podman: new Podman(join(data, 'none')) }), /Install the package podman/],
    ])('%s', async (_title, overrides, reason) => {
      await installBootc();
      expect(await open(overrides()).availability()).toMatch(reason);
    });

    test('without the plugin', async () => {
      expect(await builder.availability()).toMatch(
        /bootc plugin, which is not installed. An administrator can install it/,
      );
      await expect(build('b1', ORDER, recordReport().report)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      expect(podman.calls()).toEqual([]);
    });

    test('nothing, when everything is there', async () => {
      await installBootc();
      expect(await builder.availability()).toBe(true);
    });
  });

  test('builds a disk as the plugin plans, in a container that gets no more than that', async () => {
    await installBootc();
    const { lines, report } = recordReport();
    const disk = await build('b1', ORDER, report);
    const folder = join(data, 'builds/b1');
    expect(podman.calls()).toEqual([
      ['pull', '--', ORDER.image],
      ['image', 'inspect', '--format', '{{json .Config.Labels}}', '--', ORDER.image],
      ['container', 'inspect', '--format', '{{json .State}}', '--', 'headgate-b1'],
      ['rm', '--force', '--ignore', '--time', '0', '--', 'headgate-b1'],
      [
        ...['run', '--detach', '--pull=never', '--log-driver=k8s-file', '--name', 'headgate-b1'],
        ...['--label', 'dev.headgate.plugin-build', '--network=none'],
        ...['--privileged', '--security-opt', 'label=type:unconfined_t', '--pid=host', '--volume', '/dev:/dev'],
        ...['--volume', '/var/lib/containers:/var/lib/containers', '--volume', `${folder}:/headgate`],
        ...[
          '--',
          ORDER.image,
          'bootc',
          'install',
          'to-disk',
          '--generic-image',
          '--via-loopback',
          '--filesystem',
          'xfs',
        ],
        ...['--root-ssh-authorized-keys', '/headgate/authorized_keys', '/headgate/disk.raw'],
      ],
      ['logs', '--follow', '--timestamps', '--', 'headgate-b1'],
      ['wait', '--', 'headgate-b1'],
    ]);
    expect(podman.keys()).toBe(`${KEY}\n`);
    expect(disk).toBe(join(folder, 'disk.raw'));
    expect(statSync(disk).size).toBe(10 * GIB);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(lines).toEqual([`Trying to pull ${ORDER.image}`, 'Installing image', 'Installation complete!']);
    await builder.remove('b1');
    expect([readdirSync(join(data, 'builds')), podman.container()]).toEqual([[], undefined]);
  });

  test('builds without a key, and accepts the scheme of a reference', async () => {
    await installBootc();
    await build('b1', { ...ORDER, image: `docker://${ORDER.image}`, sshKey: undefined }, recordReport().report);
    expect(podman.calls().find(([first]) => first === 'run')).not.toContain('--root-ssh-authorized-keys');
    expect(podman.calls()[0]).toEqual(['pull', '--', ORDER.image]);
    expect(podman.keys()).toBeUndefined();
  });

  test.each<[title: string, change: Partial<DiskBuildRequest>, code: string]>([
    ['an image without a registry', { image: 'fedora/fedora-bootc' }, 'INVALID_SOURCE'],
    ['an option instead of an image', { image: '--privileged' }, 'INVALID_SOURCE'],
    ['a small disk', { diskBytes: GIB }, 'INVALID_QUANTITY'],
    ['a private key', { sshKey: '-----BEGIN OPENSSH PRIVATE KEY-----' }, 'INVALID_INPUT'],
    ['a key with options', { sshKey: `command="/bin/sh" ${KEY}` }, 'INVALID_INPUT'],
    ['a key with a second line that is none', { sshKey: `${KEY}\nroot::0:0` }, 'INVALID_INPUT'],
  ])('refuses %s before anything runs', async (_title, change, code) => {
    await installBootc();
    await expect(builder.plan({ ...ORDER, ...change })).rejects.toMatchObject({ code });
    expect(podman.calls()).toEqual([]);
  });

  test('refuses a registry to which downloads may not connect, and a full disk', async () => {
    await installBootc();
    const checkRegistry = async (registry: string): Promise<void> => {
      throw new DomainError('INVALID_SOURCE', `${registry} is private`);
    };
    await expect(open({ checkRegistry }).plan({ ...ORDER, image: '10.0.0.1:5000/a:1' })).rejects.toThrow(
      '10.0.0.1:5000 is private',
    );
    await expect(open({ freeBytes: async () => GIB }).plan(ORDER)).rejects.toMatchObject({
      code: 'INSUFFICIENT_STORAGE',
    });
  });

  test.each<[title: string, behavior: object, code: string, problem: RegExp]>([
    ['can not be pulled', { pull: 'fails' }, 'INVALID_SOURCE', /can't be pulled: .*manifest unknown/s],
    [
      'is not bootable',
      { labels: null },
      'INVALID_SOURCE',
      /is not a bootable container image: it has no label containers.bootc=1/,
    ],
    ['can not be installed', { run: 'fails' }, 'BACKEND_FAILED', /failed with status 1: .*no space left on device/s],
    ['leaves an empty disk', { run: 'writes nothing' }, 'BACKEND_FAILED', /has no partition table/],
  ])('reports an image that %s', async (_title, behavior, code, problem) => {
    await installBootc();
    podman.behave(behavior);
    await expect(build('b1', ORDER, recordReport().report)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(problem) as string,
    });
  });

  test('cancels a build, also when the container ignores signals', async () => {
    await installBootc();
    podman.behave({ run: 'hangs' });
    const abort = new AbortController();
    const { report } = recordReport(abort.signal);
    const building = build('b1', ORDER, {
      ...report,
      log: (line) => line === 'Installing image' && abort.abort(),
    });
    await expect(building).rejects.toMatchObject({ code: 'CONFLICT' });
    await builder.remove('b1');
    expect([readdirSync(join(data, 'builds')), podman.container()]).toEqual([[], undefined]);
  });

  test('reports a container that was killed', async () => {
    await installBootc();
    podman.behave({ run: 'hangs' });
    const building = build('b1', ORDER, {
      ...recordReport().report,
      log: (line) => line === 'Installing image' && podman.kill(),
    });
    await expect(building).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringMatching(/failed with status 137/) as string,
    });
  });

  test('leaves the container to the next service when this one stops, which follows it', async () => {
    await installBootc();
    podman.behave({ run: 'hangs' });
    const stop = new AbortController();
    const first = recordReport(stop.signal);
    const building = build('b1', ORDER, {
      ...first.report,
      log: (line) => line === 'Installing image' && stop.abort(new ServiceShutdown('The service stops.')),
    });
    await expect(building).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(podman.container()).toEqual({ name: 'headgate-b1', isRunning: true });
    podman.behave({});
    const second = recordReport();
    await builder.install('b1', ORDER, second.report);
    expect(second.lines).toEqual(['Installing image', 'Installation complete!']);
    expect(podman.calls().filter(([first]) => first === 'run')).toHaveLength(1);
    // A third one does nothing again.
    await builder.install('b1', ORDER, recordReport().report);
    expect(podman.calls().filter(([first]) => first === 'run')).toHaveLength(1);
  });

  test('builds again when the container was interrupted with its machine', async () => {
    await installBootc();
    await build('b1', ORDER, recordReport().report);
    // podman then reports an exit code of 0 and no end.
    podman.interrupt();
    await builder.install('b1', ORDER, recordReport().report);
    expect(podman.calls().filter(([first]) => first === 'run')).toHaveLength(2);
  });

  describe('plans a container for a cluster', () => {
    test('which gets the image from its registry, and writes to a file or a block device', async () => {
      await installBootc();
      expect(builder.canPlan()).toBe(true);
      const image = `docker://${ORDER.image}`;
      const plan = await builder.planContainer({ ...ORDER, image }, { isBlockDevice: false });
      expect(plan).toEqual({
        image: ORDER.image,
        command: [
          ...['bootc', 'install', 'to-disk', '--generic-image', '--via-loopback', '--filesystem', 'xfs'],
          ...['--wipe', '--source-imgref', `docker://${ORDER.image}`, '--target-imgref', ORDER.image],
          ...['--root-ssh-authorized-keys', '/headgate/authorized_keys', '/headgate/disk.raw'],
        ],
        permissions: ['privileged-container', 'host-processes', 'host-devices', 'network'],
        diskFile: '/headgate/disk.raw',
        keysFile: '/headgate/authorized_keys',
      });
      const { command } = await builder.planContainer({ ...ORDER, sshKey: undefined }, { isBlockDevice: true });
      expect(command.filter((word) => /loopback|ssh/.test(word))).toEqual([]);
      expect(podman.calls()).toEqual([]);
    });

    test('without podman and root, but not without the plugin or with a wrong order', async () => {
      const elsewhere = open({ isRoot: false, podman: new Podman(join(data, 'none')) });
      expect(elsewhere.canPlan()).toMatch(/needs the bootc plugin/);
      const plan = (request: DiskBuildRequest) => elsewhere.planContainer(request, { isBlockDevice: false });
      await expect(plan(ORDER)).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
      await installBootc();
      await expect(plan({ ...ORDER, diskBytes: GIB })).rejects.toMatchObject({ code: 'INVALID_QUANTITY' });
      await expect(plan({ ...ORDER, sshKey: 'none' })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      expect((await plan(ORDER)).image).toBe(ORDER.image);
    });

    test('unless the plugin needs the storage of images of a host', async () => {
      await installPlanning(`{ command: ['a'], permissions: ['host-devices'] }`);
      await expect(builder.planContainer(ORDER, { isBlockDevice: false })).rejects.toMatchObject({
        code: 'PLUGIN_FAILED',
        message: expect.stringContaining('plans no container for a cluster') as string,
      });
    });
  });

  test.each<[title: string, plan: string, problem: RegExp]>([
    [
      'more permissions than its manifest',
      `{ command: ['a'], permissions: ['privileged-container'] }`,
      /not in the manifest/,
    ],
    ['an unknown permission', `{ command: ['a'], permissions: ['--volume=/:/host'] }`, /must be one of/],
    ['an unknown field', `{ command: ['a'], permissions: [], image: 'other' }`, /unknown field "image"/],
    ['no command', `{ command: [], permissions: [] }`, /must not be empty/],
    ['something else', `'podman run'`, /plan must be an object/],
  ])('refuses a plan with %s, and runs nothing', async (_title, plan, problem) => {
    await installPlanning(plan);
    await expect(build('b1', ORDER, recordReport().report)).rejects.toMatchObject({
      code: 'PLUGIN_FAILED',
      message: expect.stringMatching(problem) as string,
    });
    expect(podman.calls()).toEqual([]);
  });

  test('removes what an earlier run has left, but not a build that continues, and nothing else', async () => {
    for (const id of ['b1', 'b2']) {
      mkdirSync(join(data, 'builds', id), { recursive: true });
      writeFileSync(join(data, 'builds', id, 'disk.raw'), id);
    }
    await builder.sweep(['b2']);
    expect(podman.calls()).toEqual([['rm', '--force', '--ignore', '--time', '0', '--', 'headgate-b1']]);
    expect(readFileSync(join(data, 'builds/b2/disk.raw'), 'utf8')).toBe('b2');
    expect(existsSync(join(data, 'builds/b1'))).toBe(false);
  });
});
