import { InvalidArgumentError } from 'commander';

const MAX_PORT = 65_535;

export interface PortPair {
  /** 0 chooses a free one. */
  readonly local: number;
  readonly guest: number;
}

/** `[LOCAL:]PORT`; `:PORT` chooses a free local port. @throws InvalidArgumentError */
export function parsePortPair(text: string): PortPair {
  const [, local, guest = ''] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const pair = { local: Number(local ?? guest), guest: Number(guest) };
  if (guest === '' || pair.guest < 1 || pair.guest > MAX_PORT || pair.local > MAX_PORT)
    throw new InvalidArgumentError('It must be PORT, LOCAL:PORT or :PORT, with ports from 1 to 65535.');
  return pair;
}

/** Collects them. */
export const collectPortPairs = (text: string, pairs: readonly PortPair[] = []): PortPair[] => [
  ...pairs,
  parsePortPair(text),
];
