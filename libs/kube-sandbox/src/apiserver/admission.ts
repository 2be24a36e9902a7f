import { apiError, internalError, type ApiError, type StatusCause } from './api-error.js';
import type { KubeObject } from './kube-object.js';

export type AdmissionOperation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/** The authenticated user of a request. */
export interface UserInfo {
  username: string;
  groups: string[];
  uid?: string;
}

export interface AdmissionRequest<T extends KubeObject = KubeObject> {
  operation: AdmissionOperation;
  /** `virtualmachines.kubevirt.io` */
  resource: string;
  /** `status`, `scale`, `eviction`; undefined for the object itself. */
  subresource?: string;
  namespace?: string;
  name: string;
  /**
   * In the storage version: a draft for mutating hooks, frozen for validating ones. For DELETE, the object to be
   * deleted.
   */
  object: T;
  /** The state before an UPDATE. */
  oldObject?: T;
  user: UserInfo;
  dryRun: boolean;
  /** Adds a `Warning: 299` header to the response. */
  warn?: (text: string) => void;
}

export interface AdmissionHook<T extends KubeObject = KubeObject> {
  /** The webhook's name, such as `machine-validator.lab.dev`; error messages contain it. */
  name: string;
  /** `*` is every resource. */
  resources: string[];
  operations: AdmissionOperation[];
  /** Default: the object itself and none of its subresources. `*` matches both. */
  subresources?: string[];
  /**
   * Changes `request.object` (mutating), or throws an error to deny the request; {@link denied} builds the usual ones.
   */
  admit(request: AdmissionRequest<T>): void;
}

/** Hooks that run before a write is stored: all mutating ones, then schema validation, then all validating ones. */
export class AdmissionChain {
  private readonly mutating: AdmissionHook[] = [];
  private readonly validating: AdmissionHook[] = [];

  addMutating<T extends KubeObject>(hook: AdmissionHook<T>): void {
    this.mutating.push(hook as unknown as AdmissionHook);
  }

  addValidating<T extends KubeObject>(hook: AdmissionHook<T>): void {
    this.validating.push(hook as unknown as AdmissionHook);
  }

  mutate(request: AdmissionRequest): void {
    for (const hook of this.mutating) if (concerns(hook, request)) hook.admit(request);
  }

  validate(request: AdmissionRequest): void {
    for (const hook of this.validating) if (concerns(hook, request)) hook.admit(request);
  }
}

function concerns({ resources, operations, subresources = [''] }: AdmissionHook, request: AdmissionRequest): boolean {
  return (
    operations.includes(request.operation) &&
    (resources.includes('*') || resources.includes(request.resource)) &&
    (subresources.includes('*') || subresources.includes(request.subresource ?? ''))
  );
}

export interface Denial {
  /** Default: "denied the request without explanation". */
  message?: string;
  /** HTTP status; default 422 with causes, else 400. */
  code?: number;
  /** Default: `Invalid` with causes, otherwise none, like a webhook that sets only a message. */
  reason?: string;
  causes?: StatusCause[];
}

const MAX_CAUSES_IN_MESSAGE = 10;

/** The error that an API server returns when an admission webhook denies a request. */
export function denied(webhook: string, { message, code, reason, causes }: Denial): ApiError {
  const text = message ?? (causes ? joinCauses(causes) : undefined);
  const said = text === undefined ? ' without explanation' : `: ${text}`;
  return apiError(
    code ?? (causes ? 422 : 400),
    reason ?? (causes ? 'Invalid' : undefined),
    `admission webhook "${webhook}" denied the request${said}`,
    causes && { causes },
  );
}

/** The error that an API server returns when an admission webhook does not answer in time. */
export const webhookTimeout = ({ name, url, timeoutSeconds }: { name: string; url: string; timeoutSeconds: number }) =>
  internalError(
    `failed calling webhook "${name}": failed to call webhook: Post "${url}?timeout=${timeoutSeconds}s": context deadline exceeded`,
  );

function joinCauses(causes: StatusCause[]): string {
  const shown = causes.slice(0, MAX_CAUSES_IN_MESSAGE).map(({ message }) => message);
  const more = causes.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more validation errors`] : [])].join(', ');
}
