import { execFile } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TaskView } from '@headgate/api-contracts';
import { NodeProgram, PrivateLibvirtd } from '@headgate/testing';
import { describeIf, noGuestsBecause } from './machine.js';
import { processesWith } from './processes.js';
import { until } from './until.js';

const run = promisify(execFile);
const TIMEOUT_MS = 400_000;
const QEMU_UID = 65534;
const MODULE = '../../vm-service/src/moves/testing/move-process.ts';

interface Outcome {
  readonly writes: readonly string[];
  readonly tasks: readonly TaskView[];
  readonly folders: Readonly<Record<string, string>>;
}

describeIf(noGuestsBecause(), 'a move between two libvirts whose process is killed', () => {
  let program: NodeProgram;
  let alpha: PrivateLibvirtd;
  let beta: PrivateLibvirtd;
  let disk: string;
  let count = 0;

  beforeAll(async () => {
    program = await NodeProgram.build(join(import.meta.dirname, MODULE));
    [alpha, beta] = [await PrivateLibvirtd.create('alpha'), await PrivateLibvirtd.create('beta')];
    for (const libvirt of [alpha, beta]) {
      await libvirt.start();
      await libvirt.virsh('pool-define-as', 'headgate', 'dir', '--target', libvirt.images);
      await libvirt.virsh('pool-start', 'headgate');
    }
    // A VM of another program: its disk is not the service's to delete.
    disk = join(alpha.images, 'web.qcow2');
    await run('qemu-img', ['create', '-f', 'qcow2', disk, '4M']);
    await run('qemu-io', ['-f', 'qcow2', '-c', 'write -P 7 1M 2M', disk]);
    chownSync(disk, QEMU_UID, QEMU_UID);
    chmodSync(disk, 0o644);
    const definition = join(program.folder, 'web.xml');
    const xml = `<domain type='qemu'><name>web</name><memory unit='MiB'>64</memory><vcpu>1</vcpu>
      <os><type arch='x86_64'>hvm</type></os><devices><disk type='file' device='disk'><driver name='qemu' type='qcow2'/>
      <source file='${disk}'/><target dev='vda' bus='virtio'/></disk></devices></domain>`;
    writeFileSync(definition, xml);
    await alpha.virsh('define', definition);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await alpha?.close();
    await beta?.close();
    await program?.close();
  }, TIMEOUT_MS);

  const openWorld = () => {
    const index = count++;
    const options = ({ uri }: PrivateLibvirtd, context: string) => ({ uri, dataDir: join(program.folder, context) });
    const order = {
      database: join(program.folder, `world-${index}.db`),
      libvirts: { alpha: options(alpha, 'alpha'), beta: options(beta, 'beta') },
      keepsSource: true,
    };
    const call = (more: object): Promise<string> => program.run(JSON.stringify({ ...order, ...more }));
    const refs = ['vm/alpha/local/web'];
    return {
      complete: async (more: object = {}) => JSON.parse(await call(more)) as Outcome,
      begin: async () => JSON.parse(await call({ refs })) as Outcome,
      kill: async (killAt: string): Promise<void> => {
        await expect(call({ refs, killAt })).rejects.toMatchObject({ signal: 'SIGKILL' });
        await until(
          'no program of the killed process holds a disk',
          async () =>
            ['qemu-nbd', 'qemu-img']
              .flatMap(processesWith)
              .filter((one) => one.includes(alpha.images) || one.includes(beta.images)),
          (programs) => programs.length === 0,
        );
      },
    };
  };

  /** The source is as before. The copy is complete with the same content, or nothing of it is left. */
  const expectWhole = async ({ tasks: [task], folders }: Outcome, moment: string): Promise<void> => {
    expect([moment, await alpha.domains()]).toEqual([moment, ['web']]);
    const domains = await beta.domains();
    const volumes = (await beta.volumes()).filter((name) => name.endsWith('.qcow2'));
    expect([moment, domains, volumes.length]).toEqual([moment, task ? ['web'] : [], task ? 1 : 0]);
    if (!task) return expect(moment).toBe('before:1');
    expect([moment, task.status, task.error]).toEqual([moment, 'done', '']);
    await run('qemu-img', ['compare', disk, join(beta.images, volumes[0] ?? '')]);
    expect((await beta.virsh('domstate', 'web')).trim()).toBe('shut off');
    expect([moment, folders]).toEqual([moment, { 'vm/alpha/local/web': 'prod', 'vm/beta/local/web': 'prod' }]);
  };
  const removeCopy = async (): Promise<void> => {
    for (const name of await beta.domains()) await beta.virsh('undefine', name);
    for (const name of await beta.volumes()) await beta.virsh('vol-delete', name, '--pool', 'headgate');
  };

  test(
    'is completed after the restart, whichever step was interrupted before it could be journaled as finished',
    async () => {
      const { writes, ...outcome } = await openWorld().begin();
      await expectWhole({ writes, ...outcome }, 'never');
      await removeCopy();
      const moments = writes.flatMap((write, index) => (write.startsWith('end ') ? [`before:${index + 1}`] : []));
      expect(moments).toHaveLength(5);
      for (const moment of ['before:1', ...moments]) {
        const world = openWorld();
        await world.kill(moment);
        await expectWhole(await world.complete(), moment);
        await removeCopy();
      }
    },
    TIMEOUT_MS,
  );
});
