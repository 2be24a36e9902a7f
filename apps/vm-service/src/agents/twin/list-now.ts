import { formatRef, type Backend, type Instance } from '@headgate/domain-contracts';

/** All instances as the engine lists them now, by their refs. @throws the reason why it can't be reached */
export async function listNow(backend: Backend): Promise<ReadonlyMap<string, Instance>> {
  const { promise, resolve, reject } = Promise.withResolvers<readonly Instance[]>();
  const watch = backend.require('inventory').watch({
    listed: resolve,
    lost: reject,
    changed: () => undefined,
    removed: () => undefined,
  });
  try {
    return new Map((await promise).map((instance) => [formatRef(instance.ref), instance]));
  } finally {
    await watch.stop();
  }
}
