import type { IncomingMessage } from 'node:http';
import type { Duplex, Readable } from 'node:stream';
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
  /** The subresource as registered: `start`, `portforward`, `vnc/screenshot`. */
  subresource: string;
  /** The path segments after the registered subresource, such as `5900/tcp` of `portforward/5900/tcp`. */
  rest: string[];
  query: URLSearchParams;
  headers: IncomingMessage['headers'];
  user: UserInfo;
}

/** A complete response. An object is sent as JSON, a string as plain text, a stream as fast as the client reads it. */
export interface SubresourceResponse {
  code: number;
  body?: object | string | Buffer | Readable;
  headers?: Record<string, string>;
}

/** Writes a response of unknown length, such as a log that the client follows. */
export interface ResponseStream {
  /** Sends the status line; called once, before the first byte. */
  start(code: number, headers?: Record<string, string>): void;
  write(data: string | Buffer): void;
  end(): void;
  /** Aborts when the client disconnects or the server stops. */
  signal: AbortSignal;
}

export type HttpSubresourceHandler = (
  request: SubresourceRequest & {
    /** The body, parsed as JSON or YAML; undefined when it was empty. */
    body: unknown;
    rawBody: Buffer;
    stream: ResponseStream;
  },
  /** @returns the response, or nothing after writing to `stream` @throws ApiError */
) => SubresourceResponse | undefined | Promise<SubresourceResponse | undefined>;

export interface WebSocketSubresourceHandler {
  /** The supported subprotocols, preferred first. */
  protocols: string[];
  /**
   * When the client offers only other protocols: continue without one (default), or refuse with 400, as the kubelet
   * does.
   */
  requireProtocol?: boolean;
  /** Runs before the upgrade. @throws ApiError to refuse with an ordinary response */
  check?(request: SubresourceRequest): void | Promise<void>;
  /** Serves the open socket; `protocol` is the negotiated one, or empty. */
  connect(socket: WebSocket, request: SubresourceRequest & { protocol: string }): void;
  /** Takes over the connection for protocols other than WebSocket (SPDY). Default: such upgrades are refused. */
  upgrade?(request: SubresourceRequest & { upgrade: IncomingMessage; socket: Duplex; head: Buffer }): void;
}

export interface SubresourceAddress {
  group: string;
  resource: string;
  /** May contain slashes: the longest match for a path wins. Empty: the resource itself, which is not stored. */
  subresource: string;
}

interface Registered<H> extends SubresourceAddress {
  handler: H;
}

export interface HttpSubresourceOptions {
  /**
   * The media types that the route declares; a request that accepts none of them is refused with 406. Default: any
   * type.
   */
  produces?: string[];
}

export interface HttpRegistration extends HttpSubresourceOptions {
  methods: string[];
  handle: HttpSubresourceHandler;
}

/** Endpoints of an object that are not stored: power actions, consoles, exec, logs, tokens. */
export class SubresourceRegistry {
  private readonly http: Registered<HttpRegistration>[] = [];
  private readonly sockets: Registered<WebSocketSubresourceHandler>[] = [];
  private readonly groups = new Map<string, Set<string>>();

  /** Handles plain requests with the given methods; others get 405. */
  handle(
    address: SubresourceAddress,
    methods: string[],
    handle: HttpSubresourceHandler,
    options: HttpSubresourceOptions = {},
  ): void {
    this.http.push({ ...address, handler: { ...options, methods, handle } });
  }

  /** Handles upgrades to WebSocket. */
  connect(address: SubresourceAddress, handler: WebSocketSubresourceHandler): void {
    this.sockets.push({ ...address, handler });
  }

  /** Registers a group that has only subresources and no objects, so that discovery lists it. */
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

  /** The registered endpoints of a group without duplicates, for discovery. */
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
  // The last handler wins, so that an extension can replace a built-in one.
  const fitting = registered
    .toReversed()
    .filter((each) => each.group === group && each.resource === resource && path.startsWith(`${each.subresource}/`))
    .sort((a, b) => b.subresource.length - a.subresource.length)[0];
  if (!fitting) return undefined;
  const { handler, subresource } = fitting;
  return { handler, subresource, rest: segments.slice(subresource.split('/').length) };
}
