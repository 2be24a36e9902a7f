import { DomainError, messageOf, type ContainerSpec } from '@headgate/domain-contracts';
import type { Config, Devices, InstanceObject } from '../api/incus-objects.js';
import { KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { instancePath } from '../engine/instance-finder.js';
import { formatLimit } from '../inventory/limits.js';
import { killContainer, startContainer } from '../power/start-and-stop.js';
import type { PoolChoice } from './choose-pool.js';
import { assignVolume, createVolume, DATA_DEVICE, DATA_PATH, dataVolumeName, deleteVolume } from './data-volume.js';
import type { ImageSource } from './find-image.js';

export interface ContainerCreation {
  readonly spec: ContainerSpec;
  readonly project: string;
  readonly choice: PoolChoice;
  readonly source: ImageSource;
  /** A UUID. */
  readonly creation: string;
}

/** How often and how many times to try to remove an incomplete container while the server does not answer. */
const ROLL_BACK_INTERVAL_MS = 500;
const ROLL_BACK_MAX_ATTEMPTS = 60;

/** Creates a container with its data volume and starts it. A failure leaves nothing behind. */
export async function createContainer(engine: IncusEngine, request: ContainerCreation): Promise<void> {
  const { api, log, finder } = engine;
  const { spec, project, choice, creation } = request;
  const { name } = spec.ref;
  const volume = { pool: choice.pool, project, name: dataVolumeName(name) };
  try {
    await createVolume(api, volume, { sizeBytes: spec.diskBytes, creation });
    await api.send('POST', '/1.0/instances', {
      query: { project },
      body: { name, type: 'container', source: request.source, config: configOf(request), devices: devicesOf(request) },
    });
    const created = await finder.read({ project, name });
    if (!created) throw new DomainError('CONFLICT', `The container ${name} was deleted while it was created.`);
    await assignVolume(api, volume, created);
    await startContainer(api, created);
  } catch (error) {
    // Another creation may have been first: only objects of this one are removed.
    await untilItAnswers(engine, () => rollBack(engine, request)).catch((failure: unknown) =>
      log.warn({ container: name, error: messageOf(failure) }, 'Removing an incomplete container failed'),
    );
    throw error;
  }
}

/** Retries for half a minute while the server does not answer. */
async function untilItAnswers({ clock }: IncusEngine, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isAway = DomainError.is(error, 'BACKEND_UNREACHABLE', 'BACKEND_TIMEOUT');
      if (!isAway || attempt === ROLL_BACK_MAX_ATTEMPTS) throw error;
      await clock.delay(ROLL_BACK_INTERVAL_MS);
    }
  }
}

async function rollBack({ api, finder }: IncusEngine, request: ContainerCreation): Promise<void> {
  const { project, choice, creation, spec } = request;
  const path = { project, name: spec.ref.name };
  const found = await finder.read(path);
  if (found && isOf(found, creation)) {
    await killContainer(api, found);
    await api.send('DELETE', instancePath(found), { query: { project } });
  }
  await deleteVolume(api, { pool: choice.pool, project, name: dataVolumeName(path.name) }, creation);
}

const isOf = ({ config }: InstanceObject, creation: string): boolean => config[KEY.creation] === creation;

const configOf = ({ spec, creation }: ContainerCreation): Config => ({
  'limits.cpu': String(spec.cpu),
  'limits.memory': formatLimit(spec.memoryBytes),
  ...(spec.privileged && { 'security.privileged': 'true' }),
  [KEY.image]: spec.image,
  [KEY.creation]: creation,
});

const devicesOf = ({ spec, choice: { pool, rootDevice } }: ContainerCreation): Devices => ({
  ...(rootDevice !== undefined && { [rootDevice]: { type: 'disk', path: '/', pool } }),
  [DATA_DEVICE]: { type: 'disk', path: DATA_PATH, pool, source: dataVolumeName(spec.ref.name) },
});
