import { resourceName } from './kube-object.js';

/** One entry of `details.causes`. */
export interface StatusCause {
  reason?: string;
  message: string;
  field?: string;
}

/** The `Status` object that an API server returns for a failure. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Failure';
  message: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
  code: number;
}

/** How an error is sent that is not a `Status` object. */
export interface PlainForm {
  text: string;
  headers: Record<string, string>;
}

/** An error that is sent to the client unchanged. Any request handler may throw one. */
export class ApiError extends Error {
  constructor(
    readonly status: Status,
    readonly plain?: PlainForm,
  ) {
    super(status.message);
    this.name = 'ApiError';
  }

  get code(): number {
    return this.status.code;
  }

  get reason(): string | undefined {
    return this.status.reason;
  }
}

/** An error with any code; omit `reason` where the real server omits it. */
export function apiError(
  code: number,
  reason: string | undefined,
  message: string,
  details?: Status['details'],
): ApiError {
  const status: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code };
  if (reason) status.reason = reason;
  if (details) status.details = details;
  return new ApiError(status);
}

/** The object that an error refers to: a plural with its group, and a name. */
export interface Subject {
  group: string;
  /** The plural; some API extensions use the singular here. */
  resource: string;
  name?: string;
}

const titleOf = ({ group, resource }: Subject): string => resourceName(group, resource);
const detailsOf = ({ group, resource, name }: Subject): NonNullable<Status['details']> => ({
  ...(name === undefined ? {} : { name }),
  ...(group ? { group } : {}),
  kind: resource,
});

export const notFound = (subject: Subject): ApiError =>
  apiError(404, 'NotFound', `${titleOf(subject)} "${subject.name ?? ''}" not found`, detailsOf(subject));

export const alreadyExists = (subject: Subject, beingDeleted = false): ApiError =>
  apiError(
    409,
    'AlreadyExists',
    `${beingDeleted ? 'object is being deleted: ' : ''}${titleOf(subject)} "${subject.name ?? ''}" already exists`,
    detailsOf(subject),
  );

export const STALE_OBJECT =
  'the object has been modified; please apply your changes to the latest version and try again';

/**
 * 409: the write conflicts with the object's current state; `why` defaults to the message for a stale resourceVersion.
 */
export const conflict = (subject: Subject, why = STALE_OBJECT): ApiError =>
  apiError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${titleOf(subject)} "${subject.name ?? ''}": ${why}`,
    detailsOf(subject),
  );

/** 403 in the form of the authorizer and of built-in admission: `pods "x" is forbidden: …`. */
export const forbidden = (subject: Subject, why: string, causes?: StatusCause[]): ApiError =>
  apiError(
    403,
    'Forbidden',
    `${titleOf(subject)}${subject.name ? ` "${subject.name}"` : ''} is forbidden: ${why}`,
    causes ? { ...detailsOf(subject), causes } : detailsOf(subject),
  );

/** 422 with one cause per invalid field. `kind` is the Kind, not the plural. */
export function invalid(kind: string, group: string, name: string, causes: StatusCause[]): ApiError {
  const lines = causes.map(({ field, message }) => (field ? `${field}: ${message}` : message));
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return apiError(422, 'Invalid', `${resourceName(group, kind)} "${name}" is invalid: ${text}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(kind ? { kind } : {}),
    causes,
  });
}

/** Formats a value for a field error: strings and objects as JSON, an absent value as `null`. */
const quoted = (value: unknown): string => JSON.stringify(value) ?? 'null';

export const fieldInvalid = (field: string, value: unknown, why: string): StatusCause => ({
  reason: 'FieldValueInvalid',
  message: `Invalid value: ${quoted(value)}: ${why}`,
  field,
});

export const fieldRequired = (field: string, why = ''): StatusCause => ({
  reason: 'FieldValueRequired',
  message: why ? `Required value: ${why}` : 'Required value',
  field,
});

export const fieldForbidden = (field: string, why: string): StatusCause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${why}`,
  field,
});

export const fieldNotSupported = (field: string, value: unknown, supported: readonly unknown[]): StatusCause => ({
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${quoted(value)}: supported values: ${supported.map(quoted).join(', ')}`,
  field,
});

export const badRequest = (message: string): ApiError => apiError(400, 'BadRequest', message);

/** 404: the group and version are built in and have no such resource. */
export const unknownResource = (): ApiError =>
  apiError(404, 'NotFound', 'the server could not find the requested resource', {});

export const unauthorized = (): ApiError => apiError(401, 'Unauthorized', 'Unauthorized');

export const methodNotAllowed = (): ApiError =>
  apiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource');

export const notAcceptable = (accepted: string[]): ApiError =>
  apiError(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);

export const unsupportedMediaType = (accepted: string[]): ApiError =>
  apiError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );

/** 410: the revision has been compacted; the client must list again. */
export const expired = (message: string): ApiError => apiError(410, 'Expired', message);

export const internalError = (message: string): ApiError =>
  apiError(500, 'InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

export const tooManyRequests = (retryAfterSeconds: number): ApiError =>
  apiError(429, 'TooManyRequests', 'Too many requests, please try again later.', { retryAfterSeconds });

/** The objects of the API server's own configuration to which requests of clients belong by default. */
const FLOW_SCHEMA_UID = '5c28dd8a-9c4e-4a58-9a5b-8e2f4ad5a0d1';
const PRIORITY_LEVEL_UID = '0a3bd6a1-3c31-4c0f-9a35-5a1f4d2ce7b9';

/**
 * 429 of API Priority and Fairness: plain text, unlike all other errors. Source: k8s.io/apiserver/pkg/server/filters.
 */
export const overloaded = (retryAfterSeconds: number): ApiError =>
  new ApiError(tooManyRequests(retryAfterSeconds).status, {
    text: 'Too many requests, please try again later.\n',
    headers: {
      'X-Kubernetes-Pf-Flowschema-Uid': FLOW_SCHEMA_UID,
      'X-Kubernetes-Pf-Prioritylevel-Uid': PRIORITY_LEVEL_UID,
    },
  });

export const serviceUnavailable = (message = 'the server is currently unable to handle the request'): ApiError =>
  apiError(503, 'ServiceUnavailable', message);

/** 422 for options in the query or the body of a request; `kind` such as `DeleteOptions`. */
export const invalidOptions = (kind: string, causes: StatusCause[]): ApiError =>
  invalid(kind, 'meta.k8s.io', '', causes);

/** 504: the client may repeat the request after a second. */
export const timeout = (message: string, causes?: StatusCause[]): ApiError =>
  apiError(504, 'Timeout', `Timeout: ${message}`, { ...(causes && { causes }), retryAfterSeconds: 1 });
