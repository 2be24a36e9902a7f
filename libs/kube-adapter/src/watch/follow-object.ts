import { keyOf, type KubeObject } from '../api/kube-object.js';
import type { Resource } from '../api/resources.js';
import { KindWatch, type WatchDeps } from './kind-watch.js';

export interface FollowOptions<T extends KubeObject> extends WatchDeps {
  readonly resource: Resource;
  /**
   * The object that was created or read; only the one with its uid is followed. Without a uid, the first of its name.
   */
  readonly object: KubeObject;
  readonly signal: AbortSignal;
  /** Called for each version of the object. Returns true to end; an error that it throws ends it too. */
  onChange(object: T): boolean;
  /** Called when the object no longer exists. Ends in the same ways. */
  onRemoved(): boolean | Promise<boolean>;
}

/** Follows one object until a callback ends it or the signal is aborted, over any number of lost connections. */
export async function followObject<T extends KubeObject>(options: FollowOptions<T>): Promise<void> {
  const { api, clock, reachability, resource, signal, onChange, onRemoved } = options;
  const { namespace = '', name = '' } = options.object.metadata;
  let { uid } = options.object.metadata;
  signal.throwIfAborted();
  let present = uid !== undefined;
  let watch: KindWatch<T> | undefined;
  let onAbort = (): void => undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      onAbort = () => reject(signal.reason as Error);
      signal.addEventListener('abort', onAbort);
      const settle = (step: () => boolean | Promise<boolean>): void =>
        void Promise.resolve()
          .then(step)
          .then((done) => done && resolve(), reject);
      const sink = {
        upsert: (object: T) => {
          uid ??= object.metadata.uid;
          // Another object, created later under the same name.
          if (object.metadata.uid !== uid) return settle(onRemoved);
          present = true;
          settle(() => onChange(object));
        },
        remove: () => {
          present = false;
          settle(onRemoved);
        },
        keys: () => (present ? [keyOf({ metadata: { namespace, name } })] : []),
      };
      const fieldSelector = `metadata.name=${name}`;
      watch = new KindWatch({ api, clock, reachability, resource, namespace, fieldSelector, sink }).start();
    });
  } finally {
    signal.removeEventListener('abort', onAbort);
    await watch?.stop();
  }
}
