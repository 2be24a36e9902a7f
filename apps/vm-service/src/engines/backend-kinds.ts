import type { BackendKind } from '@headgate/domain-contracts';
import { incusKind } from '@headgate/incus-adapter/kind';
import { kubevirtKind } from '@headgate/kube-adapter/kind';
import { libvirtKind } from '@headgate/libvirt-adapter/kind';
import { sandboxKind } from './sandbox-kind.js';

/** The kinds of backends by the words with which contexts of the configuration name them. */
export type BackendKinds = Readonly<Record<string, BackendKind>>;

export const BACKEND_KINDS = {
  kubevirt: kubevirtKind,
  libvirt: libvirtKind,
  incus: incusKind,
  sandbox: sandboxKind,
} as const satisfies BackendKinds;

/** A kind that this service has. */
export type RegisteredKind = keyof typeof BACKEND_KINDS;
