import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError, messageOf, type Clock, type Log } from '@headgate/domain-contracts';
import { MANIFEST_FILE, parseManifest, type PluginManifest } from '../format/manifest.js';
import { ShapeError } from '../format/shape.js';
import { unpackArchive } from '../format/unpack-archive.js';
import type { PluginOffer } from '../store/plugin-source.js';
import { formatRecord, parseRecord, type InstallRecord } from './installed-plugin.js';

/** A plugin that is installed and complete. */
export interface InstalledPlugin {
  readonly manifest: PluginManifest;
  readonly digest: string;
  readonly origin: string;
  readonly installedAt: string;
  /** The folder with its files. */
  readonly folder: string;
}

/** An installed plugin, or the reason why its files can't be used. */
export type InstalledState = InstalledPlugin | { readonly problem: string };

/** The steps of an installation, as tests interrupt them. */
export const INSTALL_STEPS = ['unpacked', 'manifest', 'moved', 'checked', 'recorded', 'removed old'] as const;
export type InstallStep = (typeof INSTALL_STEPS)[number];

export interface PluginFolderDeps {
  /** A private folder of this service. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called after each step of an installation. */
  readonly onStep?: (step: InstallStep) => void;
}

/**
 * The installed plugins. A record names the folder of the installed version and is replaced in one step, so that a
 * process that is killed at any time leaves either the old or the new version:
 *
 * - `records/<name>.json`: which version of each plugin is installed
 * - `versions/<folder>`: the files of a version, with the manifest, which is written last
 * - `incoming/<folder>`: archives that are being unpacked
 */
export class PluginFolder {
  private readonly records: string;
  private readonly versions: string;
  private readonly incoming: string;
  private installed = new Map<string, InstalledState>();

  constructor(private readonly deps: PluginFolderDeps) {
    this.records = join(deps.folder, 'records');
    this.versions = join(deps.folder, 'versions');
    this.incoming = join(deps.folder, 'incoming');
  }

  /**
   * Reads the installed plugins, and removes what an interrupted installation or removal has left. Call once at the
   * start.
   */
  async open(): Promise<void> {
    for (const folder of [this.records, this.versions]) await mkdir(folder, { recursive: true, mode: 0o700 });
    await rm(this.incoming, { recursive: true, force: true });
    const names = await readdir(this.records);
    const used = new Set<string>();
    let isComplete = true;
    for (const file of names) {
      const name = /^(.+)\.json$/.exec(file)?.[1];
      if (name === undefined) {
        await rm(join(this.records, file), { force: true });
        continue;
      }
      try {
        const record = parseRecord(await readFile(join(this.records, file), 'utf8'));
        if (record.name !== name) throw new ShapeError(`record.name is ${record.name}.`);
        used.add(record.folder);
        this.installed.set(name, await this.load(record));
      } catch (error) {
        // The record is kept for inspection, and the folders that it may name as well.
        isComplete = false;
        const problem = `Its record ${join(this.records, file)} can't be used: ${messageOf(error)} Remove the plugin and install it again.`;
        this.deps.log.warn({ plugin: name, reason: messageOf(error) }, 'the record of a plugin is damaged');
        this.installed.set(name, { problem });
      }
    }
    if (isComplete) await this.removeUnused(used);
  }

  get(name: string): InstalledState | undefined {
    return this.installed.get(name);
  }

  all(): ReadonlyMap<string, InstalledState> {
    return this.installed;
  }

  /**
   * Installs an archive, or replaces the installed version. A failure leaves the installed version as it was.
   * @param check runs before the new version replaces the old one; it throws if the new one does not work
   * @returns removes the files of the old version, which may still be running
   * @throws DomainError INVALID_PLUGIN
   */
  async install(
    offer: Pick<PluginOffer, 'name' | 'version' | 'digest' | 'origin'>,
    archive: Buffer,
    check: (candidate: InstalledPlugin) => Promise<void>,
  ): Promise<() => Promise<void>> {
    const { name, version, digest, origin } = offer;
    const folder = `${name}-${version}-${randomUUID().slice(0, 8)}`;
    const incoming = join(this.incoming, folder);
    const target = join(this.versions, folder);
    let previous: string | undefined;
    try {
      await mkdir(incoming, { recursive: true, mode: 0o700 });
      const { manifest: text, files } = await unpackArchive(archive, incoming);
      this.step('unpacked');
      const manifest = readManifest(text, offer, files);
      await writeDurably(join(incoming, MANIFEST_FILE), text);
      await syncFolder(incoming);
      this.step('manifest');
      await rename(incoming, target);
      await syncFolder(this.versions);
      this.step('moved');
      const installedAt = this.deps.clock.iso();
      const candidate: InstalledPlugin = { manifest, digest, origin, installedAt, folder: target };
      await check(candidate);
      this.step('checked');
      previous = await this.recordedFolder(name);
      await this.writeRecord({
        name,
        version,
        digest,
        origin,
        folder,
        installedAt,
        files: { ...Object.fromEntries(files), [MANIFEST_FILE]: sha256(text) },
      });
      this.installed.set(name, candidate);
    } catch (error) {
      // Once the record names the new version, it is installed.
      const leftovers = (await this.recordedFolder(name)) === folder ? [incoming] : [incoming, target];
      await Promise.all(leftovers.map((path) => rm(path, { recursive: true, force: true })));
      throw error;
    }
    this.step('recorded');
    return async () => {
      if (previous !== undefined) await rm(join(this.versions, previous), { recursive: true, force: true });
      this.step('removed old');
    };
  }

  /** Removes a plugin. Its record is removed first. */
  async remove(name: string): Promise<void> {
    const folder = await this.recordedFolder(name);
    await rm(join(this.records, `${name}.json`), { force: true });
    await syncFolder(this.records);
    this.installed.delete(name);
    if (folder !== undefined) await rm(join(this.versions, folder), { recursive: true, force: true });
  }

  /** @throws ShapeError when a file is missing or was changed */
  private async load(record: InstallRecord): Promise<InstalledState> {
    const folder = join(this.versions, record.folder);
    for (const [path, digest] of Object.entries(record.files)) {
      const content = await readFile(join(folder, path)).catch(() => undefined);
      if (content === undefined || sha256(content) !== digest) {
        const problem = `Its file ${path} is missing or was changed. Install the plugin again.`;
        this.deps.log.warn({ plugin: record.name, file: path }, 'a file of a plugin is missing or was changed');
        return { problem };
      }
    }
    const { digest, origin, installedAt } = record;
    const manifest = parseManifest(await readFile(join(folder, MANIFEST_FILE), 'utf8'));
    return { manifest, digest, origin, installedAt, folder };
  }

  private async recordedFolder(name: string): Promise<string | undefined> {
    try {
      return parseRecord(await readFile(join(this.records, `${name}.json`), 'utf8')).folder;
    } catch {
      return undefined;
    }
  }

  private async writeRecord(record: InstallRecord): Promise<void> {
    const file = join(this.records, `${record.name}.json`);
    const temporary = `${file}.${randomUUID()}.new`;
    await writeDurably(temporary, formatRecord(record));
    await rename(temporary, file);
    await syncFolder(this.records);
  }

  private async removeUnused(used: ReadonlySet<string>): Promise<void> {
    const unused = (await readdir(this.versions)).filter((folder) => !used.has(folder));
    await Promise.all(unused.map((folder) => rm(join(this.versions, folder), { recursive: true, force: true })));
  }

  private step(step: InstallStep): void {
    this.deps.onStep?.(step);
  }
}

/** @throws DomainError INVALID_PLUGIN */
function readManifest(
  text: string,
  { name, version }: Pick<PluginOffer, 'name' | 'version'>,
  files: ReadonlyMap<string, string>,
): PluginManifest {
  try {
    const manifest = parseManifest(text);
    if (manifest.name !== name || manifest.version !== version)
      throw new ShapeError(
        `${MANIFEST_FILE} is that of ${manifest.name} ${manifest.version}, but the index offers ${name} ${version}.`,
      );
    if (!files.has(manifest.entry)) throw new ShapeError(`The archive has no file ${manifest.entry}.`);
    return manifest;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new DomainError('INVALID_PLUGIN', `${name} ${version} was refused: ${error.message}`, { cause: error });
  }
}

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

async function writeDurably(file: string, content: string): Promise<void> {
  await using(await open(file, 'wx', 0o600), async (handle) => {
    await handle.writeFile(content);
    await handle.sync();
  });
}

async function syncFolder(folder: string): Promise<void> {
  await using(await open(folder, 'r'), (handle) => handle.sync());
}

async function using(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle);
  } finally {
    await handle.close();
  }
}
