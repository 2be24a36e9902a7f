import type { StatusView } from '@headgate/api-contracts';
import { instancePath, type InstanceCollection } from '../api/instance-path.js';
import { postJson } from '../api/request.js';
import { collectionOf, type Instance } from '../instances/instance.js';
import type { PowerAction } from './power-actions.js';

export function runPowerAction(instance: Instance, action: PowerAction): Promise<StatusView> {
  const forced = action === 'force-stop';
  // The action is a parameter of the route, and only VMs have all of them.
  const path: `/api/${InstanceCollection}/${string}/${string}/${string}` = `${instancePath(collectionOf(instance), instance)}/${forced ? 'stop' : action}`;
  return postJson(path, {
    query: { context: instance.context, ...(forced ? { force: true } : {}) },
  });
}
