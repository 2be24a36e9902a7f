import type { SnapshotView } from '@headgate/api-contracts';
import { driverOf, type MeetingOperation, type MeetingVm } from '@headgate/testing';
import { MEMORY } from './blank-vm.js';
import type { LibvirtLab, Reply } from './libvirt-lab.js';
import { SCALED } from './likely-pairs.js';

export interface Met {
  readonly vm: MeetingVm;
  readonly status: 'Running' | 'Stopped';
  readonly answers: readonly (readonly [MeetingOperation, Reply])[];
}

/** The answers to a request that was not carried out because of another one. */
const REFUSALS = [
  '409 BUSY',
  '409 WRONG_STATE',
  '409 MOVE_REFUSED',
  '404 INSTANCE_NOT_FOUND',
  '404 SNAPSHOT_NOT_FOUND',
];

/** Compares a VM that is at rest with everything that was acknowledged. @returns the differences */
export async function violationsOf(lab: LibvirtLab, { vm, status, answers }: Met): Promise<string[]> {
  const found: string[] = [];
  const expectSame = (what: string, seen: unknown, wanted: unknown): void => {
    if (JSON.stringify(seen) !== JSON.stringify(wanted))
      found.push(`${what}: ${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`);
  };
  const isAcked = (operation: MeetingOperation): boolean =>
    answers.some(([one, reply]) => one === operation && reply.status < 300);
  for (const [operation, { status: code, body }] of answers)
    if (code >= 300 && !REFUSALS.includes(`${code} ${String(body['code'])}`))
      found.push(`${operation} is ${code} ${JSON.stringify(body)}`);
  if (!answers.some(([, reply]) => reply.status < 300)) found.push('none was carried out');
  for (const { id, status: end, error } of await lab.tasks(vm.name)) expectSame(id, [end, error], ['done', '']);

  const entries = await lab.entries(vm.name);
  const isGone = isAcked('delete') || isAcked('move');
  const expected = [
    ...(isGone ? [] : [`here ${vm.name}`]),
    ...(isAcked('clone') ? [`here ${vm.name}-copy`] : []),
    ...(isAcked('move') ? [`there ${vm.name}-moved`] : []),
  ];
  expectSame('VMs', entries.map(({ context, name }) => `${context} ${name}`).sort(), expected.sort());
  const survivor = entries.find(({ name }) => name === vm.name || name === `${vm.name}-moved`);
  if (survivor) {
    expectSame('tags', survivor.tags, isAcked('tag') ? ['prod'] : []);
    const machine = survivor.context === 'there' ? lab.there : lab.here;
    expectSame('memory', await machine.nextMemory(survivor.name), isAcked('scale') ? SCALED : MEMORY);
    expectSame('the template mark', survivor.isTemplate, isAcked('template'));
    // A move shuts its guest down.
    const runs = isAcked('start') || (status === 'Running' && !isAcked('stop'));
    expectSame('status', survivor.status, runs && survivor.name === vm.name ? 'Running' : 'Stopped');
  }
  if (survivor?.name === vm.name) {
    const given = answers.some(([operation]) => driverOf(operation).given === 'snapshot');
    const names = [
      ...(given && !isAcked('delete-snapshot') ? [`${vm.name}-one`] : []),
      ...(isAcked('snapshot') ? [`${vm.name}-two`] : []),
    ];
    const path = `/api/vms/local/${vm.name}/snapshots`;
    const { body } = await lab.api.send<SnapshotView[]>('GET', path);
    expectSame(
      'snapshots',
      body.map(({ name, phase, ready }) => `${name} ${phase} ${ready}`),
      names.map((name) => `${name} Succeeded true`),
    );
  }
  return found.length === 0 ? [] : [...found, await lab.here.lastLog(vm.name)];
}
