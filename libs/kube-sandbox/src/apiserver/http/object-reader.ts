import { setImmediate as nextTurn } from 'node:timers/promises';
import { badRequest, fieldForbidden, invalidOptions, methodNotAllowed, notFound } from '../api-error.js';
import type { SandboxClock } from '../clock.js';
import type { KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ServedResource } from '../resource-registry.js';
import { partialMetadata, tableOf, type IncludeObject } from '../table/table.js';
import { sendJson, headersOf } from './responses.js';
import { sendList } from './send-list.js';
import {
  type ListOptions,
  parseListOptions,
  parseRevision,
  parseSelection,
  type Selection,
  waitForRevision,
} from './list-options.js';
import { presentationOf, type Presentation } from '../requests/negotiation.js';
import { ObjectLister } from './object-lister.js';
import type { RequestContext } from './request-context.js';
import { isTrue } from '../requests/request-info.js';
import { toServed } from './served-form.js';
import { WatchSession } from './watch-session.js';

const MINUTE_MS = 60_000;
/** Objects at rest that are built in one turn of the event loop, some ten milliseconds. */
const BUILT_PER_TURN = 20;

/** Handles get, list and watch requests. */
export class ObjectReader {
  /** The open watches. */
  readonly watches = new Set<WatchSession>();
  private readonly lister: ObjectLister;

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: SandboxClock,
  ) {
    this.lister = new ObjectLister(store);
  }

  async get(context: RequestContext, served: ServedResource): Promise<void> {
    const { namespace, name = '', query } = context.info;
    await waitForRevision(this.store, this.clock, parseRevision(query.get('resourceVersion') ?? ''));
    this.sendObject(context, served, 200, this.find(served, { namespace, name }));
  }

  /** @throws ApiError 404 */
  find({ definition, name: resource }: ServedResource, key: { namespace?: string; name: string }): KubeObject {
    const { provider } = definition;
    if (!provider) {
      const found = this.store.get(resource, key);
      if (found) return found;
    }
    const provided = provider?.get(key);
    if (!provided) throw notFound({ group: definition.group, resource: definition.plural, name: key.name });
    return provided;
  }

  /** Sends one stored object in the requested representation. */
  sendObject(context: RequestContext, served: ServedResource, code: number, object: KubeObject): void {
    const presentation = presentationOf(context.request.headers.accept);
    const form = toServed(object, served);
    if (presentation.as === 'object') return sendJson(context, code, form);
    const { resourceVersion } = form.metadata;
    const body =
      presentation.as === 'Table'
        ? tableOf([form], served.version, {
            ...this.tableOptions(context, presentation),
            metadata: { resourceVersion },
          })
        : partialMetadata(form, presentation.version);
    sendJson(context, code, body);
  }

  async list(context: RequestContext, served: ServedResource): Promise<void> {
    const { info, request } = context;
    const presentation = presentationOf(request.headers.accept);
    const selection = parseSelection(info.query, info.namespace, served.definition);
    const options = parseListOptions(info.query);
    await waitForRevision(this.store, this.clock, options.atLeast ?? 0);
    await this.buildInTurns(served.name, selection, options);
    const page = this.lister.list(served, selection, options);
    if (presentation.as === 'object') return sendList(context, served, page);
    const objects = page.objects.map((object) => toServed(object, served));
    if (presentation.as === 'Table') {
      sendJson(
        context,
        200,
        tableOf(objects, served.version, { ...this.tableOptions(context, presentation), metadata: page.metadata }),
      );
      return;
    }
    const { version } = presentation;
    const items = objects.map((object) => partialMetadata(object, version));
    sendJson(context, 200, {
      kind: 'PartialObjectMetadataList',
      apiVersion: `meta.k8s.io/${version}`,
      metadata: page.metadata,
      items,
    });
  }

  /**
   * Builds the objects at rest that a request will read, with pauses, so that other clients do not wait for a large
   * fleet.
   */
  private async buildInTurns(
    resource: string,
    selection: Selection,
    { limit, token }: ListOptions = {},
  ): Promise<void> {
    const { namespace, labels, fields } = selection;
    const page = limit === undefined || labels || fields ? {} : { after: token?.after, limit: limit + 1 };
    const keys = this.store.unbuiltKeys(resource, { namespace, ...page });
    for (const [index, key] of keys.entries()) {
      this.store.get(resource, key);
      if (index % BUILT_PER_TURN === BUILT_PER_TURN - 1) await nextTurn();
    }
  }

  async watch(context: RequestContext, served: ServedResource): Promise<void> {
    const { info, request, response, disruption } = context;
    if (served.definition.provider) throw methodNotAllowed();
    const { query } = info;
    const presentation = presentationOf(request.headers.accept);
    const selection = parseSelection(query, info.namespace, served.definition);
    if (info.name !== undefined)
      selection.fields = { name: info.name, matches: ({ metadata }) => metadata.name === info.name };
    const revision = query.get('resourceVersion') ?? '';
    const sendInitialEvents = query.get('sendInitialEvents');
    checkInitialEvents(sendInitialEvents, query.get('resourceVersionMatch'));
    const bookmarks = isTrue(query.get('allowWatchBookmarks'));
    const initialEvents = sendInitialEvents === null ? revision === '' || revision === '0' : isTrue(sendInitialEvents);
    const fromRevision = initialEvents ? 0 : parseRevision(revision) || this.store.revision;
    const timeoutSeconds = Number(query.get('timeoutSeconds') ?? 0);
    if (initialEvents) await this.buildInTurns(served.name, selection);
    if (response.destroyed) return;
    const session = new WatchSession(
      this.store,
      this.clock,
      response,
      {
        served,
        selection,
        initialEvents,
        fromRevision,
        bookmarks,
        markInitialEnd: bookmarks && sendInitialEvents !== null && initialEvents,
        timeoutMs: timeoutSeconds > 0 ? timeoutSeconds * 1000 : (30 + Math.random() * 30) * MINUTE_MS,
        render: this.renderer(context, served, presentation),
        sharedForm: presentation.as === 'object' ? served.version.name : undefined,
        resetsEvent: disruption?.resetsEvent,
      },
      () => this.watches.delete(session),
    );
    response.writeHead(200, { ...headersOf(context, 'application/json'), 'Transfer-Encoding': 'chunked' });
    response.flushHeaders();
    this.watches.add(session);
    if (disruption?.isExpired) session.expire();
    else session.open();
  }

  private renderer(
    context: RequestContext,
    served: ServedResource,
    presentation: Presentation,
  ): (object: KubeObject, isFirst: boolean) => unknown {
    if (presentation.as === 'object') return (object) => toServed(object, served);
    if (presentation.as === 'PartialObjectMetadata')
      return (object) => partialMetadata(toServed(object, served), presentation.version);
    return (object, isFirst) =>
      tableOf([toServed(object, served)], served.version, {
        ...this.tableOptions(context, presentation),
        metadata: { resourceVersion: object.metadata.resourceVersion },
        withoutColumns: !isFirst,
      });
  }

  private tableOptions({ info }: RequestContext, presentation: { version: string }) {
    const includeObject = (info.query.get('includeObject') || 'Metadata') as IncludeObject;
    if (!['Metadata', 'Object', 'None'].includes(includeObject))
      throw badRequest(
        `Unable to convert to Table as requested: includeObject: Invalid value: "${includeObject}": must be 'Metadata', 'Object', 'None', or empty`,
      );
    return { version: presentation.version, includeObject, nowMs: this.clock.now() };
  }
}

/** @throws ApiError 422 */
function checkInitialEvents(sendInitialEvents: string | null, match: string | null): void {
  if (sendInitialEvents !== null && match !== 'NotOlderThan') {
    const why = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    throw invalidOptions('ListOptions', [fieldForbidden('resourceVersionMatch', why)]);
  }
}
