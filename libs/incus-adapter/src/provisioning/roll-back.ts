import { DomainError, messageOf } from '@headgate/domain-contracts';
import { whenIdle } from '../api/when-idle.js';
import { KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instancePath } from '../engine/instance-finder.js';
import { killContainer } from '../power/start-and-stop.js';
import { deleteVolume, type VolumePlace } from './data-volume.js';

/** A container that is not complete. */
export interface IncompleteContainer {
  readonly name: string;
  /** Its data volume; only its project if it gets none. */
  readonly volume: VolumePlace | Pick<VolumePlace, 'project'>;
  /** The ID of its creation: only objects with that are removed. Another creation may have been first. */
  readonly creation: string;
}

/** How often and how many times to try to remove an incomplete container while the server does not answer. */
const INTERVAL_MS = 500;
const MAX_ATTEMPTS = 60;

/** Removes an incomplete container and its volume. */
export async function rollBack(
  { api, finder }: IncusEngine,
  { name, volume, creation }: IncompleteContainer,
): Promise<void> {
  const { project } = volume;
  const found = await finder.read({ project, name });
  if (found?.config[KEY.creation] === creation) {
    await killContainer(api, found);
    await whenIdle(api, found, () => api.send('DELETE', instancePath(found), { query: { project } }));
  }
  if ('pool' in volume) await deleteVolume(api, volume, creation);
}

/** The same after a failure, which is the one to report. Retries for half a minute while the server does not answer. */
export async function tryRollBack(engine: IncusEngine, incomplete: IncompleteContainer): Promise<void> {
  const { clock, log } = engine;
  for (let attempt = 1; ; attempt++) {
    try {
      return await rollBack(engine, incomplete);
    } catch (error) {
      const isAway = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (!isAway || attempt === MAX_ATTEMPTS) {
        return log.warn(
          { container: incomplete.name, error: messageOf(error) },
          'Removing an incomplete container failed',
        );
      }
      await clock.delay(INTERVAL_MS);
    }
  }
}
