import {
  buildPlan,
  refusal,
  type Plan,
  type PlanStep,
  type Refusal,
  type SnapshotRequest,
} from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';
import { snapshotNameOf } from '../engine/api-names.js';
import { otherDisks } from '../engine/other-disks.js';
import { isStopped } from '../power/start-and-stop.js';
import { DATA_DEVICE, DATA_PATH, type VolumePlace } from '../provisioning/data-volume.js';
import { taken } from '../provisioning/name-refusals.js';
import type { SnapshotObject } from './snapshot-objects.js';

/** A container with the volume that belongs to it. */
export interface Saved {
  readonly instance: InstanceObject;
  readonly volume?: VolumePlace;
}

/** A snapshot of its root, and whether there is one of its volume that was taken with it. */
export interface SavedMoment {
  readonly root: SnapshotObject;
  readonly hasData: boolean;
}

/** In a path, the server takes these for something else. */
const UNREACHABLE = /^\.\.?$|%/;

/** One sentence about a snapshot that this service can't use. */
export const whyUnusable = ({ name }: SnapshotObject): string | undefined =>
  UNREACHABLE.test(name) ? `The server can't be asked for a snapshot with the name "${name}".` : undefined;

export function creationPlan(
  { instance, volume }: Saved,
  { name, memory = false }: SnapshotRequest,
  { roots, data }: { readonly roots: readonly SnapshotObject[]; readonly data: SnapshotObject | undefined },
): Plan {
  const refusals: Refusal[] = [];
  if (memory) refusals.push(refusal('NOT_SUPPORTED', 'The memory of containers is not saved.', 'Omit memory.'));
  if (roots.some((root) => snapshotNameOf(root.name) === name)) {
    refusals.push(taken(`${instance.name} already has a snapshot ${name}.`));
  } else if (data && volume) {
    refusals.push(taken(`The volume ${volume.name} of ${instance.name} already has a snapshot ${name}.`));
  }
  const warnings = notIncluded({ instance, volume }, 'is not in the snapshot');
  if (volume && !isStopped(instance)) {
    warnings.push(
      `${instance.name} runs: ${DATA_PATH} and the root are saved one after the other, so that a file that is written meanwhile may be in one of them only.`,
    );
  }
  return buildPlan(bothHalves('snapshot', { instance, volume }), { refusals, warnings });
}

export function restorePlan(saved: Saved, { root, hasData }: SavedMoment): Plan {
  const { instance, volume } = saved;
  const isOff = isStopped(instance);
  const steps = [
    ...(isOff ? [] : [{ name: 'stop', detail: instance.name }]),
    ...bothHalves('restore', { instance, ...(hasData && { volume }) }),
    ...(isOff ? [] : [{ name: 'start', detail: instance.name }]),
  ];
  const warnings = [
    `The configuration and the tags of ${instance.name} become those of the snapshot.`,
    ...(volume && !hasData ? [withoutData(volume, root.name)] : []),
    ...notIncluded(saved, 'stays as it is'),
  ];
  return buildPlan(steps, { refusals: [...unusable(root), ...endsWithStop(instance)], warnings });
}

export const deletionPlan = ({ instance, volume }: Saved, { root, hasData }: SavedMoment): Plan =>
  buildPlan(bothHalves('delete', { instance, ...(hasData && { volume }) }), { refusals: unusable(root) });

function bothHalves(name: string, { instance, volume }: Saved): PlanStep[] {
  const root = { name, detail: `The root of ${instance.name}.` };
  if (!volume) return [root];
  return [{ name, detail: `${DATA_PATH}: the volume ${volume.name} in the storage pool ${volume.pool}.` }, root];
}

const withoutData = ({ name }: VolumePlace, snapshot: string): string =>
  `The snapshot ${snapshot} does not include ${DATA_PATH}: the volume ${name} stays as it is.`;

const notIncluded = ({ instance, volume }: Saved, predicate: string): string[] =>
  otherDisks(instance, volume && DATA_DEVICE).map(({ name, path }) => `The disk ${name} at ${path} ${predicate}.`);

function unusable(root: SnapshotObject): Refusal[] {
  const reason = whyUnusable(root);
  return reason === undefined ? [] : [refusal('NOT_SUPPORTED', reason, 'Rename it with the tools of the engine.')];
}

function endsWithStop(instance: InstanceObject): Refusal[] {
  if (!instance.ephemeral || isStopped(instance)) return [];
  const reason = `${instance.name} is ephemeral: the stop before a restore would delete it.`;
  return [refusal('WRONG_STATE', reason, 'Make it persistent with the tools of the engine first.')];
}
