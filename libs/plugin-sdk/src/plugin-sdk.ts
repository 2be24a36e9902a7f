import { Console } from 'node:console';

// Plugins carry a copy of this file, from which only the types were removed: it imports nothing but Node, and its
// syntax can be erased.

/** The version of the protocol between the service and a plugin. */
export const PLUGIN_API_VERSION = 1;

/** The largest message in either direction, one line of JSON. The service ends a plugin that sends a larger one. */
export const MAX_MESSAGE_BYTES = 1_048_576;

/** The purposes of plugins. Each one has methods of its own. */
export const PLUGIN_ABILITIES = ['disk-builder', 'doctor-checks'] as const;
export type PluginAbility = (typeof PLUGIN_ABILITIES)[number];

/**
 * Rights of the containers that the service runs for a plugin. A plugin has none of them in its own process; its
 * manifest lists those that its plans need.
 *
 * - `privileged-container`: all capabilities of the kernel
 * - `host-processes`: the process namespace of the host
 * - `host-devices`: the devices of the host, such as loop devices
 * - `image-store`: podman's storage of images
 * - `network`: connections, such as to the registry of an image
 */
export const PLUGIN_PERMISSIONS = [
  'privileged-container',
  'host-processes',
  'host-devices',
  'image-store',
  'network',
] as const;
export type PluginPermission = (typeof PLUGIN_PERMISSIONS)[number];

/** The first response of a plugin. It must agree with the manifest. */
export interface PluginDescription {
  readonly name: string;
  readonly version: string;
  readonly apiVersion: number;
  readonly ability: PluginAbility;
}

/** A method of a plugin. An error that it throws is reported to the user with its message. */
export type PluginMethod = (params: unknown) => unknown;

export interface PluginDefinition {
  readonly name: string;
  readonly version: string;
  readonly ability: PluginAbility;
  readonly methods: Readonly<Record<string, PluginMethod>>;
}

/** The files in the container that builds a disk. */
export const DISK_FILE = '/headgate/disk.raw';
export const KEYS_FILE = '/headgate/authorized_keys';

/** A disk to build. */
export interface DiskRequest {
  /** The container image, with its registry. */
  readonly image: string;
  readonly diskBytes: number;
  /** Whether `KEYS_FILE` contains SSH keys for the root user. */
  readonly hasAuthorizedKeys: boolean;
  /** Whether `DISK_FILE` is an empty block device instead of an empty file. */
  readonly isBlockDevice: boolean;
  /**
   * Where the container finds the image: in podman's storage of images, or only at its registry, as in a pod of a
   * cluster.
   */
  readonly imageSource: 'store' | 'registry';
}

/**
 * The container that builds a disk: it runs the requested image, and fills `DISK_FILE`, which has the size of the disk.
 */
export interface DiskPlan {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Must be listed in the manifest. */
  readonly permissions: readonly PluginPermission[];
  /** Labels that the image must have. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface DiskBuilderDefinition {
  readonly name: string;
  readonly version: string;
  readonly planDisk: (request: DiskRequest) => DiskPlan | Promise<DiskPlan>;
}

/** Serves a plugin that builds disks of VMs from container images. */
export const serveDiskBuilder = ({ name, version, planDisk }: DiskBuilderDefinition): void =>
  servePlugin({
    name,
    version,
    ability: 'disk-builder',
    methods: { planDisk: (params) => planDisk(readDiskRequest(params)) },
  });

/** The result of one check of the machine. */
export interface PluginCheck {
  readonly name: string;
  readonly status: 'ok' | 'warning' | 'error';
  /** One sentence. */
  readonly message: string;
  /** One sentence; empty if there is no problem. */
  readonly remedy: string;
}

export interface DoctorChecksDefinition {
  readonly name: string;
  readonly version: string;
  readonly checks: () => readonly PluginCheck[] | Promise<readonly PluginCheck[]>;
}

/** Serves a plugin that adds checks to the doctor. */
export const serveDoctorChecks = ({ name, version, checks }: DoctorChecksDefinition): void =>
  servePlugin({ name, version, ability: 'doctor-checks', methods: { checks: () => checks() } });

/**
 * Serves the methods of a plugin to the service until the service closes the connection. Standard output belongs to the
 * protocol, so `console` writes to standard error, which ends up in the plugin's log.
 */
export function servePlugin({ name, version, ability, methods }: PluginDefinition): void {
  globalThis.console = new Console(process.stderr);
  const description: PluginDescription = { name, version, apiVersion: PLUGIN_API_VERSION, ability };
  const served = new Map<unknown, PluginMethod>([...Object.entries(methods), ['describe', () => description]]);
  let rest = '';
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) void answer(line, served).then((text) => process.stdout.write(`${text}\n`));
  });
  process.stdin.on('end', () => process.exit(0));
}

async function answer(line: string, methods: ReadonlyMap<unknown, PluginMethod>): Promise<string> {
  let id: unknown = null;
  try {
    const request = JSON.parse(line) as { id?: unknown; method?: unknown; params?: unknown };
    id = request.id ?? null;
    const method = methods.get(request.method);
    if (!method) throw new Error(`The plugin has no method ${String(request.method).slice(0, 80)}.`);
    const text = JSON.stringify({ id, result: (await method(request.params)) ?? null });
    if (Buffer.byteLength(text) < MAX_MESSAGE_BYTES) return text;
    throw new Error(`The result is larger than ${MAX_MESSAGE_BYTES} bytes.`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return JSON.stringify({ id, error: message.slice(0, 2000) });
  }
}

function readDiskRequest(params: unknown): DiskRequest {
  const { image, diskBytes, hasAuthorizedKeys, isBlockDevice, imageSource } = (params ?? {}) as Partial<
    Record<keyof DiskRequest, unknown>
  >;
  if (typeof image !== 'string' || image === '') throw new Error('image must be a container image.');
  if (typeof diskBytes !== 'number' || !(diskBytes > 0)) throw new Error('diskBytes must be a number of bytes.');
  return {
    image,
    diskBytes,
    hasAuthorizedKeys: hasAuthorizedKeys === true,
    isBlockDevice: isBlockDevice === true,
    imageSource: imageSource === 'registry' ? 'registry' : 'store',
  };
}
