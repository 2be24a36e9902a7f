import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError, type Backend, type ConsoleStream, type InstanceRef, type Plan } from '@headgate/domain-contracts';
import {
  createdVm,
  InventoryRecorder,
  PrivateLibvirtd,
  readUntil,
  recordingReporter,
  type BackendHarness,
} from '@headgate/testing';
import { describeDomain } from '../domain-xml/domain-description.js';
import { LOCAL_NAMESPACE } from '../domains/instance-name.js';
import type { LibvirtBackend } from '../libvirt-backend.js';
import { openShell, ROOT_LOGIN } from '../testing/guest-shell.js';
import { Virsh } from '../virsh/virsh.js';
import { LibvirtPair } from '../testing/libvirt-pair.js';
import { whyLibvirtIsUnavailable } from '../testing/libvirt-under-test.js';
import { TINY_ENTRY, tinyGuest } from '../testing/tiny-guest.js';

const missing = process.getuid?.() === 0 ? await whyLibvirtIsUnavailable() : 'it needs root';
const describeWithLibvirt = missing === undefined ? describe : describe.skip;
const BOOT_MS = 480_000;
const COUNTER = '(i=0; while :; do i=$((i+1)); echo "count $i."; sleep 0.1; done) &';

const numbersIn = (text: string): number[] => [...text.matchAll(/count (\d+)\./g)].map(([, digits]) => Number(digits));
const codesOf = ({ refusals }: Plan): string[] => refusals.map(({ code }) => code);

describeWithLibvirt(`Live migration between two hosts${missing === undefined ? '' : `: skipped, ${missing}`}`, () => {
  let image: string;
  let pair: LibvirtPair;
  let alpha: LibvirtBackend;
  let beta: LibvirtBackend;
  let recorders: InventoryRecorder[] = [];
  let names = 0;

  const refOn = (context: string, name = `hgtest-m${++names}`): InstanceRef => ({
    kind: 'vm',
    context,
    namespace: LOCAL_NAMESPACE,
    name,
  });
  const start = async (options: Parameters<LibvirtPair['start']>[0] = {}): Promise<void> => {
    [alpha, beta] = pair.start(options);
    recorders = [alpha, beta].map((backend) => InventoryRecorder.over(backend.require('inventory')));
    await Promise.all(recorders.map((recorder) => recorder.whenListed()));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(recorders.map((recorder) => recorder.stop()));
    await pair.stop();
  };
  const running = async (ref = refOn('alpha'), cloudInit?: string): Promise<InstanceRef> => {
    const [recorder] = recorders as [InventoryRecorder];
    const quickSource = async () => ({ kind: 'image', entry: TINY_ENTRY }) as const;
    const harness = { backend: alpha, freshRef: () => ref, quickSource } as unknown as BackendHarness;
    return (await createdVm(harness, recorder, { ref, start: true, ...(cloudInit !== undefined && { cloudInit }) }))
      .ref;
  };
  const migrate = async (from: Backend, ref: InstanceRef, target?: string, report = recordingReporter()) => {
    await (
      await from.require('migration').migrate(ref, target)
    )(report);
    return report;
  };
  const volumesOf = async (machine: PrivateLibvirtd, { name }: InstanceRef): Promise<string[]> =>
    (await machine.volumes()).filter((volume) => volume.startsWith(`${name}-`) && !volume.endsWith('.log'));
  const xmlOn = (machine: PrivateLibvirtd, { name }: InstanceRef): Promise<string> => machine.virsh('dumpxml', name);
  /** The service asks again later while the daemon of the destination still ends the guest that was arriving. */
  const untilSettled = async (ref: InstanceRef): Promise<void> => {
    while (describeDomain(await xmlOn(pair.machines[0], ref)).metadata.pending !== undefined)
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  /** The guest and all of its volumes are on exactly one host. */
  const expectOn = async (ref: InstanceRef, host: 0 | 1): Promise<void> => {
    const [here, there] = host === 0 ? pair.machines : [pair.machines[1], pair.machines[0]];
    expect(await there.domains()).not.toContain(ref.name);
    expect(await volumesOf(there, ref)).toEqual([]);
    const { metadata, disks } = describeDomain(await xmlOn(here, ref));
    expect(metadata.pending).toBeUndefined();
    const present = await volumesOf(here, ref);
    for (const { path } of disks) expect(present).toContain(path?.split('/').at(-1));
    expect(await here.virsh('domstate', ref.name)).toMatch(/running/);
  };

  beforeAll(async () => {
    image = await tinyGuest();
  }, BOOT_MS);
  beforeEach(async () => {
    pair = await LibvirtPair.open(image);
  }, 60_000);
  afterEach(async () => {
    await stop();
    await pair.close();
  }, 60_000);

  const count = async (backend: Backend, ref: InstanceRef): Promise<ConsoleStream> => {
    const stream = await openShell(backend.require('consoles'), ref);
    stream.write(`${COUNTER}\r`);
    await readUntil(stream, /count 5\./);
    return stream;
  };

  test(
    'copies a running guest with its disks, and the guest counts on without a loss; a canceled migration changes nothing',
    async () => {
      await start();
      const ref = await running(undefined, ROOT_LOGIN);
      const stream = await count(alpha, ref);
      let printed = '';
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString('latin1'))).resume();

      const migration = alpha.require('migration');
      expect(codesOf(await migration.plan(ref, 'beta'))).toEqual([]);
      expect(codesOf(await migration.plan(ref, 'alpha'))).toEqual(['WRONG_STATE']);
      expect(codesOf(await migration.plan(ref, 'gamma'))).toEqual(['NODE_NOT_FOUND']);
      await expect(migration.migrate(ref, 'alpha')).rejects.toMatchObject({ code: 'WRONG_STATE' });
      const [, other] = pair.machines;
      const taken = `<domain type='qemu'><name>${ref.name}</name><memory>65536</memory><os><type>hvm</type></os></domain>`;
      await new Virsh({ uri: other.uri }).withXml(taken, (file) => ['define', file]);
      await expect(migration.migrate(ref, 'beta')).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
      await other.virsh('undefine', ref.name);

      const cancel = new AbortController();
      const canceled = recordingReporter(cancel.signal);
      const step = canceled.step.bind(canceled);
      const report = {
        ...canceled,
        step: (name: string) => (step(name), /^Copying/.test(name) && cancel.abort(new Error('canceled'))),
      };
      await expect((await migration.migrate(ref, 'beta'))(report)).rejects.toThrow('canceled');
      await untilSettled(ref);
      await expectOn(ref, 0);

      const done = await migrate(alpha, ref, 'beta');
      await expectOn(ref, 1);
      expect(done.lines.join('\n')).toMatch(/runs on beta: in \d+ ms, .* of memory\.\nDowntime: \d+ ms\./);
      const xml = await xmlOn(other, ref);
      expect(xml).not.toContain(pair.machines[0].images);
      expect(xml).not.toMatch(/<backingStore[^/]*>\s*<format/);
      await recorders[1]?.untilVm(
        { ...ref, context: 'beta' },
        ({ status, node }) => status === 'Running' && node === 'beta',
      );

      const console = await beta.require('consoles').openSerial({ ...ref, context: 'beta' });
      const [last] = numbersIn(printed).slice(-1);
      const enough = new RegExp(`count ${(last ?? 0) + 20}\\.`);
      const later = await readUntil(console.stream, enough, console.backlog.toString('latin1'));
      const numbers = numbersIn(printed + later);
      expect(numbers).toEqual(numbers.map((_number, i) => (numbers[0] ?? 0) + i));
      console.stream.destroy();
      stream.destroy();
    },
    BOOT_MS,
  );

  test(
    'copies only the memory when both hosts have the same storage, and removes no file',
    async () => {
      const images = await mkdtemp(join(tmpdir(), 'hgm-shared-'));
      await chmod(images, 0o755);
      await chown(images, 65534, 65534);
      await start({ images: [images, images] });
      const ref = await running();
      const before = await volumesOf(pair.machines[0], ref);
      const report = await migrate(alpha, ref, 'beta');
      expect(report.lines.join('\n')).toMatch(/Downtime: \d+ ms\./);
      const [source, destination] = pair.machines;
      expect(await source.domains()).not.toContain(ref.name);
      expect(await destination.virsh('domstate', ref.name)).toMatch(/running/);
      expect(await volumesOf(destination, ref)).toEqual(before);
      const back = await beta.require('migration').plan({ ...ref, context: 'beta' });
      expect(back.steps.map(({ name }) => name)).toEqual(['migrate', 'remove']);
      await rm(images, { recursive: true, force: true });
    },
    BOOT_MS,
  );

  test(
    'the source keeps the guest when the destination is lost during the copy, and cleans up when it returns',
    async () => {
      await start();
      const ref = await running();
      const [, destination] = pair.machines;
      const report = recordingReporter();
      const step = report.step.bind(report);
      const losing = {
        ...report,
        step: (name: string) => (step(name), /^Copying/.test(name) && void destination.kill()),
      };
      const work = await alpha.require('migration').migrate(ref, 'beta');
      await expect(work(losing)).rejects.toBeInstanceOf(DomainError);
      expect(await pair.machines[0].virsh('domstate', ref.name)).toMatch(/running/);
      await destination.start();
      await stop();
      await start();
      await untilSettled(ref);
      await stop();
      await start();
      await expectOn(ref, 0);
    },
    BOOT_MS,
  );
});
