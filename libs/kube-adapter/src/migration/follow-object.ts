import type { Clock } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { keyOf, type KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';
import { KindWatch } from '../watch/kind-watch.js';
import type { Reachability } from '../watch/reachability.js';

export interface Following {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly reachability: Reachability;
}

/**
 * Follows one object until `seen` is satisfied, over any number of lost connections. Rejects when `seen` throws, when
 * `signal` is aborted, or with what `gone` throws.
 * @param object what was created or read: the following goes on from there
 */
export async function followObject<T extends KubeObject>(
  { api, clock, reachability }: Following,
  resource: Resource,
  { metadata }: KubeObject,
  signal: AbortSignal,
  seen: (object: T) => boolean,
  gone: () => boolean | Promise<boolean>,
): Promise<void> {
  signal.throwIfAborted();
  const { namespace = '', name = '' } = metadata;
  let present = true;
  let watch: KindWatch<T> | undefined;
  const onAbort = { listener: (): void => undefined };
  try {
    await new Promise<void>((resolve, reject) => {
      onAbort.listener = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort.listener);
      const settle = (step: () => boolean | Promise<boolean>): void =>
        void Promise.resolve()
          .then(step)
          .then((done) => done && resolve(), reject);
      const sink = {
        upsert: (object: T) => {
          // Of the same name, but made later by somebody else.
          if (object.metadata.uid !== metadata.uid) return settle(gone);
          present = true;
          settle(() => seen(object));
        },
        remove: () => {
          present = false;
          settle(gone);
        },
        keys: () => (present ? [keyOf({ metadata: { namespace, name } })] : []),
      };
      const fieldSelector = `metadata.name=${name}`;
      watch = new KindWatch({ api, clock, reachability, resource, namespace, fieldSelector, sink }).start();
    });
  } finally {
    signal.removeEventListener('abort', onAbort.listener);
    await watch?.stop();
  }
}
