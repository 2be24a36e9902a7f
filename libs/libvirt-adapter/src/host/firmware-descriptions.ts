import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Folders with descriptions of firmware images: the operator's, and the distribution's. */
const FOLDERS = ['/etc/qemu/firmware', '/usr/share/qemu/firmware'];

interface FirmwareDescription {
  readonly 'interface-types'?: readonly string[];
  readonly features?: readonly string[];
  readonly targets?: readonly { readonly architecture?: string }[];
}

/**
 * Whether a UEFI firmware is installed that has Secure Boot switched on, with keys: libvirt also reports firmware without keys,
 * which starts any loader.
 * Source: https://gitlab.com/qemu-project/qemu/-/blob/master/docs/interop/firmware.json
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
