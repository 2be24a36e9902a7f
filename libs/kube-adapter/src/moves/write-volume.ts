import { DomainError, type DiskWriter } from '@headgate/domain-contracts';
import type { DataVolumeObject } from '../api/object-types.js';
import { DATA_VOLUMES } from '../api/resources.js';
import { importProblem } from '../data-volumes/data-volume-facts.js';
import type { ImageUploads } from '../images/image-uploads.js';
import { bytesOf } from '../inventory/guest-size.js';
import { followObject } from '../watch/follow-object.js';
import type { WatchDeps } from '../watch/kind-watch.js';
import { UploadWriter } from './upload-writer.js';

/** How long CDI may take to start an upload server, and to store a disk that was sent. */
const READY_TIMEOUT_MS = 5 * 60_000;
const STORE_TIMEOUT_MS = 60 * 60_000;

export interface WriteVolumeDeps extends WatchDeps {
  readonly uploads: ImageUploads;
}

/** Waits until a DataVolume can receive its content, and writes that. CDI accepts one upload for each. */
export async function writeVolume(
  deps: WriteVolumeDeps,
  volume: DataVolumeObject,
  signal: AbortSignal,
): Promise<DiskWriter> {
  const { clock, uploads } = deps;
  await follow(deps, { volume, phase: 'UploadReady', timeoutMs: READY_TIMEOUT_MS }, signal);
  const { namespace = '', name = '' } = volume.metadata;
  return new UploadWriter({
    clock,
    signal,
    proxy: await uploads.proxyAddress(),
    requestToken: () => uploads.requestToken({ namespace, name }),
    sizeBytes: bytesOf((volume.spec?.storage ?? volume.spec?.pvc)?.resources?.requests?.storage) ?? 0,
    untilStored: (aborted) => follow(deps, { volume, phase: 'Succeeded', timeoutMs: STORE_TIMEOUT_MS }, aborted),
  });
}

interface Expected {
  readonly volume: DataVolumeObject;
  readonly phase: 'UploadReady' | 'Succeeded';
  readonly timeoutMs: number;
}

async function follow(deps: WatchDeps, { volume, phase, timeoutMs }: Expected, signal: AbortSignal): Promise<void> {
  const late = new AbortController();
  const { name = '' } = volume.metadata;
  let waitsFor = 'CDI has not begun';
  const cancel = deps.clock.after(timeoutMs, () =>
    late.abort(new DomainError('BACKEND_TIMEOUT', `The DataVolume ${name} did not become ${phase}: ${waitsFor}.`)),
  );
  const failed = (reason: string): DomainError =>
    new DomainError('BACKEND_FAILED', `The DataVolume ${name} can't be filled: ${reason.replace(/\.$/, '')}.`);
  try {
    await followObject<DataVolumeObject>({
      ...deps,
      resource: DATA_VOLUMES,
      object: volume,
      signal: AbortSignal.any([signal, late.signal]),
      onChange: (version) => {
        const problem = importProblem(version);
        if (version.status?.phase === 'Failed') throw failed(problem ?? 'it has failed');
        waitsFor = problem?.replace(/\.$/, '') ?? `its phase is ${version.status?.phase ?? 'unknown'}`;
        return version.status?.phase === phase || version.status?.phase === 'Succeeded';
      },
      onRemoved: () => {
        throw failed('it was deleted');
      },
    });
  } finally {
    cancel();
  }
}
