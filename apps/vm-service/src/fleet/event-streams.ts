import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { InstanceKind } from '@headgate/domain-contracts';
import { formatRef } from '@headgate/domain-contracts';
import { FleetReader, type ContextState, type FleetEvent } from '@headgate/fleet';
import type { FastifyReply } from 'fastify';
import { presentEntry } from './present.js';

/** A client that has more unread data than this is disconnected; the browser reconnects and gets a new snapshot. */
const MAX_UNREAD_BYTES = 33_554_432;
/** Interval of the comment that keeps proxies from closing an idle stream. */
const HEARTBEAT_MS = 15_000;

/** Sends the changes of the fleet as server-sent events: one `snapshot`, then `changed`, `removed` and `status`. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  private readonly open = new Set<FastifyReply['raw']>();

  constructor(private readonly fleet: FleetReader) {}

  async begin(kind: InstanceKind, reply: FastifyReply): Promise<void> {
    await this.fleet.whenSynced();
    reply.hijack();
    const { raw } = reply;
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      vary: 'accept',
    });
    for (const state of this.fleet.states()) raw.write(event('status', presentState(state)));
    raw.write(snapshot(this.fleet, kind));
    const unsubscribe = this.fleet.subscribe((change) => this.send(raw, kind, change));
    const heartbeat = setInterval(() => raw.write(':\n\n'), HEARTBEAT_MS);
    heartbeat.unref();
    this.open.add(raw);
    raw.once('close', () => {
      unsubscribe();
      clearInterval(heartbeat);
      this.open.delete(raw);
    });
  }

  beforeApplicationShutdown(): void {
    for (const raw of this.open) raw.end();
  }

  private send(raw: FastifyReply['raw'], kind: InstanceKind, change: FleetEvent): void {
    if (raw.writableLength > MAX_UNREAD_BYTES) return void raw.destroy();
    if (change.type === 'status') return void raw.write(event('status', presentState(change.state)));
    const instance = change.type === 'changed' ? change.entry.instance : change.instance;
    if (instance.ref.kind !== kind) return;
    if (change.type === 'changed') raw.write(event('changed', presentEntry(change.entry)));
    else raw.write(event('removed', { ref: formatRef(instance.ref) }));
  }
}

const event = (name: string, data: unknown): string => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** The list, even when no context can be reached: the stream stays open and reports the state of the contexts. */
function snapshot(fleet: FleetReader, kind: InstanceKind): string {
  const isAnyReachable = fleet.states().some(({ state }) => state !== 'lost');
  const json = isAnyReachable
    ? fleet.list(kind).json.toString()
    : JSON.stringify([...fleet.all(kind)].map(presentEntry));
  return `event: snapshot\ndata: ${json}\n\n`;
}

const presentState = ({ context, kind, state, reason }: ContextState): object => ({
  context,
  backend: kind,
  up: state === 'up',
  reason,
});
