import type { IncomingMessage } from 'node:http';
import { decodeProtobuf, PROTOBUF } from '../protobuf/decode-protobuf.js';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WebSocketServer } from 'ws';
import type { UserInfo } from '../admission.js';
import { apiError, methodNotAllowed } from '../api-error.js';
import { BEARER_PROTOCOL } from '../auth/authenticator.js';
import type {
  ResponseStream,
  SubresourceRegistry,
  SubresourceRequest,
  WebSocketSubresourceHandler,
} from '../subresources.js';
import { acceptsAny } from '../requests/negotiation.js';
import { sendJson, sendText, headersOf } from './responses.js';
import { decodeYaml, mediaTypeOf, readBody } from './request-body.js';
import type { RequestContext } from './request-context.js';
import type { RequestInfo } from '../requests/request-info.js';

/** Dispatches requests and upgrades to the registered handlers. */
export class SubresourceDispatch {
  private readonly sockets = new WebSocketServer({
    noServer: true,
    handleProtocols: (_offered, request) => this.agreed.get(request) || false,
  });
  private readonly agreed = new WeakMap<IncomingMessage, string>();

  constructor(private readonly registry: SubresourceRegistry) {}

  /** @returns false when no handler is registered for this path */
  async handle(context: RequestContext): Promise<boolean> {
    const { info, request } = context;
    const found = this.registry.findHttp(info.group, info.resource, segmentsOf(info));
    if (!found) {
      if (!this.registry.findSocket(info.group, info.resource, segmentsOf(info))) return false;
      throw apiError(400, 'BadRequest', 'Upgrade request required');
    }
    const { methods, produces } = found.handler;
    if (!methods.includes(info.method)) throw methodNotAllowed();
    if (produces && !acceptsAny(request.headers.accept, produces)) {
      sendText(context, 406, `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`);
      return true;
    }
    const rawBody = await readBody(request);
    const stream = streamOf(context);
    const body = rawBody.length > 0 && !isBinary(request) ? decodeAny(request, rawBody) : undefined;
    const answer = await found.handler.handle({
      ...requestOf(info, request, context.user, found),
      body,
      rawBody,
      stream,
    });
    if (!answer) return true;
    for (const [name, value] of Object.entries(answer.headers ?? {})) context.response.setHeader(name, value);
    if (answer.body instanceof Readable) await sendStream(context, answer.code, answer.body);
    else if (answer.body === undefined) context.response.writeHead(answer.code, { 'Content-Length': 0 }).end();
    else if (Buffer.isBuffer(answer.body))
      context.response.writeHead(answer.code, { 'Content-Length': answer.body.length }).end(answer.body);
    else if (typeof answer.body === 'string') sendText(context, answer.code, answer.body);
    else sendJson(context, answer.code, answer.body);
    return true;
  }

  /** @returns false when no handler is registered for this path @throws ApiError before the upgrade */
  async upgrade(
    info: RequestInfo,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    user: UserInfo,
  ): Promise<boolean> {
    const found = this.registry.findSocket(info.group, info.resource, segmentsOf(info));
    if (!found) return false;
    const { handler } = found;
    const asked = requestOf(info, request, user, found);
    await handler.check?.(asked);
    if ((request.headers.upgrade ?? '').toLowerCase() !== 'websocket') {
      if (!handler.upgrade) throw apiError(400, 'BadRequest', 'unable to upgrade: only WebSocket is spoken here');
      handler.upgrade({ ...asked, upgrade: request, socket, head });
      return true;
    }
    const protocol = agreedProtocol(request, handler);
    if (protocol === undefined)
      throw apiError(
        400,
        'BadRequest',
        `unable to upgrade: none of the offered protocols is supported, only ${handler.protocols.join(', ')}`,
      );
    this.agreed.set(request, protocol);
    this.sockets.handleUpgrade(request, socket, head, (webSocket) =>
      handler.connect(webSocket, { ...asked, protocol }),
    );
    return true;
  }
}

/** The preferred common protocol; an empty string to continue without one; undefined to refuse. */
function agreedProtocol(
  { headers }: IncomingMessage,
  { protocols, requireProtocol }: WebSocketSubresourceHandler,
): string | undefined {
  const offered = (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each && !each.startsWith(BEARER_PROTOCOL));
  const common = protocols.find((protocol) => offered.includes(protocol));
  return common ?? (requireProtocol ? undefined : '');
}

const segmentsOf = ({ subresource, name }: RequestInfo): string[] => (name === undefined ? [] : subresource);

function requestOf(
  info: RequestInfo,
  { headers }: IncomingMessage,
  user: UserInfo,
  { subresource, rest }: { subresource: string; rest: string[] },
): SubresourceRequest {
  const { method, group, version, resource, namespace, name = '', query } = info;
  return {
    method,
    group,
    version,
    resource,
    ...(namespace !== undefined && { namespace }),
    name,
    subresource,
    rest,
    query,
    headers,
    user,
  };
}

/** The client notices an error of the stream by the end of the connection. */
async function sendStream({ response, info }: RequestContext, code: number, body: Readable): Promise<void> {
  response.writeHead(code);
  if (info.method !== 'HEAD') return pipeline(body, response).catch(() => undefined);
  body.destroy();
  response.end();
}

/** Action handlers accept YAML and JSON regardless of the Content-Type. */
function decodeAny(request: IncomingMessage, body: Buffer): unknown {
  return mediaTypeOf(request) === PROTOBUF ? decodeProtobuf(body) : decodeYaml(body);
}

function isBinary({ headers }: IncomingMessage): boolean {
  return (headers['content-type'] ?? '').startsWith('application/octet-stream');
}

function streamOf(context: RequestContext): ResponseStream {
  const { response } = context;
  const aborted = new AbortController();
  response.on('close', () => aborted.abort());
  return {
    start: (code, headers = {}) => {
      response.writeHead(code, { ...headersOf(context, 'text/plain'), ...headers });
      response.flushHeaders();
    },
    write: (data) => void response.write(data),
    end: () => void response.end(),
    signal: aborted.signal,
  };
}
