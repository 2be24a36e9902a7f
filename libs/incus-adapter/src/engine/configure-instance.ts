import type { InstanceRef } from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { InstanceObject } from '../api/incus-objects.js';
import { whenIdle, type InstancePath } from '../api/when-idle.js';
import { instancePath, type InstanceFinder } from './instance-finder.js';

/** Keys of the configuration of an instance with their new values; undefined removes a key. */
export type ConfigChange = Readonly<Record<string, string | undefined>>;

/**
 * Changes keys of the configuration of an instance; the others stay. Does nothing if they already have the values.
 * @param found the same instance, as it was read before
 * @throws DomainError CONFLICT when another client changes it at the same time
 */
export async function configureInstance(
  { api, finder }: { readonly api: IncusApi; readonly finder: InstanceFinder },
  ref: InstanceRef,
  found: InstancePath,
  change: ConfigChange,
): Promise<void> {
  await whenIdle(api, found, async () => {
    const { value, etag } = await finder.findTagged(ref);
    if (Object.entries(change).every(([key, text]) => value.config[key] === text)) return;
    // Only a complete description can remove a key.
    await api.send('PUT', instancePath(value), {
      query: { project: value.project },
      headers: { 'if-match': etag },
      body: describedWith(value, change),
    });
  });
}

function describedWith(instance: InstanceObject, change: ConfigChange): object {
  const { architecture, description, devices, ephemeral, profiles, stateful } = instance;
  // JSON has no undefined values.
  const config = { ...instance.config, ...change };
  return { architecture, config, description, devices, ephemeral, profiles, stateful };
}
