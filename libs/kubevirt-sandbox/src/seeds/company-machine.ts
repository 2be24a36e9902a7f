import { ROLES, type Role } from './company-roles.js';
import { seededNumber } from './seeded-values.js';
import type { SeededVmStatus } from './vm-seed.js';

/** One machine of the company. */
export interface CompanyMachine {
  readonly name: string;
  readonly role: Role;
  /** The outermost folder: `prod`, `stage`, `dev` or `lab`. */
  readonly stage: string;
}

interface Slot {
  readonly role: Role;
  /** From 1. */
  readonly number: number;
}

const numbered = (role: Role, from: number, to: number): Slot[] =>
  Array.from({ length: to - from }, (_none, index) => ({ role, number: from + index + 1 }));

/** The machines of a small company, then those that a larger one has besides. */
const SLOTS: readonly Slot[] = [
  ...ROLES.flatMap((role) => numbered(role, 0, role.few)),
  ...ROLES.flatMap((role) => numbered(role, role.few, role.many)),
];

/** The `index`th machine, whatever the size of the company. Beyond the slots, the numbers of each role go on. */
export function companyMachine(index: number): CompanyMachine {
  const { role, number } = SLOTS[index % SLOTS.length]!;
  const ordinal = number + role.many * Math.floor(index / SLOTS.length);
  return {
    name: `${role.name}-${String(ordinal).padStart(role.digits ?? 1, '0')}`,
    role,
    stage: role.folder.split('/', 1)[0]!,
  };
}

/** Machines that never come up, and why: their controllers retry for as long as the cluster runs. */
export const INCIDENTS: Readonly<Record<string, 'crash-loop' | 'image-pull'>> = {
  'stage-orders-api-1': 'crash-loop',
  'stage-search-1': 'image-pull',
};

/** Machines of the small company whose state is not left to chance, so that a first look shows each of them. */
const FIXED: Readonly<Record<string, SeededVmStatus>> = {
  'lab-gpu-1': 'ErrorUnschedulable',
  'stage-orders-db-1': 'DataVolumeError',
  'dev-db-1': 'Paused',
  'lab-win11-1': 'Stopped',
  'redis-1': 'Running',
};

type Shares = readonly (readonly [limit: number, status: SeededVmStatus])[];

/** Limits in thousandths. Only steady states, so that an idle fleet costs nothing. */
const SHARES: Readonly<Record<string, Shares>> = {
  prod: [
    [960, 'Running'],
    [985, 'Stopped'],
    [990, 'Paused'],
    [995, 'ErrorUnschedulable'],
    [1000, 'DataVolumeError'],
  ],
  stage: [
    [780, 'Running'],
    [950, 'Stopped'],
    [970, 'Paused'],
    [990, 'ErrorUnschedulable'],
    [1000, 'DataVolumeError'],
  ],
};
/** Of development and labs. */
const OTHER_SHARES: Shares = [
  [560, 'Running'],
  [940, 'Stopped'],
  [975, 'Paused'],
  [990, 'ErrorUnschedulable'],
  [1000, 'DataVolumeError'],
];

/** A machine's state, always the same one. */
export function companyStatus({ name, stage }: CompanyMachine): SeededVmStatus {
  const part = seededNumber(`${name} status`, 1000);
  return FIXED[name] ?? (SHARES[stage] ?? OTHER_SHARES).find(([limit]) => part < limit)![1];
}
