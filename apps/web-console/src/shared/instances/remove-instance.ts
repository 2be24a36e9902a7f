import type { StatusView } from '@headgate/api-contracts';
import { instancePath, type InstanceAddress, type InstanceCollection } from '../api/instance-path.js';
import { deleteJson } from '../api/request.js';

/** Deletes an instance and everything it owns. */
export const removeInstance = (collection: InstanceCollection, address: InstanceAddress): Promise<StatusView> =>
  deleteJson<StatusView>(instancePath(collection, address), { query: { context: address.context } });
