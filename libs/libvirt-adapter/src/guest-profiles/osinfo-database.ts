import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import { BUILT_IN_PROFILES, type GuestProfile, type GuestProfiles, type OsFamily } from './guest-profile.js';

/** Folders with data of libosinfo: the operator's, and the distribution's. https://libosinfo.org */
const OSINFO_FOLDERS = ['/etc/osinfo', '/usr/share/osinfo'];

/** Devices that libosinfo identifies by vendor and product: the transitional and the modern virtio device. */
const VIRTIO_DISK = ['1af4/1001', '1af4/1042', '1af4/1004', '1af4/1048'];
const VIRTIO_NETWORK = ['1af4/1000', '1af4/1041'];
const VIRTIO_INPUT = ['1af4/1052'];

/** Longer chains of derived entries are cut off here. */
const MAX_ANCESTORS = 60;

interface Entry {
  /** A URL, by which entries refer to each other. */
  readonly id: string;
  readonly shortId: string;
  /** ISO 8601; empty when it is unknown. */
  readonly released: string;
  readonly file: string;
}

/**
 * Profiles from the data of libosinfo on this machine. Without the data, or for an entry that it does not have, the
 * built-in profiles are used. An unknown release of a known system, such as `debian99`, has the profile of its latest
 * known release.
 */
export class OsinfoDatabase implements GuestProfiles {
  private index?: Promise<readonly Entry[]>;
  private readonly profiles = new Map<string, Promise<GuestProfile | undefined>>();

  constructor(private readonly folders: readonly string[] = OSINFO_FOLDERS) {}

  find(id: string): Promise<GuestProfile | undefined> {
    let profile = this.profiles.get(id);
    if (!profile) {
      profile = this.read(id).catch(() => builtIn(id));
      this.profiles.set(id, profile);
    }
    return profile;
  }

  async shortIdOf(url: string): Promise<string | undefined> {
    this.index ??= readIndex(this.folders);
    return (await this.index).find(({ id }) => id === url)?.shortId;
  }

  private async read(id: string): Promise<GuestProfile | undefined> {
    this.index ??= readIndex(this.folders);
    const index = await this.index;
    const exact = index.find(({ shortId }) => shortId === id);
    if (!exact && builtIn(id)) return builtIn(id);
    const entry = exact ?? latestRelease(index, id);
    if (!entry) return undefined;
    const ancestry = await readAncestry(index, entry);
    return ancestry.length === 0 ? undefined : toProfile(id, ancestry);
  }
}

const builtIn = (id: string): GuestProfile | undefined => BUILT_IN_PROFILES.find((profile) => profile.id === id);

/** Reads only the two IDs of each entry: parsing all of the data takes seconds. */
async function readIndex(folders: readonly string[]): Promise<Entry[]> {
  const entries = await Promise.all(folders.map(entriesIn));
  return entries.flat();
}

async function entriesIn(folder: string): Promise<Entry[]> {
  const names = await readdir(join(folder, 'os'), { recursive: true }).catch(() => []);
  // Folders named `win-10.d` have additions to an entry, not entries.
  const files = names.filter((name) => name.endsWith('.xml') && !/\.d\//.test(name)).sort();
  const entries: Entry[] = [];
  for (const name of files) {
    const file = join(folder, 'os', name);
    const content = await readFile(file, 'utf8').catch(() => '');
    const [, id] = /<os id=["']([^"']+)["']/.exec(content) ?? [];
    const released = /<release-date>([^<]+)</.exec(content)?.[1] ?? '';
    const shortIds = [...content.matchAll(/<short-id>([^<]+)<\/short-id>/g)].map(([, shortId]) => shortId ?? '');
    if (id !== undefined) entries.push(...shortIds.map((shortId) => ({ id, shortId, released, file })));
  }
  return entries;
}

const distributionOf = (id: string): string => /^([a-z]+(?:-[a-z]+)*)[-\d.]/.exec(id)?.[1] ?? '';

const BY_NUMBER = new Intl.Collator('en', { numeric: true });
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function latestRelease(index: readonly Entry[], id: string): Entry | undefined {
  const distribution = distributionOf(id);
  if (distribution === '') return undefined;
  return index
    .filter(({ shortId }) => distributionOf(shortId) === distribution)
    .sort((a, b) => compareText(a.released, b.released) || BY_NUMBER.compare(a.shortId, b.shortId))
    .at(-1);
}

/** The entry and those from which it is derived, closest first. */
async function readAncestry(index: readonly Entry[], entry: Entry): Promise<XmlElement[]> {
  const ancestry: XmlElement[] = [];
  const seen = new Set<string>();
  for (let next: Entry | undefined = entry; next && !seen.has(next.file) && ancestry.length < MAX_ANCESTORS;) {
    seen.add(next.file);
    const os = element(element(parseXml(await readFile(next.file, 'utf8')), 'libosinfo'), 'os');
    if (!os) break;
    ancestry.push(os);
    const parent = attribute(element(os, 'derives-from'), 'id');
    next = index.find(({ id }) => id === parent);
  }
  return ancestry;
}

function toProfile(id: string, ancestry: readonly XmlElement[]): GuestProfile {
  const first = <T>(read: (os: XmlElement) => T | undefined): T | undefined =>
    ancestry.map(read).find((value) => value !== undefined);
  const devices = supportedDevices(ancestry);
  const has = (ids: readonly string[]): boolean => ids.some((device) => devices.has(device));
  const family = familyOf(first((os) => text(os, 'family')));
  const needsUefi = ancestry.slice(0, 1).some(refusesBios);
  return {
    id,
    name: first((os) => elements(os, 'name').map((name) => text(name))[0]) ?? id,
    family,
    hasVirtioDisk: has(VIRTIO_DISK),
    hasVirtioNetwork: has(VIRTIO_NETWORK),
    hasVirtioInput: has(VIRTIO_INPUT),
    needsUefi,
    // The data has no entry for Secure Boot and TPM; of the systems without BIOS support, Windows requires both.
    needsTrustedBoot: needsUefi && family === 'windows',
  };
}

function supportedDevices(ancestry: readonly XmlElement[]): Set<string> {
  const devices = new Set<string>();
  const removed = new Set<string>();
  for (const os of ancestry) {
    for (const device of elements(element(os, 'devices'), 'device')) {
      const name = shortDeviceId(attribute(device, 'id') ?? '');
      if (attribute(device, 'supported') === 'false') removed.add(name);
      else if (!removed.has(name)) devices.add(name);
    }
  }
  return devices;
}

/** `1af4/1042` of `http://pcisig.com/pci/1af4/1042` */
const shortDeviceId = (url: string): string => `${basename(join(url, '..'))}/${basename(url)}`;

const refusesBios = (os: XmlElement): boolean =>
  elements(os, 'firmware').some(
    (firmware) => attribute(firmware, 'type') === 'bios' && attribute(firmware, 'supported') === 'false',
  );

function familyOf(family = ''): OsFamily {
  if (family.startsWith('win')) return 'windows';
  return family === 'linux' ? 'linux' : 'other';
}
