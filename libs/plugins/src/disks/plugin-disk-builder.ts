import { chmod, mkdir, open, readdir, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  DiskBuilder,
  DomainError,
  formatBytes,
  ServiceShutdown,
  type BuildContainer,
  type BuildReport,
  type Clock,
  type DiskBuildRequest,
  type FollowedBuild,
  type PlanStep,
} from '@headgate/domain-contracts';
import { DISK_FILE, KEYS_FILE, PLUGIN_PERMISSIONS, type DiskPlan, type DiskRequest } from '@headgate/plugin-sdk';
import { expectWord, readArray, readObject, ShapeError } from '../format/shape.js';
import type { InstalledPlugin, PluginFolder } from '../install/plugin-folder.js';
import type { PluginHost } from '../run/plugin-host.js';
import type { Podman } from './podman.js';

export interface PluginDiskBuilderDeps {
  readonly plugins: PluginFolder;
  readonly host: PluginHost;
  readonly podman: Podman;
  /** A private folder of this service. */
  readonly folder: string;
  /** Whether this process may run privileged containers. */
  readonly isRoot: boolean;
  /** Refuses a registry to which downloads may not connect. */
  readonly checkRegistry: (host: string) => Promise<void>;
  readonly clock: Clock;
  /** The free space of a file system in bytes. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** The plugin that builds disks from bootable container images. */
const PLUGIN = 'bootc';
/** How long the answer to whether podman works is used. */
const PODMAN_MAX_AGE_MS = 30_000;
/** How often the position in the output of a build is saved. */
const SAVE_INTERVAL_MS = 5000;
/** bootc refuses smaller disks. */
const MIN_DISK_BYTES = 4 * 1024 ** 3;
/** Free space that a build needs at least; the disk is sparse. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;
/** OpenSSH's types of public keys. */
const PUBLIC_KEY =
  /^(?:ssh-(?:ed25519|rsa)|ecdsa-sha2-nistp(?:256|384|521)|sk-[a-z0-9-]+@openssh\.com) [A-Za-z0-9+/]{16,}={0,3}(?: [^\p{Cc}]*)?$/u;
const REGISTRY_IMAGE = /^((?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d{1,5})?)\/\S+$/i;
const MAX_COMMAND_WORDS = 100;
const MAX_WORD_CHARS = 1000;

/** Builds disks with podman on this machine, as the bootc plugin plans. */
export class PluginDiskBuilder extends DiskBuilder {
  private podman: { readonly until: number; readonly version: Promise<string | undefined> } | undefined;

  constructor(private readonly deps: PluginDiskBuilderDeps) {
    super();
  }

  override async availability(): Promise<true | string> {
    const canPlan = this.canPlan();
    if (canPlan !== true) return canPlan;
    if (!this.deps.isRoot)
      return 'Building a disk from a bootc image needs a service that runs as root: the build runs in a privileged container.';
    if ((await this.podmanVersion()) === undefined)
      return 'Building a disk from a bootc image needs podman, which is not installed on this machine. Install the package podman.';
    return true;
  }

  override canPlan(): true | string {
    const state = this.deps.plugins.get(PLUGIN);
    if (!state)
      return 'Building a disk from a bootc image needs the bootc plugin, which is not installed. An administrator can install it on the page Plugins.';
    return 'problem' in state ? `The bootc plugin can't be used. ${state.problem}` : true;
  }

  override async planContainer(
    request: DiskBuildRequest,
    { isBlockDevice }: { readonly isBlockDevice: boolean },
  ): Promise<BuildContainer> {
    const canPlan = this.canPlan();
    if (canPlan !== true) throw new DomainError('NOT_SUPPORTED', canPlan);
    const image = checkedReference(request);
    const { command, permissions } = await this.planDisk(image, request, { isBlockDevice, imageSource: 'registry' });
    // A pod always has a network, and a node's storage of images is not that of podman.
    if (!permissions.includes('network') || permissions.includes('image-store'))
      throw new DomainError(
        'PLUGIN_FAILED',
        `The ${PLUGIN} plugin plans no container for a cluster. Install its current version on the page Plugins.`,
      );
    return { image, command, permissions, diskFile: DISK_FILE, keysFile: KEYS_FILE };
  }

  override async plan(request: DiskBuildRequest): Promise<readonly PlanStep[]> {
    const reference = checkedReference(request);
    await this.deps.checkRegistry(registryOf(reference));
    await this.expectSpace();
    return [
      { name: 'pull', detail: `Pull the image ${reference}.` },
      {
        name: 'install',
        detail: `Install it on a disk of ${formatBytes(request.diskBytes)}, in a privileged container.`,
      },
    ];
  }

  override async pull(request: DiskBuildRequest, { log, signal }: BuildReport): Promise<void> {
    await this.expectAvailable(request);
    const image = plainReference(request.image);
    const plan = await this.planDisk(image, request);
    await this.deps.podman.pull(image, signal, log);
    await this.expectLabels(image, plan, signal);
  }

  override async install(id: string, request: DiskBuildRequest, report: FollowedBuild): Promise<string> {
    const { podman } = this.deps;
    const name = containerName(id);
    const found = await podman.state(name, report.signal);
    if (found.status === 'absent' || found.status === 'interrupted') await this.startBuild(id, request, report);
    // A program in the container may ignore signals. When the service stops, the container continues.
    const removal = (): void => {
      if (!(report.signal.reason instanceof ServiceShutdown)) void podman.remove(name).catch(() => undefined);
    };
    report.signal.addEventListener('abort', removal, { once: true });
    try {
      await this.followBuild(name, report);
    } finally {
      report.signal.removeEventListener('abort', removal);
    }
    const disk = join(this.folderOf(id), basename(DISK_FILE));
    await expectPartitions(disk);
    return disk;
  }

  private async startBuild(id: string, request: DiskBuildRequest, { log, signal }: BuildReport): Promise<void> {
    await this.remove(id);
    await this.expectAvailable(request);
    const image = plainReference(request.image);
    const { command, permissions } = await this.planDisk(image, request);
    const folder = await this.prepareFolder(id, request);
    await this.deps.podman.start({ name: containerName(id), image, command, permissions, folder }, signal, log);
  }

  private async followBuild(name: string, { signal, position, log, savePosition }: FollowedBuild): Promise<void> {
    let savedAt = this.deps.clock.now();
    const onLine = (line: string, reached: string): void => {
      log(line);
      if (this.deps.clock.now() - savedAt < SAVE_INTERVAL_MS) return;
      savedAt = this.deps.clock.now();
      // The build goes on without it.
      void savePosition(reached).catch(() => undefined);
    };
    const { exitCode, lastLine } = await this.deps.podman.follow(name, { signal, position, onLine });
    if (exitCode !== 0)
      throw new DomainError('BACKEND_FAILED', `The build failed with status ${exitCode}: ${lastLine}`);
  }

  override async remove(id: string): Promise<void> {
    // The container first: it writes to the folder.
    await this.deps.podman.remove(containerName(id));
    await rm(this.folderOf(id), { recursive: true, force: true });
  }

  /** Removes the builds that an earlier run has left, except those whose tasks continue. */
  async sweep(kept: readonly string[] = []): Promise<void> {
    const names = await readdir(this.deps.folder).catch(() => []);
    for (const id of names) if (!kept.includes(id)) await this.remove(id);
  }

  /** @throws DomainError NOT_SUPPORTED, and those of `plan` */
  private async expectAvailable(request: DiskBuildRequest): Promise<void> {
    const available = await this.availability();
    if (available !== true) throw new DomainError('NOT_SUPPORTED', available);
    await this.plan(request);
  }

  private podmanVersion(): Promise<string | undefined> {
    const { podman, clock } = this.deps;
    if (!this.podman || clock.now() >= this.podman.until)
      this.podman = {
        until: clock.now() + PODMAN_MAX_AGE_MS,
        version: podman.version(new AbortController().signal),
      };
    return this.podman.version;
  }

  private async planDisk(
    image: string,
    { diskBytes, sshKey }: DiskBuildRequest,
    target: Pick<DiskRequest, 'isBlockDevice' | 'imageSource'> = { isBlockDevice: false, imageSource: 'store' },
  ): Promise<DiskPlan> {
    const { plugins, host } = this.deps;
    const plugin = plugins.get(PLUGIN);
    if (!plugin || 'problem' in plugin) throw new DomainError('NOT_SUPPORTED', 'The bootc plugin is not installed.');
    const request: DiskRequest = { image, diskBytes, hasAuthorizedKeys: sshKey !== undefined, ...target };
    return readPlan(plugin, await host.call(plugin, 'planDisk', request));
  }

  private async expectLabels(image: string, { labels = {} }: DiskPlan, signal: AbortSignal): Promise<void> {
    const found = await this.deps.podman.labels(image, signal);
    const missing = Object.entries(labels).find(([key, value]) => found[key] !== value);
    if (missing)
      throw new DomainError(
        'INVALID_SOURCE',
        `${image} is not a bootable container image: it has no label ${missing.join('=')}. Use an image that is built on a bootc base image.`,
      );
  }

  private async prepareFolder(id: string, { diskBytes, sshKey }: DiskBuildRequest): Promise<string> {
    const folder = this.folderOf(id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const disk = join(folder, basename(DISK_FILE));
    await writeFile(disk, '', { flag: 'wx', mode: 0o600 });
    await truncate(disk, diskBytes);
    if (sshKey !== undefined)
      await writeFile(join(folder, basename(KEYS_FILE)), `${sshKey.trim()}\n`, { flag: 'wx', mode: 0o600 });
    return folder;
  }

  private async expectSpace(): Promise<void> {
    const { folder, freeBytes = readFreeBytes } = this.deps;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const free = await freeBytes(folder);
    if (free < MIN_FREE_BYTES)
      throw new DomainError(
        'INSUFFICIENT_STORAGE',
        `The data folder has only ${formatBytes(Math.floor(free))} free; a build needs at least ${formatBytes(MIN_FREE_BYTES)}.`,
      );
  }

  private folderOf(id: string): string {
    if (!/^[a-z0-9][a-z0-9-]*$/.test(id)) throw new Error(`${id} is not the ID of a build`);
    return join(this.deps.folder, id);
  }
}

const containerName = (id: string): string => `headgate-${id}`;

/** @returns the reference of the image @throws DomainError INVALID_SOURCE, INVALID_INPUT, INVALID_QUANTITY */
function checkedReference({ image, diskBytes, sshKey }: DiskBuildRequest): string {
  const reference = plainReference(image);
  if (sshKey !== undefined) checkKeys(sshKey);
  if (diskBytes < MIN_DISK_BYTES)
    throw new DomainError(
      'INVALID_QUANTITY',
      `disk must be at least ${formatBytes(MIN_DISK_BYTES)} for a bootc image.`,
    );
  return reference;
}

/**
 * podman accepts the reference without a scheme, and only with a registry: a short name depends on its configuration.
 */
function plainReference(image: string): string {
  const plain = image.replace(/^(?:docker|oci):\/\//, '');
  const registry = REGISTRY_IMAGE.exec(plain)?.[1] ?? '';
  if (!/[.:]/.test(registry) && registry !== 'localhost')
    throw new DomainError('INVALID_SOURCE', `bootc must name its registry: registry.example/${plain.slice(0, 80)}.`);
  return plain;
}

const registryOf = (reference: string): string => reference.slice(0, reference.indexOf('/'));

/** @throws DomainError INVALID_INPUT */
function checkKeys(sshKey: string): void {
  const lines = sshKey.trim().split(/\r?\n/);
  if (!lines.every((line) => PUBLIC_KEY.test(line)))
    throw new DomainError(
      'INVALID_INPUT',
      'sshKey must be a public key such as "ssh-ed25519 AAAA… user@host", or several of them on lines of their own.',
    );
}

/** @throws DomainError PLUGIN_FAILED unless the plan is one that the manifest allows */
function readPlan({ manifest }: InstalledPlugin, answer: unknown): DiskPlan {
  try {
    const where = 'plan';
    const fields = readObject(answer, where, ['command', 'permissions', 'labels']);
    const command = readArray(fields, 'command', where, MAX_COMMAND_WORDS).map((word) => {
      if (typeof word !== 'string' || word.length > MAX_WORD_CHARS || word.includes('\0'))
        throw new ShapeError(`plan.command must be texts of at most ${MAX_WORD_CHARS} characters.`);
      return word;
    });
    if (command.length === 0) throw new ShapeError('plan.command must not be empty.');
    const permissions = readArray(fields, 'permissions', where, PLUGIN_PERMISSIONS.length).map((one) =>
      expectWord(one, 'plan.permissions', PLUGIN_PERMISSIONS),
    );
    const excess = permissions.find((one) => !manifest.permissions.includes(one));
    if (excess !== undefined) throw new ShapeError(`plan.permissions has ${excess}, which is not in the manifest.`);
    const labels = readObject(fields['labels'] ?? {}, 'plan.labels', Object.keys(fields['labels'] ?? {}));
    if (!Object.values(labels).every((value) => typeof value === 'string'))
      throw new ShapeError('plan.labels must contain texts.');
    return { command, permissions, labels: labels as Record<string, string> };
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new DomainError('PLUGIN_FAILED', `The plugin ${manifest.name} returned an invalid plan: ${error.message}`, {
      cause: error,
    });
  }
}

/** A bootable disk has a partition table: the signature of an MBR, which a GPT has as well. */
async function expectPartitions(disk: string): Promise<void> {
  const handle = await open(disk, 'r');
  try {
    const { buffer } = await handle.read(Buffer.alloc(2), 0, 2, 510);
    if (buffer.readUInt16BE() !== 0x55aa)
      throw new DomainError('BACKEND_FAILED', 'The build ended without an error, but the disk has no partition table.');
  } finally {
    await handle.close();
  }
}

async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
