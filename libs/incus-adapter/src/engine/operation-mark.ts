import type { IncusApi } from '../api/incus-api.js';
import type { Config, InstanceObject } from '../api/incus-objects.js';
import { whenIdle } from '../api/when-idle.js';
import { KEY } from './config-keys.js';
import { instancePath } from './instance-finder.js';

/**
 * The text by which an operation is found again after this process was killed. A snapshot keeps the mark that its
 * container and its volume had when it was taken.
 */
export const markOf = (kind: 'create' | 'restore' | 'restored' | 'clone' | 'move', name: string, id: string): string =>
  `${kind} ${name} ${id}`;

/** Whether it is the copy of a move that is not complete. */
export const isMovedHere = (instance: { readonly config: Config }): boolean =>
  markIn(instance)?.startsWith('move ') === true;

export const markIn = ({ config }: { readonly config: Config }): string | undefined => config[KEY.operation];

/** @param mark the empty one removes it */
export async function markInstance(api: IncusApi, instance: InstanceObject, mark: string): Promise<void> {
  await whenIdle(api, instance, () =>
    api.send('PATCH', instancePath(instance), {
      query: { project: instance.project },
      body: { config: { [KEY.operation]: mark } },
    }),
  );
}
