import type { IncomingHttpHeaders } from 'node:http';
import { DomainError, messageOf, type ErrorCode } from '@headgate/domain-contracts';
import { KubeApiError, type ApiResponse } from './kube-api-error.js';
import { LOST_RACE } from './retries.js';

/** The request that failed, for the message. */
export interface FailedRequest {
  readonly context: string;
  readonly method: string;
  readonly path: string;
}

interface StatusObject {
  readonly kind?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: { readonly kind?: string; readonly retryAfterSeconds?: number };
}

interface ErrorTranslation {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Product names of the components that a cluster may not have. */
const PRODUCTS: readonly (readonly [RegExp, string])[] = [
  [/^(subresources\.)?kubevirt\.io$/, 'KubeVirt'],
  [/^(snapshot|clone|export|instancetype)\.kubevirt\.io$/, 'a KubeVirt that serves it'],
  [/cdi\.kubevirt\.io$/, 'CDI (containerized-data-importer)'],
  [/^snapshot\.storage\.k8s\.io$/, 'the CSI snapshot controller'],
  [/^k8s\.cni\.cncf\.io$/, 'Multus'],
  [/^metrics\.k8s\.io$/, 'the metrics-server'],
];

const NOT_FOUND_CODES: Readonly<Record<string, ErrorCode>> = {
  virtualmachines: 'INSTANCE_NOT_FOUND',
  virtualmachineinstances: 'INSTANCE_NOT_FOUND',
  virtualmachine: 'INSTANCE_NOT_FOUND',
  virtualmachineinstance: 'INSTANCE_NOT_FOUND',
  pods: 'INSTANCE_NOT_FOUND',
  nodes: 'NODE_NOT_FOUND',
  persistentvolumeclaims: 'VOLUME_NOT_FOUND',
  datavolumes: 'VOLUME_NOT_FOUND',
  virtualmachinesnapshots: 'SNAPSHOT_NOT_FOUND',
};

const ADMISSION = /^admission webhook "[^"]+" denied the request:?\s*/;
const FORBIDDEN_VERB =
  /User "([^"]*)" cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: (at the cluster scope|in the namespace "[^"]+"))?/;
const CONFLICT = /^Operation cannot be fulfilled on \S+ "[^"]*": /;

/** The only place that turns an error response of the API server into a DomainError. */
export function errorOfResponse(
  request: FailedRequest,
  status: number,
  body: string,
  headers: IncomingHttpHeaders = {},
): KubeApiError {
  const object = parseStatus(body);
  const text = (object?.message ?? body).trim();
  // Kubernetes sends seconds. A proxy may send a date, which is not worth waiting for.
  const retryAfterSeconds = Number(headers['retry-after'] ?? object?.details?.retryAfterSeconds ?? Number.NaN);
  const response: ApiResponse = {
    status,
    reason: object?.reason ?? '',
    text,
    ...(retryAfterSeconds >= 0 ? { retryAfterMs: retryAfterSeconds * 1000 } : {}),
  };
  const { code, message } = translate(request, response, object);
  return new KubeApiError(code, message, response);
}

/** The only place that turns a failed connection into a DomainError. */
export function errorOfTransport({ context }: FailedRequest, server: string, error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  const cause = (error as NodeJS.ErrnoException | undefined)?.code ?? '';
  const why =
    TRANSPORT_CAUSES[cause] ??
    (/CERT|SSL|TLS/.test(cause) ? `its certificate is not accepted (${messageOf(error)})` : messageOf(error));
  return new DomainError('BACKEND_UNREACHABLE', `The API server of ${context} at ${server} can't be reached: ${why}.`, {
    cause: error,
  });
}

export const errorOfTimeout = ({ context, method, path }: FailedRequest, timeoutMs: number): DomainError =>
  new DomainError(
    'BACKEND_TIMEOUT',
    `The API server of ${context} did not answer ${method} ${path} within ${timeoutMs / 1000} s.`,
  );

const TRANSPORT_CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection is refused',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOTFOUND: 'its host name does not resolve',
  EAI_AGAIN: 'its host name cannot be resolved at the moment',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
};

function translate(request: FailedRequest, response: ApiResponse, object: StatusObject | undefined): ErrorTranslation {
  const { status, text } = response;
  if (ADMISSION.test(text)) return { code: 'REJECTED_BY_BACKEND', message: text };
  switch (status) {
    case 400:
    case 413:
    case 422:
      return {
        code: request.method === 'GET' ? 'BACKEND_FAILED' : 'REJECTED_BY_BACKEND',
        message: serverMessage(request, text),
      };
    case 401:
      return {
        code: 'BACKEND_FORBIDDEN',
        message: `The API server of ${request.context} does not accept the credentials: the token has expired or is invalid (${text || 'Unauthorized'}).`,
      };
    case 403:
      return forbidden(request, text);
    case 404:
      return notFound(request, object, text);
    case 409:
      return conflict(response);
    case 429:
      return {
        code: 'BUSY',
        message: `The API server of ${request.context} is overloaded: ${text.replace(/\.$/, '') || 'too many requests'}.`,
      };
    case 503:
      return unavailable(request, text);
    case 504:
      return { code: 'BACKEND_TIMEOUT', message: serverMessage(request, text) };
    case 500:
      return LOST_RACE.test(text) ? LOST_RACE_TRANSLATION : failed(request, response);
    default:
      return failed(request, response);
  }
}

const LOST_RACE_TRANSLATION: ErrorTranslation = {
  code: 'BUSY',
  message: 'The object was changed at the same time; try again.',
};
const failed = (request: FailedRequest, { status, text }: ApiResponse): ErrorTranslation => ({
  code: 'BACKEND_FAILED',
  message: serverMessage(request, text || `HTTP status ${status}`),
});

function forbidden({ context }: FailedRequest, text: string): ErrorTranslation {
  const match = FORBIDDEN_VERB.exec(text);
  if (match) {
    const [, user, verb, resource, group, scope = ''] = match;
    const full = group ? `${resource}.${group}` : resource;
    return {
      code: 'BACKEND_FORBIDDEN',
      message: `${context} does not let ${user} ${verb} ${full}${scope && ` ${scope}`}: grant it that verb.`,
    };
  }
  if (/because it is being terminated/.test(text)) return { code: 'BUSY', message: text };
  // Quotas, Pod Security and admission plugins also answer 403: they refuse the object, not the account.
  return { code: 'REJECTED_BY_BACKEND', message: text || `${context} forbids the request.` };
}

function notFound({ context, path }: FailedRequest, object: StatusObject | undefined, text: string): ErrorTranslation {
  if (!object) {
    const api = apiOf(path);
    const product = PRODUCTS.find(([group]) => group.test(api.split('/')[0] ?? ''))?.[1];
    return {
      code: 'NOT_SUPPORTED',
      message: `${context} does not serve the API ${api}${product ? `: it needs ${product}` : ''}.`,
    };
  }
  const kind = object.details?.kind ?? /^([a-z]+)[. ]/.exec(text)?.[1] ?? '';
  if (kind === 'namespaces') return { code: 'REJECTED_BY_BACKEND', message: `${text}: create the namespace first.` };
  return { code: NOT_FOUND_CODES[kind] ?? 'BACKEND_FAILED', message: text };
}

function conflict({ reason, text }: ApiResponse): ErrorTranslation {
  if (reason === 'AlreadyExists') {
    return { code: text.includes('object is being deleted') ? 'BUSY' : 'ALREADY_EXISTS', message: text };
  }
  // KubeVirt's action endpoints report a wrong state with the same reason as the API server a concurrent change.
  if (/has been modified|UID in (the )?precondition/.test(text) || !CONFLICT.test(text))
    return { code: 'CONFLICT', message: text };
  return { code: 'WRONG_STATE', message: text.replace(CONFLICT, '') };
}

function unavailable({ context, path }: FailedRequest, text: string): ErrorTranslation {
  if (/^\/apis\/(subresources|metrics|upload)\./.test(path)) {
    return {
      code: 'BACKEND_FAILED',
      message: `The API ${apiOf(path)} of ${context} is not available at the moment: ${text}.`,
    };
  }
  return {
    code: 'BACKEND_UNREACHABLE',
    message: `The API server of ${context} is not available: ${text || 'HTTP status 503'}.`,
  };
}

const MAX_MESSAGE_LENGTH = 2000;

const serverMessage = ({ context }: FailedRequest, text: string): string =>
  text ? text.slice(0, MAX_MESSAGE_LENGTH) : `The API server of ${context} gave no reason.`;

/** `kubevirt.io/v1` of `/apis/kubevirt.io/v1/…`. */
const apiOf = (path: string): string => {
  const [, root, group = '', version = ''] = path.split('?')[0]?.split('/') ?? [];
  return root === 'apis' ? `${group}/${version}` : group;
};

function parseStatus(body: string): StatusObject | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const object = JSON.parse(body) as StatusObject;
    return object.kind === 'Status' ? object : undefined;
  } catch {
    return undefined;
  }
}
