import { badRequest, fieldInvalid, invalid } from '../api-error.js';
import { deepCopy } from '../deep-copy.js';
import type { KubeObject } from '../kube-object.js';
import { applyJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import type { ScalePaths } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';
import { evaluateJsonPath, plainPath } from '../table/json-path.js';
import { sendJson } from './responses.js';
import { JSON_PATCH } from '../patch/patch-types.js';
import type { ObjectReader } from './object-reader.js';
import { decodeBody, decodeJson, mediaTypeOf, readBody } from './request-body.js';
import type { RequestContext } from './request-context.js';
import { parseWriteOptions } from './write-options.js';
import type { WritePipeline } from './write-pipeline.js';

interface Scale {
  spec?: { replicas?: number };
}

/** Handles `/scale`: the replicas of an object as an autoscaling/v1 Scale. */
export async function handleScale(
  context: RequestContext,
  served: ServedResource,
  paths: ScalePaths,
  reader: ObjectReader,
  pipeline: WritePipeline,
): Promise<void> {
  const { info, request, user } = context;
  const live = reader.find(served, { namespace: info.namespace, name: info.name ?? '' });
  if (info.verb === 'get') return sendJson(context, 200, scaleOf(live, paths));
  const body = await readBody(request);
  const wanted =
    info.verb === 'update' ? decodeBody(request, body) : patched(scaleOf(live, paths), mediaTypeOf(request), body);
  const replicas = (wanted as Scale).spec?.replicas ?? 0;
  if (!Number.isInteger(replicas))
    throw badRequest('Scale in version "v1" cannot be handled as a Scale: spec.replicas must be a number');
  if (replicas < 0) {
    throw invalid('Scale', 'autoscaling', live.metadata.name, [
      fieldInvalid('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  }
  const draft = deepCopy(live);
  write(draft, plainPath(paths.specReplicasPath), replicas);
  const { dryRun, fieldManager } = parseWriteOptions(context);
  sendJson(
    context,
    200,
    scaleOf(pipeline.update(draft, live, { served, user, dryRun, manager: fieldManager, subresource: 'scale' }), paths),
  );
}

function patched(scale: object, type: string, body: Buffer): unknown {
  const patch = decodeJson(body);
  return type === JSON_PATCH ? applyJsonPatch(scale, patch) : applyMergePatch(scale, patch);
}

function scaleOf(object: KubeObject, { specReplicasPath, statusReplicasPath, labelSelectorPath }: ScalePaths): object {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const [selector] = labelSelectorPath ? evaluateJsonPath(object, labelSelectorPath) : [];
  const labels = (selector as { matchLabels?: Record<string, string> } | undefined)?.matchLabels;
  const text =
    typeof selector === 'string'
      ? selector
      : labels &&
        Object.entries(labels)
          .map(([key, value]) => `${key}=${value}`)
          .join(',');
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas: evaluateJsonPath(object, specReplicasPath)[0] ?? 0 },
    status: { replicas: evaluateJsonPath(object, statusReplicasPath)[0] ?? 0, ...(text && { selector: text }) },
  };
}

function write(target: object, [field = '', ...rest]: string[], value: number): void {
  const fields = target as Record<string, unknown>;
  if (rest.length === 0) fields[field] = value;
  else write((fields[field] ??= {}) as object, rest, value);
}
