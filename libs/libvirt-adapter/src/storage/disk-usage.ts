import { open, realpath } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { describeDomain, type DiskDescription } from '../domain-xml/domain-description.js';
import { element, parseXml, text } from '../xml/xml.js';
import type { DomainFinder, DomainId } from '../domains/domain-finder.js';
import { isRemote } from '../host/host.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';
import { backingFileOf } from './disk-image.js';

/** Longer backing chains are cut off here; libvirt itself supports no more than 200 files. */
const MAX_CHAIN_FILES = 200;

interface DomainDisks {
  readonly id: DomainId;
  /** The live and the persistent XML. */
  readonly documents: readonly string[];
  /** Paths of each disk with its backing files, topmost first. */
  readonly chains: readonly (readonly string[])[];
}

/**
 * The disks of all domains at one moment, including the files below an overlay and volumes that are referenced by their
 * pool. A file is in use even if only another disk is based on it.
 */
export class DiskUsage {
  private constructor(private readonly domains: readonly DomainDisks[]) {}

  static async read(connection: LibvirtConnection, finder: DomainFinder): Promise<DiskUsage> {
    const domains = (await connection.domains.documents(await finder.all())).map(({ id, xml, persistentXml }) => ({
      id,
      documents: persistentXml === undefined ? [xml] : [xml, persistentXml],
    }));
    const disks = domains.map((domain) => domain.documents.flatMap(disksOf));
    const tops = await resolvePaths(connection, disks);
    const backing = await readBackingFiles(connection, tops.flat(), disks.flat());
    return new DiskUsage(
      domains.map((domain, i) => ({ ...domain, chains: (tops[i] ?? []).map((top) => chainFrom(top, backing)) })),
    );
  }

  /**
   * Names of the domains that use the file at a path, or whose metadata lists its volume: the layer of a snapshot, for
   * example.
   */
  usersOf(path: string): string[] {
    return this.domains.filter((domain) => uses(domain, path) || owns(domain, path)).map(({ id }) => id.name);
  }

  /** Whether a domain other than the given one uses the file at a path, or mentions the path anywhere in its XML. */
  isUsedByOthers(path: string, uuid: string): boolean {
    return this.domains.some(
      (domain) => domain.id.uuid !== uuid && (uses(domain, path) || domain.documents.some((xml) => xml.includes(path))),
    );
  }

  /** Whether a domain uses a file of this name, or mentions the name anywhere in its XML. */
  mentions(name: string): boolean {
    return this.domains.some(
      ({ documents, chains }) =>
        documents.some((xml) => xml.includes(name)) || chains.flat().some((path) => basename(path) === name),
    );
  }

  /** The overlays of a domain, such as external snapshots, that are based on the file at a path. */
  overlaysOf(path: string, uuid: string): string[] {
    const own = this.domains.find(({ id }) => id.uuid === uuid);
    const overlays = (own?.chains ?? []).flatMap((chain) => chain.slice(0, Math.max(chain.indexOf(path), 0)));
    return [...new Set(overlays)];
  }
}

function disksOf(xml: string): readonly DiskDescription[] {
  try {
    return describeDomain(xml).disks;
  } catch {
    // Any path in XML that can't be parsed may be a disk.
    const paths = [...xml.matchAll(/(?:file|dev)=['"](\/[^'"]+)['"]/g)].map(([, path]) => path);
    return paths.map((path) => ({ target: '', device: 'disk', path, backingPaths: [] }));
  }
}

/** Names of volumes contain a part of the UUID of their domain, so that the name alone identifies one. */
const owns = ({ documents }: DomainDisks, path: string): boolean =>
  documents.some((xml) => ownVolumesOf(xml).includes(basename(path)));

function ownVolumesOf(xml: string): string[] {
  try {
    return describeDomain(xml).metadata.volumes.map(({ name }) => name);
  } catch {
    return [];
  }
}

const uses = ({ chains }: DomainDisks, path: string): boolean => chains.some((chain) => chain.includes(path));

/** The paths of the disks of each domain. */
async function resolvePaths(
  connection: LibvirtConnection,
  disks: readonly (readonly DiskDescription[])[],
): Promise<string[][]> {
  const byPool = disks.flat().filter(({ path, pool, volume }) => path === undefined && pool && volume !== undefined);
  const found = await connection.storage.volumePaths(
    byPool.map(({ pool = '', volume = '' }) => ({ pool, name: volume })),
  );
  const paths = new Map(byPool.map((disk, i) => [disk, found[i] ?? '']));
  const pathOf = (disk: DiskDescription): string => disk.path ?? paths.get(disk) ?? '';
  return disks.map((list) => [...new Set(list.map(pathOf))].filter((path) => path !== ''));
}

/**
 * The backing file of each file, found by libvirt's pools and, on this machine, in the headers of the files themselves.
 */
async function readBackingFiles(
  connection: LibvirtConnection,
  tops: readonly string[],
  disks: readonly DiskDescription[],
): Promise<Map<string, string>> {
  const backing = new Map<string, string>();
  for (const { path, backingPaths } of disks) {
    [path, ...backingPaths].reduce((upper, lower) => {
      if (upper !== undefined && lower !== undefined) backing.set(upper, lower);
      return lower;
    });
  }
  const seen = new Set<string>();
  let pending = [...tops, ...backing.values()];
  while (pending.length > 0) {
    const paths = [...new Set(pending)].filter((path) => !seen.has(path));
    paths.forEach((path) => seen.add(path));
    const volumes = await connection.storage.volumesAt(paths);
    const found = await Promise.all(paths.map((path, i) => backingOf(connection, path, volumes[i])));
    paths.forEach((path, i) => found[i] !== undefined && backing.set(path, found[i]));
    pending = found.filter((path) => path !== undefined);
  }
  return backing;
}

async function backingOf(
  connection: LibvirtConnection,
  path: string,
  volumeXml: string | undefined,
): Promise<string | undefined> {
  const known =
    volumeXml === undefined ? undefined : text(element(element(parseXml(volumeXml), 'volume'), 'backingStore'), 'path');
  if (known !== undefined || isRemote(connection.uri)) return known;
  const file = await readBackingFile(path);
  return file === undefined ? undefined : realpath(file).catch(() => file);
}

/** @returns undefined for a file without a backing file, and for one that this user may not read */
async function readBackingFile(path: string): Promise<string | undefined> {
  try {
    const handle = await open(path, 'r');
    try {
      const file = await backingFileOf(handle);
      return file === undefined ? undefined : resolve(dirname(path), file);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined;
  }
}

function chainFrom(top: string, backing: ReadonlyMap<string, string>): string[] {
  const chain: string[] = [];
  for (
    let path: string | undefined = top;
    path !== undefined && !chain.includes(path) && chain.length < MAX_CHAIN_FILES;
    path = backing.get(path)
  )
    chain.push(path);
  return chain;
}
