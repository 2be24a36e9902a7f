import {
  buildPlan,
  DomainError,
  formatBytes,
  loss,
  refusal,
  type Refusal,
  type TransferPlan,
  type TransferSpec,
} from '@headgate/domain-contracts';
import type { IncusApi } from '../api/incus-api.js';
import type { IncusEngine } from '../engine/incus-engine.js';
import { choosePool } from '../provisioning/choose-pool.js';
import { DATA_PATH, dataVolumeName, findVolume } from '../provisioning/data-volume.js';
import { nameRefusals, taken } from '../provisioning/name-refusals.js';
import { BACKUP_FORMAT, hashOf, PARTS, type ProfileObject } from './describe-container.js';

const DATA_ROOT_LOSS = loss(
  'guest',
  `The permissions of ${DATA_PATH} itself, not of its files: they become 711, as for a new container.`,
);

/** Finds everything that would refuse a copy on this server. Changes nothing. */
export async function planTransfer(engine: IncusEngine, spec: TransferSpec): Promise<TransferPlan> {
  const { api, finder } = engine;
  const { ref, container } = spec;
  const refusals: Refusal[] = nameRefusals(ref.name);
  const warnings: string[] = [];
  const refuse = (code: Refusal['code'], reason: string, remedy: string): void =>
    void refusals.push(refusal(code, reason, remedy));
  const plan = (more: Partial<TransferPlan> = {}): TransferPlan => ({
    ...buildPlan([], { refusals, warnings }),
    losses: [],
    ...more,
  });
  if (container.format !== BACKUP_FORMAT) {
    refuse('NOT_SUPPORTED', `${api.context} takes containers of Incus and LXD only.`, 'Choose another destination.');
    return plan();
  }
  const project = await attempt(refusals, () => finder.projectOf(ref.namespace));
  if (project === undefined) return plan();
  const isTaken = (await finder.read({ project, name: ref.name })) !== undefined;
  if (isTaken) {
    refusals.push(taken(`An instance ${ref.name} already exists in the project ${project} of ${api.context}.`));
  }
  const pool = await attempt(refusals, () => poolOf(engine, project, spec));
  await checkArchitecture(api, container.arch, refuse);
  await checkNetworks(api, project, spec, refuse);
  warnings.push(...(await checkProfiles(api, project, spec, refuse)));
  if (pool === undefined) return plan();
  const volume = { pool, project, name: dataVolumeName(ref.name) };
  const hasData = container.parts.includes(PARTS.data);
  if (hasData && !isTaken && (await findVolume(api, volume))) {
    refusals.push(taken(`A volume ${volume.name} already exists in the storage pool ${pool} of ${api.context}.`));
  }
  const availableBytes = await freeBytes(api, pool);
  const { usedBytes } = container;
  if (usedBytes !== null && availableBytes !== undefined && usedBytes > availableBytes) {
    refuse(
      'INSUFFICIENT_STORAGE',
      `The container has ${formatBytes(usedBytes)}, and the storage pool ${pool} of ${api.context} has ${formatBytes(availableBytes)} left.`,
      'Free space there, or map the storage class to another pool.',
    );
  }
  return plan({
    steps: [
      ...(hasData ? [{ name: 'volume', detail: `${volume.name} in the storage pool ${pool} of ${api.context}.` }] : []),
      { name: 'create', detail: `Container ${ref.name} in the storage pool ${pool} of ${api.context}.` },
    ],
    losses: hasData ? [DATA_ROOT_LOSS] : [],
    ...(availableBytes !== undefined && { availableBytes }),
  });
}

/** The pool of the mapping; else the one that new containers get. */
export async function poolOf(
  { api, pool: configured }: IncusEngine,
  project: string,
  { container: { storageClass = '' }, mapping }: TransferSpec,
): Promise<string> {
  const requested = mapping.storageClasses[storageClass] ?? '';
  return (await choosePool(api, project, { requested, configured })).pool;
}

async function attempt<T>(refusals: Refusal[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!DomainError.is(error, 'INVALID_INPUT', 'NOT_READY')) throw error;
    refusals.push(refusal(error.code, error.message, 'Correct the request as the reason says.'));
    return undefined;
  }
}

type Refuse = (code: Refusal['code'], reason: string, remedy: string) => void;

async function checkArchitecture(api: IncusApi, arch: string, refuse: Refuse): Promise<void> {
  const known = (await api.server()).environment?.architectures ?? [];
  if (arch === '' || known.length === 0 || known.includes(arch)) return;
  refuse(
    'NOT_SUPPORTED',
    `The programs of the container are for ${arch}, and ${api.context} runs ${known.join(', ')}.`,
    `Choose a destination with ${arch}.`,
  );
}

async function checkNetworks(
  api: IncusApi,
  project: string,
  { container, mapping }: TransferSpec,
  refuse: Refuse,
): Promise<void> {
  const wanted = container.networks.map((name) => mapping.networks[name] ?? name);
  if (wanted.length === 0) return;
  const known = namesIn(await api.get<readonly string[]>('/1.0/networks', { project }));
  for (const name of wanted) {
    if (known.includes(name)) continue;
    refuse(
      'INVALID_INPUT',
      `${api.context} has no network or interface ${name}, which the container is attached to.`,
      'Create it there, or map it to another one with mapping.networks.',
    );
  }
}

/** @returns warnings about profiles that differ */
async function checkProfiles(
  api: IncusApi,
  project: string,
  { container: { profiles } }: TransferSpec,
  refuse: Refuse,
): Promise<string[]> {
  const known = await api.get<readonly ProfileObject[]>('/1.0/profiles', { project, recursion: 1 });
  return profiles.flatMap(({ name, hash }) => {
    const found = known.find((profile) => profile.name === name);
    if (found) {
      return hashOf(found) === hash
        ? []
        : [`The profile ${name} of ${api.context} differs from that of the source, and the copy gets the former.`];
    }
    refuse(
      'INVALID_INPUT',
      `${api.context} has no profile ${name} in the project ${project}, which the container uses.`,
      'Create it there, or remove it from the container first.',
    );
    return [];
  });
}

const namesIn = (paths: readonly string[]): string[] =>
  paths.map((path) => decodeURIComponent((path.split('?')[0] ?? '').split('/').at(-1) ?? ''));

async function freeBytes(api: IncusApi, pool: string): Promise<number | undefined> {
  const { space } = await api.get<{ readonly space?: { readonly used: number; readonly total: number } }>(
    `/1.0/storage-pools/${encodeURIComponent(pool)}/resources`,
  );
  return space === undefined || space.total === 0 ? undefined : Math.max(0, space.total - space.used);
}
