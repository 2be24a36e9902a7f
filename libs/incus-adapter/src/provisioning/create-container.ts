import { DomainError, type ContainerSpec } from '@headgate/domain-contracts';
import type { Config, Devices } from '../api/incus-objects.js';
import { KEY } from '../engine/config-keys.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { formatLimit } from '../inventory/limits.js';
import { startContainer } from '../power/start-and-stop.js';
import type { PoolChoice } from './choose-pool.js';
import { assignVolume, createVolume, DATA_DEVICE, DATA_PATH, dataVolumeName } from './data-volume.js';
import type { ImageSource } from './find-image.js';
import { tryRollBack } from './roll-back.js';

export interface ContainerCreation {
  readonly spec: ContainerSpec;
  readonly project: string;
  readonly choice: PoolChoice;
  readonly source: ImageSource;
  /** A UUID. */
  readonly creation: string;
}

/** Creates a container with its data volume and starts it. A failure leaves nothing behind. */
export async function createContainer(engine: IncusEngine, request: ContainerCreation): Promise<void> {
  const { api, finder } = engine;
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
    await tryRollBack(engine, { name, volume, creation });
    throw error;
  }
}

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
