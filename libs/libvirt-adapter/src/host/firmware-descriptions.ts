import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders with descriptions of firmware images: the operator's, and the distribution's. */
const FOLDERS = ['/etc/qemu/firmware', '/usr/share/qemu/firmware'];

interface FirmwareDescription {
  readonly 'interface-types'?: readonly string[];
  readonly features?: readonly string[];
  readonly targets?: readonly { readonly architecture?: string; readonly machines?: readonly string[] }[];
  readonly mapping?: { readonly 'nvram-template'?: { readonly filename?: string; readonly format?: string } };
}

/**
 * Whether a UEFI firmware is installed that has Secure Boot switched on, with keys: libvirt also reports firmware
 * without keys, which starts any loader. Source:
 * https://gitlab.com/qemu-project/qemu/-/blob/master/docs/interop/firmware.json
 */
export async function hasEnrolledFirmware(arch: string, folders: readonly string[] = FOLDERS): Promise<boolean> {
  const descriptions = await Promise.all(folders.map(readDescriptions));
  return descriptions
    .flat()
    .some(
      ({ features = [], targets = [], 'interface-types': interfaces = [] }) =>
        interfaces.includes('uefi') &&
        features.includes('secure-boot') &&
        features.includes('enrolled-keys') &&
        targets.some(({ architecture }) => architecture === arch),
    );
}

/**
 * The file from which libvirt creates the variables of a new VM's firmware. It chooses the first description that
 * matches; a file of the operator replaces one of the same name.
 */
export async function variablesTemplate(
  { arch, isSecure }: { readonly arch: string; readonly isSecure: boolean },
  folders: readonly string[] = FOLDERS,
): Promise<string | undefined> {
  const byName = new Map<string, FirmwareDescription>();
  for (const folder of folders)
    for (const name of (await readdir(folder).catch(() => [])).filter((one) => one.endsWith('.json')))
      if (!byName.has(name)) byName.set(name, await readDescription(join(folder, name)));
  const matching = [...byName]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, description]) => description)
    .find(
      ({ features = [], targets = [], 'interface-types': interfaces = [], mapping }) =>
        interfaces.includes('uefi') &&
        targets.some(({ architecture }) => architecture === arch) &&
        features.includes('enrolled-keys') === isSecure &&
        (mapping?.['nvram-template']?.format ?? 'raw') === 'raw' &&
        mapping?.['nvram-template']?.filename !== undefined,
    );
  return matching?.mapping?.['nvram-template']?.filename;
}

async function readDescriptions(folder: string): Promise<FirmwareDescription[]> {
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith('.json')).map((name) => join(folder, name));
  return Promise.all(files.map(readDescription));
}

/** A description that can't be read describes nothing. */
async function readDescription(file: string): Promise<FirmwareDescription> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as FirmwareDescription;
  } catch {
    return {};
  }
}
