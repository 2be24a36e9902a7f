import { setImmediate as nextTurn } from 'node:timers/promises';
import { apiVersionOf, type KubeObject } from '../kube-object.js';
import type { ServedResource } from '../resource-registry.js';
import { headersOf } from './responses.js';
import type { Page } from './object-lister.js';
import type { RequestContext } from './request-context.js';
import { toServed } from './served-form.js';

/** Items serialized per turn of the event loop, so that a large list does not block it. */
const ITEMS_PER_TURN = 250;

/** Serializes and sends a list incrementally. */
export async function sendList(
  context: RequestContext,
  served: ServedResource,
  { objects, metadata }: Page,
): Promise<void> {
  const { definition, version } = served;
  const { response } = context;
  const head = {
    kind: definition.listKind ?? `${definition.kind}List`,
    apiVersion: apiVersionOf(definition.group, version.name),
    metadata,
  };
  response.writeHead(200, headersOf(context, 'application/json'));
  response.write(`${JSON.stringify(head).slice(0, -1)},"items":[`);
  for (let start = 0; start < objects.length && !response.destroyed; start += ITEMS_PER_TURN) {
    const items = objects.slice(start, start + ITEMS_PER_TURN).map((object) => itemText(object, served));
    response.write((start > 0 ? ',' : '') + items.join(','));
    if (start + ITEMS_PER_TURN < objects.length) await nextTurn();
  }
  response.end(']}\n');
}

/** Items of built-in kinds omit kind and apiVersion in lists. */
function itemText(object: KubeObject, served: ServedResource): string {
  const { apiVersion, kind, ...rest } = toServed(object, served);
  return JSON.stringify(served.definition.builtIn ? rest : { apiVersion, kind, ...rest });
}
