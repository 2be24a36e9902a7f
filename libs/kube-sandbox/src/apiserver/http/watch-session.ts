import type { ServerResponse } from 'node:http';
import { ApiError, apiError, type Status } from '../api-error.js';
import type { Cancel, SandboxClock } from '../clock.js';
import { apiVersionOf, type KubeObject } from '../kube-object.js';
import type { ObjectStore } from '../object-store.js';
import type { ServedResource } from '../resource-registry.js';
import type { StoreEvent } from '../store/store-event.js';
import { selects, type Selection } from './list-options.js';

export interface WatchOptions {
  served: ServedResource;
  selection: Selection;
  /** Send the existing objects first. */
  initialEvents: boolean;
  /** The revision after which changes are sent; ignored with `initialEvents`. */
  fromRevision: number;
  bookmarks: boolean;
  /** Ends the initial events with an annotated bookmark. */
  markInitialEnd: boolean;
  timeoutMs: number;
  /** Renders the object of an event. */
  render: (object: KubeObject, isFirst: boolean) => unknown;
  /** Watches with the same value share serialized lines; undefined when the rendering is specific to this watch. */
  sharedForm?: string;
  /** Called for each line. @returns whether the connection is reset in the middle of it */
  resetsEvent?: () => boolean;
}

const BOOKMARK_PERIOD_MS = 60_000;
/** A client whose unread data exceeds this is disconnected, as in a real server. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

const sharedLines = new WeakMap<StoreEvent, Map<string, string>>();

/** One open watch: a stream of JSON lines. */
export class WatchSession {
  private readonly cancels: Cancel[] = [];
  private isFirst = true;
  private ended = false;
  private delivered = 0;

  constructor(
    private readonly store: ObjectStore,
    private readonly clock: SandboxClock,
    private readonly response: ServerResponse,
    private readonly options: WatchOptions,
    private readonly onEnd: () => void,
  ) {}

  /** Starts the stream. A compacted revision is reported as an event of the stream. */
  open(): void {
    const { served, fromRevision, initialEvents, bookmarks, timeoutMs } = this.options;
    this.response.on('close', () => this.end());
    try {
      if (initialEvents) this.sendPresent();
      else for (const event of this.store.eventsSince(served.name, fromRevision)) this.deliver(event);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return this.fail(error.status);
    }
    this.delivered = Math.max(this.delivered, initialEvents ? this.store.revision : fromRevision);
    this.cancels.push(this.store.subscribe(served.name, (event) => this.deliver(event)));
    this.cancels.push(this.clock.schedule(() => this.finish(), timeoutMs));
    if (bookmarks) this.cancels.push(this.clock.repeat(() => this.bookmark(), BOOKMARK_PERIOD_MS));
  }

  get resource(): string {
    return this.options.served.name;
  }

  /** Ends the stream like a timeout of the server: a last bookmark, then a clean end. */
  finish(): void {
    if (this.options.bookmarks) this.bookmark();
    this.end();
  }

  /** Sends an error event and ends the stream. */
  fail(status: Status): void {
    this.write(JSON.stringify({ type: 'ERROR', object: status }));
    this.end();
  }

  expire(): void {
    const { initialEvents, fromRevision } = this.options;
    const known = Math.max(this.delivered, initialEvents ? 0 : fromRevision);
    this.fail(apiError(410, 'Expired', `too old resource version: ${known} (${this.store.revision})`).status);
  }

  /** Breaks the connection in the middle of a line, like a crash of the server or the network. */
  cutMidLine(): void {
    this.response.write('{"type":"MODIFIED","object":{"apiVersion":"');
    this.release();
    // After the partial line has been sent.
    setImmediate(() => this.response.destroy());
  }

  private sendPresent(): void {
    const { served, selection, markInitialEnd } = this.options;
    const { namespace, labels, fields } = selection;
    for (const object of this.store.list(served.name, { namespace, labels, where: fields?.matches }))
      this.line('ADDED', object);
    if (markInitialEnd) this.bookmark({ 'k8s.io/initial-events-end': 'true' });
  }

  private deliver(event: StoreEvent): void {
    if (event.revision <= this.delivered) return;
    this.delivered = event.revision;
    const type = this.typeFor(event);
    if (!type) return;
    const { sharedForm } = this.options;
    if (sharedForm === undefined) return this.line(type, event.object);
    const lines = sharedLines.get(event) ?? new Map<string, string>();
    sharedLines.set(event, lines);
    const id = `${type} ${sharedForm}`;
    const text = lines.get(id) ?? JSON.stringify({ type, object: this.options.render(event.object, false) });
    lines.set(id, text);
    this.write(text);
  }

  /** The type of an event from the point of view of the selector. */
  private typeFor({ type, object, previous }: StoreEvent): StoreEvent['type'] | undefined {
    const { selection } = this.options;
    const isSelected = selects(selection, object);
    const wasSelected = previous !== undefined && selects(selection, previous);
    if (type === 'DELETED') return wasSelected ? 'DELETED' : undefined;
    if (isSelected) return wasSelected ? 'MODIFIED' : 'ADDED';
    return wasSelected ? 'DELETED' : undefined;
  }

  private line(type: string, object: KubeObject): void {
    this.write(JSON.stringify({ type, object: this.options.render(object, this.isFirst) }));
    this.isFirst = false;
  }

  private bookmark(annotations?: Record<string, string>): void {
    const { definition, version } = this.options.served;
    const object = {
      kind: definition.kind,
      apiVersion: apiVersionOf(definition.group, version.name),
      metadata: {
        resourceVersion: String(this.store.revision),
        creationTimestamp: null,
        ...(annotations && { annotations }),
      },
    };
    this.write(JSON.stringify({ type: 'BOOKMARK', object }));
  }

  private write(text: string): void {
    if (this.ended) return;
    if (this.response.writableLength > MAX_UNREAD_BYTES) {
      this.release();
      this.response.destroy();
      return;
    }
    if (this.options.resetsEvent?.()) return this.resetMidLine(text);
    this.response.write(`${text}\n`);
  }

  private resetMidLine(text: string): void {
    this.release();
    this.response.write(text.slice(0, text.length / 2), () => this.response.socket?.resetAndDestroy());
  }

  private end(): void {
    this.release();
    if (!this.response.writableEnded) this.response.end();
  }

  private release(): void {
    if (this.ended) return;
    this.ended = true;
    for (const cancel of this.cancels) cancel();
    this.onEnd();
  }
}
