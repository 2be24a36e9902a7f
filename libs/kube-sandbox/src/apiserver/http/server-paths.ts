import { notAcceptable } from '../api-error.js';
import { Discovery } from '../discovery/discovery.js';
import { openApiV2 } from '../openapi/openapi-v2.js';
import { emptyOpenApiV2, OPENAPI_V2_ACCEPT, OPENAPI_V2_PROTOBUF } from '../openapi/openapi-v2-protobuf.js';
import { OpenApiV3 } from '../openapi/openapi-v3.js';
import type { ResourceRegistry } from '../resource-registry.js';
import type { SubresourceRegistry } from '../subresources.js';
import { sendBytes, sendJson, sendText } from './responses.js';
import { parseAccept } from '../requests/negotiation.js';
import type { RequestContext } from './request-context.js';

/** The response of `/version`. */
export interface VersionInfo {
  major: string;
  minor: string;
  gitVersion: string;
}

const HEALTH_PATHS = new Set(['/healthz', '/readyz', '/livez', '/healthz/ping']);

/** Serves discovery, OpenAPI, version and health. */
export class ServerPaths {
  private readonly discovery: Discovery;
  private readonly openApiV3: OpenApiV3;

  constructor(
    private readonly registry: ResourceRegistry,
    subresources: SubresourceRegistry,
    private readonly version: VersionInfo,
    serverId: string,
  ) {
    this.discovery = new Discovery(registry, subresources);
    this.openApiV3 = new OpenApiV3(registry, serverId);
  }

  /** @returns false when the path is not served */
  answer(context: RequestContext): boolean {
    const { path, method } = context.info;
    if (method !== 'GET' && method !== 'HEAD') return false;
    if (HEALTH_PATHS.has(path)) sendText(context, 200, 'ok');
    else if (path === '/version') sendJson(context, 200, this.versionInfo());
    else if (path === '/')
      sendJson(context, 200, {
        paths: ['/api', '/apis', '/healthz', '/livez', '/openapi/v2', '/openapi/v3', '/readyz', '/version'],
      });
    else if (path.startsWith('/openapi/')) return this.handleOpenApi(context);
    else if (/^\/apis?(\/|$)/.test(path)) return this.handleDiscovery(context);
    else return false;
    return true;
  }

  private versionInfo(): object {
    const { major, minor, gitVersion } = this.version;
    return {
      major,
      minor,
      gitVersion,
      gitCommit: '',
      gitTreeState: 'clean',
      buildDate: '2026-01-01T00:00:00Z',
      goVersion: 'go1.25',
      compiler: 'gc',
      platform: 'linux/amd64',
    };
  }

  private handleDiscovery(context: RequestContext): boolean {
    const found = this.discovery.document(context.info.path, context.request.headers.accept);
    if (!found) return false;
    context.response.setHeader('Vary', 'Accept');
    sendJson(context, 200, found.body, found.contentType);
    return true;
  }

  private handleOpenApi(context: RequestContext): boolean {
    const { path } = context.info;
    const accepted = parseAccept(context.request.headers.accept);
    const takesProtobuf = accepted.some(({ type }) => type === OPENAPI_V2_ACCEPT || type === OPENAPI_V2_PROTOBUF);
    if (path === '/openapi/v2' && takesProtobuf) {
      sendBytes(context, emptyOpenApiV2(), OPENAPI_V2_PROTOBUF);
      return true;
    }
    const takesJson = accepted.some(({ type }) => ['application/json', '*/*', 'application/*'].includes(type));
    if (!takesJson) throw notAcceptable(['application/json']);
    if (path === '/openapi/v2') sendJson(context, 200, openApiV2(this.registry));
    else if (path === '/openapi/v3') sendJson(context, 200, this.openApiV3.index());
    else {
      const document = path.startsWith('/openapi/v3/')
        ? this.openApiV3.document(path.slice('/openapi/v3/'.length))
        : undefined;
      if (!document) return false;
      sendJson(context, 200, document);
    }
    return true;
  }
}
