import { DomainError, messageOf, ServiceShutdown, type TaskReporter } from '@headgate/domain-contracts';
import { untilIdle } from '../api/when-idle.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { markIn, markInstance, markOf } from '../engine/operation-mark.js';
import { isStopped, startContainer, stopContainer } from '../power/start-and-stop.js';
import { DATA_PATH } from '../provisioning/data-volume.js';
import { restoreRoot, restoreVolume } from './snapshot-objects.js';
import type { Saved, SavedMoment } from './snapshot-plans.js';
import { snapshotNameOf } from '../engine/api-names.js';

export interface RestoreRequest extends SavedMoment {
  readonly id: string;
  readonly startsAgain: boolean;
}

/** Stops a container, returns its data volume and its root to a snapshot, and starts it again if it ran. */
export async function restoreSaved(
  engine: IncusEngine,
  saved: Saved,
  request: RestoreRequest,
  report: TaskReporter,
): Promise<void> {
  const { api } = engine;
  const { instance, volume } = saved;
  const { root, id, startsAgain } = request;
  const done = markOf('restored', snapshotNameOf(root.name), id);
  // Of an earlier process.
  await untilIdle(api, instance.project, [instance.name, ...(volume ? [volume.name] : [])]);
  const isReplaced = markIn(instance) === done;
  if (!isReplaced) {
    await prepare(engine, saved, request, report);
    report.step('restore');
    await replace(engine, saved, request);
  }
  if (!startsAgain) return;
  report.step('start');
  await startContainer(api, instance);
}

/** Stops it, and lets it run again if the restore is canceled before anything is replaced. */
async function prepare(
  { api, log }: IncusEngine,
  { instance }: Saved,
  { startsAgain }: RestoreRequest,
  report: TaskReporter,
): Promise<void> {
  try {
    if (!isStopped(instance)) report.step('stop');
    await stopContainer(api, instance);
    await report.commit?.(`The files of ${instance.name} are replaced.`);
  } catch (error) {
    if (startsAgain && !(error instanceof ServiceShutdown)) {
      await startContainer(api, instance).catch((failure: unknown) =>
        log.warn({ container: instance.name, error: messageOf(failure) }, 'Starting it after a restore failed'),
      );
    }
    throw error;
  }
}

async function replace({ api }: IncusEngine, { instance, volume }: Saved, request: RestoreRequest): Promise<void> {
  const { root, hasData, id, startsAgain } = request;
  const name = snapshotNameOf(root.name);
  await markInstance(api, instance, markOf('restore', name, id));
  const data = hasData ? volume : undefined;
  try {
    if (data) await restoreVolume(api, data, root.name);
  } catch (error) {
    // The server has refused it before it began: another container that runs uses the volume as well.
    if (!DomainError.is(error, 'WRONG_STATE')) throw incomplete(error, `${DATA_PATH} may be replaced in part`, name);
    await markInstance(api, instance, '');
    if (startsAgain) await startContainer(api, instance);
    throw error;
  }
  try {
    await restoreRoot(api, instance, root.name);
  } catch (error) {
    const state = data
      ? `${DATA_PATH} is that of the snapshot, and the root may be replaced in part or not at all`
      : 'the root may be replaced in part';
    throw incomplete(error, state, name);
  }
  // The restore has replaced the configuration, and the mark with it.
  await markInstance(api, instance, markOf('restored', name, id));
}

function incomplete(error: unknown, state: string, snapshot: string): unknown {
  if (!(error instanceof DomainError)) return error;
  return new DomainError(
    error.code,
    `${error.message} The container stays stopped: ${state}. Restore ${snapshot} again, or another snapshot.`,
  );
}
