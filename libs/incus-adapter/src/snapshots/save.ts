import { DomainError, messageOf, ServiceShutdown, type TaskReporter } from '@headgate/domain-contracts';
import { untilIdle } from '../api/when-idle.js';
import { KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { markIn, markInstance } from '../engine/operation-mark.js';
import { configureVolume } from '../provisioning/data-volume.js';
import {
  deleteRootSnapshot,
  deleteVolumeSnapshot,
  findVolumeSnapshot,
  rootSnapshots,
  saveRoot,
  saveVolume,
} from './snapshot-objects.js';
import type { Saved } from './snapshot-plans.js';

/** A snapshot that is being created. */
export interface Unfinished {
  readonly name: string;
  /** Its container has it until the snapshot is complete. */
  readonly mark: string;
}

type Half = 'data' | 'root';

/** Saves the data volume and the root of a container that has the mark. A failure leaves nothing behind. */
export async function save(
  engine: IncusEngine,
  saved: Saved,
  unfinished: Unfinished,
  report: TaskReporter,
): Promise<void> {
  const { api, log } = engine;
  const { instance, volume } = saved;
  const { name, mark } = unfinished;
  const created: Half[] = [];
  const create = async (half: Half, work: () => Promise<void>): Promise<void> => {
    report.signal.throwIfAborted();
    // After any other failure, the server may still have saved it.
    await work().catch((error: unknown) => {
      if (!DomainError.is(error, 'ALREADY_EXISTS')) created.push(half);
      throw error;
    });
    created.push(half);
  };
  try {
    report.step('snapshot');
    if (volume) {
      await configureVolume(api, volume, { [KEY.operation]: mark });
      await create('data', () => saveVolume(api, volume, name));
    }
    await create('root', () => saveRoot(api, instance, name));
    await markInstance(api, instance, '');
  } catch (error) {
    // Another process carries it on.
    if (error instanceof ServiceShutdown) throw error;
    try {
      await removeUnfinished(engine, saved, unfinished, created);
      await markInstance(api, instance, '');
    } catch (failure) {
      log.warn({ container: instance.name, error: messageOf(failure) }, 'Removing an incomplete snapshot failed');
    }
    throw error;
  }
}

/**
 * Removes the halves of a snapshot that is not complete, once nothing works on it any more, and no other snapshot.
 * @param halves only these: another client may have been first with the name of the other one, and with the mark
 */
export async function removeUnfinished(
  { api }: IncusEngine,
  { instance, volume }: Saved,
  { name, mark }: Unfinished,
  halves: readonly Half[] = ['data', 'root'],
): Promise<void> {
  await untilIdle(api, instance.project, [instance.name, ...(volume ? [volume.name] : [])]);
  const root = (await rootSnapshots(api, instance)).find((one) => one.name === name);
  if (halves.includes('root') && root && markIn(root) === mark) await deleteRootSnapshot(api, instance, name);
  const data = volume && (await findVolumeSnapshot(api, volume, name));
  if (halves.includes('data') && volume && data && markIn(data) === mark) await deleteVolumeSnapshot(api, volume, name);
}
