import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import { messageOf, type Firmware, type FirmwareVariables } from '@headgate/domain-contracts';
import { attribute, element, text, type XmlElement } from '../xml/xml.js';

/** More is no store of variables: the largest, of ARM firmware, has 64 MiB. */
export const MAX_VARIABLES_BYTES = 64 * 1024 ** 2;

/** The file with the variables of a domain's firmware; undefined if it has none. */
export interface VariablesFile {
  readonly path: string;
  /** As libvirt has it; `raw` by default. */
  readonly format: string;
}

/** Source: https://libvirt.org/formatdomain.html#bios-bootloader */
export function variablesFile(document: XmlElement): VariablesFile | undefined {
  const nvram = element(element(document, 'os'), 'nvram');
  const path = attribute(element(nvram, 'source'), 'file') ?? text(element(document, 'os'), 'nvram');
  if (path === undefined || !path.startsWith('/')) return undefined;
  return { path, format: attribute(nvram, 'format') ?? 'raw' };
}

/** Whether the variables can be copied. A VM that has never been started has none. */
export async function describeVariables(
  document: XmlElement,
  { firmware, isRemote }: { readonly firmware: Firmware; readonly isRemote: boolean },
): Promise<FirmwareVariables | undefined> {
  const file = firmware === 'bios' ? undefined : variablesFile(document);
  if (!file) return undefined;
  if (isRemote) return { problem: 'They are on another machine.' };
  if (file.format !== 'raw') return { problem: `They are stored in the format ${file.format}.` };
  try {
    await access(file.path, constants.R_OK);
    const { size } = await stat(file.path);
    return size <= MAX_VARIABLES_BYTES ? { sizeBytes: size } : { problem: 'Their file is too large.' };
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return isMissing ? undefined : { problem: `The service can't read their file (${messageOf(error)}).` };
  }
}

/** Why variables of this size do not fit the firmware that a new VM gets; undefined if they do. */
export async function variablesMismatch(sizeBytes: number, template: string | undefined): Promise<string | undefined> {
  if (template === undefined) return 'The firmware of this machine could not be identified.';
  try {
    const { size } = await stat(template);
    return size === sizeBytes ? undefined : 'The firmware of this machine is a different build.';
  } catch (error) {
    return `The firmware of this machine could not be read (${messageOf(error)}).`;
  }
}

export const readVariables = ({ path }: VariablesFile): Promise<Buffer> => readFile(path);
