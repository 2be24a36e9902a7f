import type { KubeObject } from '@headgate/kube-sandbox';
import type { MachineObject } from '../cluster-state.js';
import { countOf, isDone, lastOf, type Count, type Outcome } from './outcome.js';
import { cpuOf, INITIAL_CPU, refOf, snapshotName, tagOf } from './story-requests.js';

/** How everything ended. */
export interface StoryEnd {
  readonly outcomes: readonly Outcome[];
  readonly nameOf: (vm: 0 | 1) => string;
  /** Whether the VM 0 ran at the beginning. */
  readonly ran: boolean;
  readonly machines: readonly MachineObject[];
  readonly objects: readonly KubeObject[];
  readonly folder: StoryFolder;
}

/** The folder of a story, as every process shows it. */
export interface StoryFolder {
  readonly members: readonly { readonly ref: string }[];
  /** The refs of members that do not exist. */
  readonly missing: readonly string[];
}

/** @param mayBeKilled whether a request may get no response */
export function answerViolations({ outcomes, nameOf }: StoryEnd, mayBeKilled: boolean): string[] {
  return outcomes.flatMap(({ answer, action, vm, task }) => {
    const text = `${action} of ${nameOf(vm)}`;
    if (answer === undefined) return mayBeKilled ? [] : [`${text} got no response`];
    if (![200, 201, 202, 404, 409].includes(answer.status))
      return [`${text} got ${answer.status} ${JSON.stringify(answer.json)}`];
    const id = answer.json['task'];
    if (answer.status < 300 && typeof id === 'string' && !task) return [`the task ${id} of ${text} is unknown`];
    // A VM may be deleted while its disk is filled, and a guest that was stopped before may end while it is migrated.
    if (!task || task.status === 'done' || action === 'create' || action === 'migrate') return [];
    return [`the task of ${text} failed: ${task.error}`];
  });
}

/** Each creation that was acknowledged happened, and so did each deletion. */
export function existenceViolations({ outcomes, nameOf, machines }: StoryEnd): string[] {
  return ([0, 1] as const).flatMap((vm) => {
    const { least, most } = existenceOf(outcomes, vm);
    const count = machines.filter(({ metadata }) => metadata.name === nameOf(vm)).length;
    return count < least || count > most ? [`${nameOf(vm)} exists ${count} times, not ${least} to ${most} times`] : [];
  });
}

/** A VM may be deleted again while it is being deleted. */
function existenceOf(outcomes: readonly Outcome[], vm: 0 | 1): Count {
  const created = countOf(
    outcomes,
    ({ action, vm: about }) => (action === 'create' && about === vm) || (action === 'clone' && about !== vm),
  );
  const deleted = countOf(outcomes, ({ action, vm: about }) => action === 'delete' && about === vm);
  const before = vm === 0 ? 1 : 0;
  return {
    least: Math.max(0, before + created.least - deleted.most),
    most: Math.min(1, before + created.most - Math.min(1, deleted.least)),
  };
}

/** The acknowledged changes of the VM 0, unless its deletion was requested. */
export function keptViolations(end: StoryEnd): string[] {
  const about = end.outcomes.filter(({ vm }) => vm === 0);
  const name = end.nameOf(0);
  const machine = end.machines.find(({ metadata }) => metadata.name === name);
  if (!machine || about.some(({ action }) => action === 'delete')) return [];
  return [
    ...tagViolations(about, name, machine),
    ...snapshotViolations(about, name, end.objects),
    ...sizeViolations(about, name, machine),
    ...powerViolations(about, name, machine, end.ran),
    ...templateViolations(about, name, machine),
  ];
}

function tagViolations(about: readonly Outcome[], name: string, { metadata }: MachineObject): string[] {
  return about.flatMap((one) => {
    const done = one.action === 'tag' ? isDone(one) : undefined;
    const isThere = `svc.dev/tag.${tagOf(one.index)}` in (metadata.labels ?? {});
    if (done === undefined || done === isThere) return [];
    return [`the tag ${tagOf(one.index)} of ${name} ${isThere ? 'is there' : 'is lost'}`];
  });
}

function snapshotViolations(about: readonly Outcome[], name: string, objects: readonly KubeObject[]): string[] {
  return ([0, 1] as const).flatMap((snapshot) => {
    const text = snapshotName(name, snapshot);
    const isMeant = (action: string) => (one: Outcome) => one.action === action && one.snapshot === snapshot;
    const created = countOf(about, isMeant('snapshot'));
    const deleted = countOf(about, isMeant('forget'));
    const count = objects.filter(
      ({ kind, metadata }) => kind === 'VirtualMachineSnapshot' && metadata.name === text,
    ).length;
    const [least, most] = [created.least - deleted.most, created.most - deleted.least];
    if (least <= count && count <= most) return [];
    return [`the snapshot ${text} exists ${count} times, not ${least} to ${most} times`];
  });
}

/** The CPUs are those of the last request. A restore brings back those of its snapshot. */
function sizeViolations(about: readonly Outcome[], name: string, { spec }: MachineObject): string[] {
  if (about.some((one) => one.action === 'restore' && isDone(one) !== false)) return [];
  const scales = about.filter(({ action }) => action === 'scale');
  const cpus = lastOf(scales).map(({ index }) => cpuOf(index));
  if (!scales.some((one) => isDone(one) === true)) cpus.push(INITIAL_CPU);
  const cpu = spec.template.spec.domain.cpu?.sockets ?? 1;
  return cpus.includes(cpu) ? [] : [`${name} has ${cpu} CPUs, and was scaled to ${cpus.join(' or ')}`];
}

function templateViolations(about: readonly Outcome[], name: string, { metadata }: MachineObject): string[] {
  const isTemplate = metadata.labels?.['svc.dev/template'] === 'true';
  if (switchOf(about, 'template').has(isTemplate)) return [];
  return [`${name} ${isTemplate ? 'is a template' : 'is no template'}, other than the last request for it`];
}

/** What the last request for a template mark or a membership may have set. */
function switchOf(about: readonly Outcome[], action: 'template' | 'folder'): ReadonlySet<boolean> {
  const requests = about.filter((one) => one.action === action);
  const states = new Set(lastOf(requests).map(({ snapshot }) => snapshot === 0));
  if (!requests.some((one) => isDone(one) === true)) states.add(false);
  return states;
}

/** A VM stays in its folder until it is deleted, and another VM of its name is not in it. */
export function folderViolations({ outcomes, nameOf, folder }: StoryEnd): string[] {
  return ([0, 1] as const).flatMap((vm) => {
    const ref = refOf(nameOf(vm));
    const about = outcomes.filter((one) => one.vm === vm);
    const deletions = about.filter((one) => one.action === 'delete' && isDone(one) !== false);
    const isMember = folder.members.some((member) => member.ref === ref);
    const isMissing = folder.missing.includes(ref);
    if (deletions.length === 0)
      return switchOf(about, 'folder').has(isMember) && !isMissing
        ? []
        : [`${nameOf(vm)} is ${isMember ? '' : 'not '}in its folder, other than the last request for it`];
    const isEnded = deletions.some(
      (deletion) =>
        isDone(deletion) === true &&
        !about.some((one) => one.action === 'folder' && isDone(one) !== false && one.answeredAt > deletion.sentAt),
    );
    return isEnded && (isMember || isMissing) ? [`${nameOf(vm)} was deleted, and its name is still in a folder`] : [];
  });
}

/** The VM is in the state that was requested last. A restore and a migration keep it. */
function powerViolations(about: readonly Outcome[], name: string, { status }: MachineObject, ran: boolean): string[] {
  const powers = about.filter(({ action }) => action === 'start' || action === 'stop');
  const states = new Set<string>(lastOf(powers).map(({ action }) => (action === 'start' ? 'Running' : 'Stopped')));
  if (!powers.some((one) => isDone(one) === true)) states.add(ran ? 'Running' : 'Stopped');
  const state = status?.printableStatus ?? 'Stopped';
  return states.has(state) ? [] : [`${name} is ${state}, and was last requested to be ${[...states].join(' or ')}`];
}
