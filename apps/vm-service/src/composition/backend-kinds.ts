import type { BackendFactory } from './backend-factory.js';
import { openCluster } from './open-cluster.js';
import { openLibvirt } from './open-libvirt.js';
import { openSandbox } from './open-sandbox.js';

/** The factory of each kind that a context of the configuration may have. */
export type BackendKinds = Readonly<Record<string, BackendFactory>>;

export const BACKEND_KINDS = {
  kubevirt: openCluster,
  libvirt: openLibvirt,
  sandbox: openSandbox,
} as const satisfies BackendKinds;

/** A kind that this service has. */
export type RegisteredKind = keyof typeof BACKEND_KINDS;
