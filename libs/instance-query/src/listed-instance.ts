import type { EntryReader } from './entry-reader.js';
import { bytesOf } from './parse-amount.js';

/** The fields of an entry of `GET /api/vms` or `GET /api/cts` that queries use. */
export interface ListedInstance {
  readonly ref: string;
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
  readonly backend: string;
  readonly cpu: number;
  readonly mem: string;
  readonly ready: boolean;
  readonly tags: readonly string[];
  /** Of VMs. */
  readonly status?: string;
  readonly running?: boolean;
  readonly disk?: string;
  readonly ip?: string;
  readonly agentConnected?: boolean;
  readonly isTemplate?: boolean;
  readonly liveMigratable?: boolean;
  readonly protected?: boolean;
  readonly restartRequired?: boolean;
  readonly pendingCount?: number;
  readonly volatile?: boolean;
  /** Of containers. */
  readonly phase?: string;
  readonly image?: string;
  readonly privileged?: boolean;
  /** Of both, where known. */
  readonly node?: string;
  readonly reason?: string;
  readonly folder?: string;
  readonly createdAt?: string;
  /** Of VMs. */
  readonly os?: string;
  readonly startedAt?: string;
  readonly stale?: boolean;
  readonly busy?: object;
}

/** A field that may be absent as a list. */
export const optional = (value: string | undefined): readonly string[] =>
  value === undefined || value === '' ? [] : [value];

/** An operating system as an entry shows it, and its family: `Debian 12` and `Debian`, `win11` and `win`. */
export function osNames(os: string | undefined): readonly string[] {
  if (os === undefined || os === '') return [];
  const family = /^\p{L}+/u.exec(os)?.[0] ?? os;
  return family === os ? [os] : [os, family];
}

/** The kinds as users may write them. */
export const KINDS: Readonly<Record<'vm' | 'ct', readonly string[]>> = { vm: ['vm'], ct: ['ct', 'container'] };

/** Reads entries as the lists of the API show them. The words are those of the place that searches. */
export const LISTED_FIELDS: Omit<EntryReader<ListedInstance>, 'words'> = {
  texts: {
    name: ({ name }) => [name],
    ns: ({ namespace }) => [namespace],
    kind: ({ ref }) => KINDS[ref.startsWith('ct/') ? 'ct' : 'vm'],
    status: ({ status, phase }) => optional(status ?? phase),
    context: ({ context }) => [context],
    backend: ({ backend }) => [backend],
    node: ({ node }) => optional(node),
    folder: ({ folder }) => optional(folder),
    tag: ({ tags }) => tags,
    ip: ({ ip }) => optional(ip),
    image: ({ image }) => optional(image),
    os: ({ os }) => osNames(os),
    reason: ({ reason }) => optional(reason),
  },
  amounts: {
    cpu: ({ cpu }) => cpu,
    mem: ({ mem }) => bytesOf(mem),
    disk: ({ disk }) => (disk === undefined ? undefined : bytesOf(disk)),
    created: ({ createdAt }) => (createdAt === undefined ? undefined : Date.parse(createdAt)),
    pending: ({ status, pendingCount }) => (status === undefined ? undefined : (pendingCount ?? 0)),
    started: ({ startedAt }) => (startedAt === undefined ? undefined : Date.parse(startedAt)),
  },
  flags: {
    agent: ({ agentConnected }) => agentConnected === true,
    busy: ({ busy }) => busy !== undefined,
    migratable: ({ liveMigratable }) => liveMigratable === true,
    privileged: ({ privileged }) => privileged === true,
    protected: (entry) => entry.protected === true,
    ready: ({ ready }) => ready,
    'restart-required': ({ restartRequired }) => restartRequired === true,
    running: ({ running, phase }) => running ?? phase === 'Running',
    stale: ({ stale }) => stale === true,
    template: ({ isTemplate }) => isTemplate === true,
    volatile: (entry) => entry.volatile === true,
  },
};
