import { isCpuSet, parseCpuSet } from '@headgate/domain-contracts';

/** The machine that instances without limits may use as a whole. */
export interface HostSize {
  readonly cpus: number;
  readonly memoryBytes: number;
}

const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  bytes: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  PB: 1e15,
  EB: 1e18,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
  PiB: 2 ** 50,
  EiB: 2 ** 60,
};

/** @param text of `limits.cpu`: a number of CPUs, or a set of them such as `0-3,8` */
export function cpusOf(text: string | undefined, { cpus }: HostSize): number {
  if (text === undefined || text === '') return cpus;
  if (/^\d+$/.test(text)) return Number(text) || cpus;
  return isCpuSet(text) ? parseCpuSet(text, 'limits.cpu').length : cpus;
}

/** @param text of `limits.memory`: a size such as `512MiB`, or a part of the machine such as `50%` */
export function memoryOf(text: string | undefined, { memoryBytes }: HostSize): number {
  const [, percent] = /^(\d+(?:\.\d+)?)\s*%$/.exec(text ?? '') ?? [];
  if (percent !== undefined) return Math.floor((memoryBytes * Number(percent)) / 100);
  return bytesOf(text) ?? memoryBytes;
}

/** @param text a size such as `512MiB`. @returns undefined for other text */
export function bytesOf(text: string | undefined): number | undefined {
  const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]*)$/.exec(text ?? '') ?? [];
  const factor = UNITS[unit];
  return digits === undefined || factor === undefined ? undefined : Math.floor(Number(digits) * factor);
}

/** The text of `limits.memory`. */
export const formatLimit = (bytes: number): string => `${bytes}B`;
