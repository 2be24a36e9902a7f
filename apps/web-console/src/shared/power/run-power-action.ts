import type { StatusView } from '@headgate/api-contracts';
import { instancePath } from '../api/instance-path.js';
import { postJson } from '../api/request.js';
import { collectionOf, type Instance } from '../instances/instance.js';
import type { PowerAction } from './power-actions.js';

export function runPowerAction(instance: Instance, action: PowerAction): Promise<StatusView> {
  const forced = action === 'force-stop';
  return postJson<StatusView>(`${instancePath(collectionOf(instance), instance)}/${forced ? 'stop' : action}`, {
    query: { context: instance.context, ...(forced ? { force: true } : {}) },
  });
}
