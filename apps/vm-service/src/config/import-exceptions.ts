import type { Settings } from './load-config.js';

/**
 * The private addresses, ranges and hosts from which the service may download. The operator has chosen the image
 * registry, wherever it is.
 */
export const importExceptions = ({ importAllow, imageRegistry }: Settings): readonly string[] => [
  ...importAllow,
  ...hostOf(imageRegistry),
];

/** The image registry with its port. */
function hostOf(imageRegistry: string | undefined): string[] {
  const host = imageRegistry?.split('/')[0];
  if (host === undefined) return [];
  return [/:\d+$/.test(host) ? host : `${host}:443`];
}
