import { boundedOperations } from '@headgate/homeserver-contracts';

/** One path of each operation that a bound can refuse. */
export const PREFLIGHTS: readonly (readonly [path: string])[] = boundedOperations.flatMap(({ paths }) =>
  paths.map((path) => [path.replace('{v}', 'v3').replace(/:([a-zA-Z]+)\??/g, 'a$1')] as const),
);
