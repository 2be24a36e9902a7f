import { InvalidArgumentError } from 'commander';

/** A whole number from 1 on. */
export function parseCount(value: string): number {
  if (!/^[1-9]\d{0,5}$/.test(value)) throw new InvalidArgumentError('It must be a whole number from 1 to 999999.');
  return Number(value);
}

/** A TCP port; 0 chooses a free one. */
export function parsePort(value: string): number {
  if (!/^\d{1,5}$/.test(value) || Number(value) > 65_535)
    throw new InvalidArgumentError('It must be a port from 0 to 65535.');
  return Number(value);
}

/** `KEY=VALUE`, collected. */
export function parsePair(value: string, pairs: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [, key, mapped] = /^([^=]+)=(.+)$/.exec(value) ?? [];
  if (key === undefined || mapped === undefined) throw new InvalidArgumentError('It must have the form FROM=TO.');
  return { ...pairs, [key]: mapped };
}
