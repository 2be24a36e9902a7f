import {
  DomainError,
  TwinSource,
  type Clock,
  type JsonObject,
  type TwinObjects,
  type TwinReading,
} from '@headgate/domain-contracts';
import { KubeApiError } from '../api/kube-api-error.js';
import type { KubeApi, Page } from '../api/kube-api.js';
import type { KubeObject } from '../api/kube-object.js';
import { KUBEVIRTS, NODES, PODS, type Resource } from '../api/resources.js';
import type { KubevirtObject } from '../discovery/cluster-facts.js';
import { isOver, reduceObject } from './reduce-object.js';
import { NEVER_READ, TWIN_KINDS, type TwinKind } from './twin-kinds.js';

/** After so many objects, other work of the process gets a turn. */
const OBJECTS_PER_TURN = 250;

export interface KubeTwinDeps {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly context: string;
  /** The namespaces of instances, for an account that may not list the whole cluster. */
  readonly namespaces?: readonly string[] | undefined;
}

/** What one reading has found so far. */
interface Found {
  readonly objects: JsonObject[];
  readonly gaps: string[];
  readonly notServed: string[];
  /** All that were read, also those that are not kept. */
  read: number;
  version?: string;
  hasNoNodes: boolean;
}

/** Reads the objects of a cluster with GET requests, page by page. */
export class KubeTwinSource extends TwinSource {
  constructor(private readonly deps: KubeTwinDeps) {
    super();
  }

  override async read(reading: TwinReading): Promise<TwinObjects> {
    const { clock, namespaces } = this.deps;
    const readAt = clock.now();
    const found: Found = { objects: [], gaps: [...NEVER_READ], notServed: [], read: 0, hasNoNodes: false };
    if (namespaces)
      found.gaps.push(`Only the namespaces ${namespaces.join(', ')} were read: the pods of others take no room.`);
    for (const kind of TWIN_KINDS) await this.readKind(kind, reading, found);
    const { objects, gaps, notServed, version, hasNoNodes } = found;
    return { readAt, objects, gaps, notServed, hasNoNodes, ...(version !== undefined && { version }) };
  }

  private async readKind(kind: TwinKind, reading: TwinReading, found: Found): Promise<void> {
    const { resource, isRequired } = kind;
    const before = { objects: found.objects.length, read: found.read };
    try {
      for (const namespace of this.scopesOf(resource)) await this.readScope(kind, namespace, reading, found);
    } catch (error) {
      // The error of a request that was ended says nothing of the reason.
      reading.signal.throwIfAborted();
      if (!KubeApiError.has(error, 403) && !KubeApiError.has(error, 404)) throw error;
      if (isRequired) throw error;
      found.objects.length = before.objects;
      found.read = before.read;
      if (KubeApiError.has(error, 404)) return void found.notServed.push(resource.kind);
      if (resource === NODES) found.hasNoNodes = true;
      found.gaps.push(`${resource.kind} objects were not read: the account of the service may not list them.`);
    }
  }

  private scopesOf({ namespaced }: Resource): readonly (string | undefined)[] {
    return namespaced && this.deps.namespaces ? this.deps.namespaces : [undefined];
  }

  private async readScope(
    { resource, only }: TwinKind,
    namespace: string | undefined,
    { signal, maxObjects }: TwinReading,
    found: Found,
  ): Promise<void> {
    const { api } = this.deps;
    const start = found.objects.length;
    const counted = found.read;
    const pages =
      only === undefined
        ? api.pages<KubeObject>(resource, { signal, ...(namespace !== undefined && { namespace }) })
        : [wholePage(await api.get<KubeObject>(resource, { name: only }, { signal }))];
    for await (const { items, isWhole } of pages) {
      if (isWhole) {
        found.objects.length = start;
        found.read = counted;
      }
      for (const item of items) this.keep(resource, item as unknown as JsonObject, found);
      if (found.read > maxObjects) throw tooMany(this.deps.context, maxObjects);
      if (items.length >= OBJECTS_PER_TURN)
        await new Promise<void>((resolve) => void this.deps.clock.after(0, resolve));
    }
  }

  private keep(resource: Resource, item: JsonObject, found: Found): void {
    found.read++;
    if (resource === KUBEVIRTS) {
      const version = (item as unknown as KubevirtObject).status?.observedKubeVirtVersion;
      if (version !== undefined) found.version = version;
    }
    if (resource === PODS && isOver(item)) return;
    const { apiVersion, kind } = resource;
    found.objects.push({ ...reduceObject(kind, item), apiVersion, kind });
  }
}

const wholePage = (object: KubeObject): Page<KubeObject> => ({ metadata: {}, items: [object], isWhole: false });

const tooMany = (context: string, maxObjects: number): DomainError =>
  new DomainError(
    'NOT_SUPPORTED',
    `${context} has more than ${maxObjects} objects, which are too many for a twin: rely on the plan alone.`,
  );
