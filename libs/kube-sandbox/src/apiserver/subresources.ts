import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { UserInfo } from './admission.js';

/** A request to a subresource, after authentication and authorization. */
export interface SubresourceRequest {
  method: string;
  group: string;
  version: string;
  resource: string;
  namespace?: string;
  name: string;
  /** What stands behind the name: `start`, `portforward`, `vnc/screenshot` as registered. */
  subresource: string;
  /** Path segments behind the registered subresource, such as the port of `portforward/5900/tcp`. */
  rest: string[];
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  user: UserInfo;
}

/** An answer in one piece. An object as body goes out as JSON, a string as plain text, nothing as an empty body. */
export interface SubresourceAnswer {
  code: number;
  body?: object | string | Buffer;
  headers?: Record<string, string>;
}

/** Writes an answer of unknown length, such as the log of a pod that is followed. */
export interface AnswerStream {
  /** Sends the status line; called once, before the first byte. */
  start(code: number, headers?: Record<string, string>): void;
  write(data: string | Buffer): void;
  end(): void;
  /** Aborts when the client is gone or the server stops. */
  signal: AbortSignal;
}

export type HttpSubresourceHandler = (
  request: SubresourceRequest & {
    /** The body, parsed as JSON or YAML; undefined when it was empty. */
    body: unknown;
    rawBody: Buffer;
    stream: AnswerStream;
  },
  /** @returns the answer, or nothing when it went out through `stream`. Throw an ApiError to refuse. */
) => SubresourceAnswer | undefined | Promise<SubresourceAnswer | undefined>;

export interface WebSocketSubresourceHandler {
  /** Subprotocols this end speaks, preferred first. */
  protocols: string[];
  /** What happens when the client offers only others: go on without one (virt-api) or refuse with 400 (kubelet). Default go on. */
  requireProtocol?: boolean;
  /** Runs before the upgrade; throw an ApiError to refuse with an ordinary answer. */
  check?(request: SubresourceRequest): void | Promise<void>;
  /** Speaks on the open socket; `protocol` is the one agreed on, or empty. */
  connect(socket: WebSocket, request: SubresourceRequest & { protocol: string }): void;
  /** Takes the connection over for protocols other than WebSocket (SPDY). Absent: such upgrades are refused. */
  upgrade?(request: SubresourceRequest & { upgrade: IncomingMessage; socket: Duplex; head: Buffer }): void;
}

export interface SubresourceAddress {
  group: string;
  resource: string;
  /** May have slashes: the longest that fits a path wins. */
  subresource: string;
}

interface Registered<H> extends SubresourceAddress {
  handler: H;
}

export interface HttpRegistration {
  methods: string[];
  handle: HttpSubresourceHandler;
}

/** Endpoints below an object that no store answers: power actions, consoles, exec, logs, tokens. */
export class SubresourceRegistry {
  private readonly http: Registered<HttpRegistration>[] = [];
  private readonly sockets: Registered<WebSocketSubresourceHandler>[] = [];
  private readonly groups = new Map<string, Set<string>>();

  /** Handles plain requests. `methods` are those answered; others get 405. */
  handle(address: SubresourceAddress, methods: string[], handle: HttpSubresourceHandler): void {
    this.http.push({ ...address, handler: { methods, handle } });
  }

  /** Handles upgrades to WebSocket. */
  connect(address: SubresourceAddress, handler: WebSocketSubresourceHandler): void {
    this.sockets.push({ ...address, handler });
  }

  /** Names a group that has subresources only, no objects (`subresources.kubevirt.io`), so that discovery shows it. */
  serveGroup(group: string, versions: string[]): void {
    this.groups.set(group, new Set([...(this.groups.get(group) ?? []), ...versions]));
  }

  findHttp(
    group: string,
    resource: string,
    segments: string[],
  ): { handler: HttpRegistration; subresource: string; rest: string[] } | undefined {
    return longest(this.http, group, resource, segments);
  }

  findSocket(
    group: string,
    resource: string,
    segments: string[],
  ): { handler: WebSocketSubresourceHandler; subresource: string; rest: string[] } | undefined {
    return longest(this.sockets, group, resource, segments);
  }

  servedGroups(): { group: string; versions: string[] }[] {
    return [...this.groups].map(([group, versions]) => ({ group, versions: [...versions] }));
  }

  /** Every registered endpoint of a group, once, for discovery. */
  addresses(group: string): SubresourceAddress[] {
    const found = new Map<string, SubresourceAddress>();
    for (const { group: owner, resource, subresource } of [...this.http, ...this.sockets]) {
      if (owner === group) found.set(`${resource}/${subresource}`, { group, resource, subresource });
    }
    return [...found.values()];
  }
}

function longest<H>(registered: Registered<H>[], group: string, resource: string, segments: string[]) {
  const path = `${segments.join('/')}/`;
  // Of two for one address the later one counts: an extension may replace what is built in.
  const fitting = registered
    .toReversed()
    .filter((each) => each.group === group && each.resource === resource && path.startsWith(`${each.subresource}/`))
    .sort((a, b) => b.subresource.length - a.subresource.length)[0];
  if (!fitting) return undefined;
  const { handler, subresource } = fitting;
  return { handler, subresource, rest: segments.slice(subresource.split('/').length) };
}
