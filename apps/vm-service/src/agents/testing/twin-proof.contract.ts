import type { TwinInstanceView, TwinView } from '@headgate/api-contracts';
import type { VmSeed } from '@headgate/kubevirt-sandbox';
import { AgentClient, createAgentToken, LEASH, type RehearsalResult } from './agent-client.js';
import { refOf, TwinLab, type Entry } from './twin-lab.js';

const TIMEOUT_MS = 120_000;

type Rehearsed = RehearsalResult & { readonly twin: TwinView };

/** A generator of the same numbers for each seed, from 0 to below `max`. Source: mulberry32 */
function numbers(seed: number): (max: number) => number {
  let state = seed;
  return (max) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % max;
  };
}

/** VMs of all sizes and states. Some can't start, because no node has enough memory. */
function randomVms(seed: number, count: number): VmSeed[] {
  const choose = numbers(seed);
  return Array.from({ length: count }, (_, index) => {
    const state = choose(10);
    return {
      name: `vm-${index}`,
      status: state < 5 ? 'Running' : state < 6 ? 'Paused' : 'Stopped',
      cpu: 1 + choose(4),
      memory: state === 9 ? '200Gi' : `${256 * (1 + choose(4))}Mi`,
    };
  });
}

const seenIn = ({ after }: Pick<TwinInstanceView, 'after'>): object | undefined =>
  after && { status: after.status, node: after.node, cpu: after.cpu, mem: after.mem, tags: after.tags };
const seenOf = (entry: Entry | undefined): object | undefined =>
  entry && { status: entry.status, node: entry.node, cpu: entry.cpu, mem: entry.mem, tags: entry.tags };

/** Changes VMs in twins, and then in the cluster, and compares what has happened. */
export const twinProof = (seed: number, count: number): void => {
  describe(`a twin of ${count} VMs, seed ${seed}`, () => {
    const vms = randomVms(seed, count);
    const choose = numbers(seed + 1);
    const pick = (status: string, memory = 'Mi'): string => {
      const found = vms.filter((vm) => vm.status === status && vm.memory?.endsWith(memory) && !used.has(vm.name));
      const { name } = found[choose(found.length)]!;
      used.add(name);
      return refOf(name);
    };
    const used = new Set<string>();
    let lab: TwinLab;
    let agent: AgentClient;

    beforeAll(async () => {
      lab = await TwinLab.create(vms);
      const { text } = await createAgentToken(lab, { agent: { ...LEASH, changesPerHour: 1000 } });
      agent = await new AgentClient(lab.base, text).open();
    }, TIMEOUT_MS);
    afterAll(async () => {
      await agent?.close();
      await lab.close();
    });

    test.each([
      ['starts a VM', () => ({ action: 'start', refs: [pick('Stopped')] })],
      ['starts a VM that no node has room for', () => ({ action: 'start', refs: [pick('Stopped', 'Gi')] })],
      ['stops a VM', () => ({ action: 'stop', refs: [pick('Running')] })],
      ['stops many VMs', () => ({ action: 'stop', refs: Array.from({ length: 12 }, () => pick('Running')) })],
      ['powers a VM off', () => ({ action: 'stop', force: true, refs: [pick('Running')] })],
      ['restarts a VM', () => ({ action: 'restart', refs: [pick('Running')] })],
      ['pauses a VM', () => ({ action: 'pause', refs: [pick('Running')] })],
      ['resumes a VM', () => ({ action: 'unpause', refs: [pick('Paused')] })],
      ['migrates a VM', () => ({ action: 'migrate', refs: [pick('Running')] })],
      ['tags a VM', () => ({ action: 'tag', tag: 'new', refs: [pick('Stopped')] })],
      [
        'resizes a stopped VM',
        () => ({ action: 'hardware', refs: [pick('Stopped')], changes: [{ kind: 'scale', cpu: 6 }] }),
      ],
      [
        'resizes a running VM',
        () => ({ action: 'hardware', refs: [pick('Running')], changes: [{ kind: 'scale', cpu: 6 }] }),
      ],
      ['deletes a running VM', () => ({ action: 'delete', refs: [pick('Running')] })],
      ['deletes a stopped VM', () => ({ action: 'delete', refs: [pick('Stopped')] })],
      ['saves a snapshot', () => ({ action: 'snapshot', refs: [pick('Stopped')] })],
    ])(
      'shows what happens when an agent %s',
      async (_title, argumentsOf) => {
        const before = await lab.list();
        const rehearsal = (await agent.rehearse({ ...argumentsOf(), twin: true })) as Rehearsed;
        expect(rehearsal.error).toBeUndefined();
        const { twin } = rehearsal;
        expect(twin).toMatchObject({ simulated: true, settled: true, differences: [] });
        // Nothing has happened yet.
        expect(await lab.list()).toEqual(before);
        expect(await lab.during(agent.commit(rehearsal))).toMatchObject({ status: 'done' });
        await lab.settle();
        const after = await lab.list();
        const nameOf = (ref: string): string => ref.split('/').at(-1)!;
        expect(twin.instances.map(({ ref }) => ref)).toEqual(rehearsal.refs);
        for (const instance of twin.instances)
          expect([instance.ref, seenIn(instance)]).toEqual([instance.ref, seenOf(after.get(nameOf(instance.ref)))]);
        const changed = [...before.keys()].filter(
          (name) =>
            !rehearsal.refs.includes(refOf(name)) &&
            JSON.stringify(seenOf(before.get(name))) !== JSON.stringify(seenOf(after.get(name))),
        );
        expect(twin.others.map(({ ref }) => nameOf(ref))).toEqual(changed);
      },
      TIMEOUT_MS,
    );

    test('says that the start of the large VM fails', async () => {
      const { twin } = (await agent.rehearse({
        action: 'start',
        refs: [pick('Stopped', 'Gi')],
        twin: true,
      })) as Rehearsed;
      expect(twin.instances).toMatchObject([
        {
          after: { status: 'ErrorUnschedulable' },
          steps: expect.arrayContaining([
            expect.objectContaining({
              name: 'FailedScheduling',
              warning: true,
              detail: expect.stringContaining('memory'),
            }),
          ]),
          difference: expect.stringMatching(/^The plan starts it; in the twin it is ErrorUnschedulable/),
        },
      ]);
    });
  });
};
