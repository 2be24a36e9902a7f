import { parseDocument, type Document } from 'yaml';
import type { Config, Device, Devices } from '../api/incus-objects.js';
import { KEY } from '../engine/config-keys.js';
import { DATA_DEVICE } from '../provisioning/data-volume.js';
import type { RewriteFile } from './rewrite-tar.js';

/** The copy that a backup becomes. */
export interface RewrittenCopy {
  /** Of the move, and the UUID of the copy. */
  readonly id: string;
  /** The mark of a copy that is not complete. */
  readonly mark: string;
  readonly pool: string;
  /** The name of its data volume; absent if it has none. */
  readonly volume?: string;
  /** Networks of the source → networks of the destination. */
  readonly networks: Readonly<Record<string, string>>;
}

interface Described {
  readonly config?: Config;
  readonly devices?: Devices;
  readonly expanded_config?: Config;
  readonly expanded_devices?: Devices;
}

/** LXD refuses a container with them, and Incus creates them again at the next start. */
const OF_INCUS = ['volatile.uuid.generation', 'volatile.last_state.ready'];

/** The places of a container and its snapshots in the descriptions of a backup. */
const INSTANCE_FILES = /^backup\/(index\.yaml|container\/backup\.yaml|snapshots\/[^/]+\/backup\.yaml)$/;

/**
 * Changes the descriptions in the backup of a container: the copy gets an ID of its own and the mark of an incomplete
 * one before it exists, and its devices lead to the pool and the networks of the destination.
 */
export const rewriteInstance =
  (copy: RewrittenCopy): RewriteFile =>
  async (name, text) => {
    if (!INSTANCE_FILES.test(name)) return undefined;
    const document = parse(await text());
    // The index has it all below `config`.
    for (const base of [[], ['config']]) {
      rewriteAt(document, [...base, 'container'], (found) => rewritten(found, copy, { [KEY.operation]: copy.mark }));
      forEachAt(document, [...base, 'snapshots'], (path) =>
        rewriteAt(document, path, (found) => rewritten(found, copy, {})),
      );
    }
    return textOf(document);
  };

/** The same for the backup of its data volume, which belongs to the copy from the beginning. */
export const rewriteVolume =
  ({ id }: RewrittenCopy): RewriteFile =>
  async (name, text) => {
    if (name !== 'backup/index.yaml') return undefined;
    const document = parse(await text());
    rewriteAt(document, ['config', 'volume'], ({ config }) => ({
      config: { ...config, [KEY.creation]: id, [KEY.instance]: id },
    }));
    return textOf(document);
  };

/** All scalars stay as the server has written them: it reads YAML 1.1, in which `yes` is no text. */
const parse = (text: string): Document => parseDocument(text, { schema: 'failsafe' });
const textOf = (document: Document): string =>
  document.toString({ lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' });

function rewritten(found: Described, copy: RewrittenCopy, marks: Config): Described {
  const config = (of: Config = {}): Config => {
    const kept = Object.fromEntries(Object.entries(of).filter(([key]) => !OF_INCUS.includes(key)));
    return { ...kept, 'volatile.uuid': copy.id, [KEY.creation]: copy.id, ...marks };
  };
  const devices = (of: Devices = {}): Devices =>
    Object.fromEntries(Object.entries(of).map(([name, device]) => [name, rewrittenDevice(name, device, copy)]));
  return {
    ...(found.config && { config: config(found.config) }),
    ...(found.expanded_config && { expanded_config: config(found.expanded_config) }),
    ...(found.devices && { devices: devices(found.devices) }),
    ...(found.expanded_devices && { expanded_devices: devices(found.expanded_devices) }),
  };
}

function rewrittenDevice(name: string, device: Device, { pool, volume, networks }: RewrittenCopy): Device {
  if (device.type === 'disk' && device.path === '/') return { ...device, pool };
  if (name === DATA_DEVICE && volume !== undefined) return { ...device, pool, source: volume };
  if (device.type !== 'nic') return device;
  const key = device.network === undefined ? 'parent' : 'network';
  const mapped = networks[device[key] ?? ''];
  return mapped === undefined ? device : { ...device, [key]: mapped };
}

function rewriteAt(document: Document, path: readonly (string | number)[], rewrite: (found: Described) => Described) {
  const found = (document.getIn(path, true) as { toJSON?: () => unknown } | undefined)?.toJSON?.();
  if (typeof found !== 'object' || found === null) return;
  for (const [key, value] of Object.entries(rewrite(found as Described))) document.setIn([...path, key], value);
}

function forEachAt(document: Document, path: readonly string[], each: (path: readonly (string | number)[]) => void) {
  const list = document.getIn(path) as { items?: readonly unknown[] } | undefined;
  list?.items?.forEach((_item, index) => each([...path, index]));
}
