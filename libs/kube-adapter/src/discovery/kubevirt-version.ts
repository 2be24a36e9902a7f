/** The part of a KubeVirt release number on which its behavior depends. */
export interface KubevirtVersion {
  readonly major: number;
  readonly minor: number;
}

/** Parses `v1.6.2` or `1.6.2-alpha.0`. @returns undefined for anything else, such as a build without a tag */
export function parseKubevirtVersion(text: string | undefined): KubevirtVersion | undefined {
  const match = /^v?(\d+)\.(\d+)\./.exec(text ?? '');
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/** An unknown version counts as the newest one: the server itself refuses an operation that it does not support. */
export const isAtLeast = (version: KubevirtVersion | undefined, major: number, minor: number): boolean =>
  version === undefined || version.major > major || (version.major === major && version.minor >= minor);

type Release = readonly [major: number, minor: number];

/** Gates that are generally available, and since which release. Source: KubeVirt's feature gate table, 1.3 to 1.9. */
const GA_SINCE: Readonly<Record<string, Release>> = {
  VMExport: [1, 9],
  ExpandDisks: [1, 9],
  HotplugNICs: [1, 4],
  GPU: [1, 4],
  NUMA: [1, 4],
  VMLiveUpdateFeatures: [1, 5],
  VolumesUpdateStrategy: [1, 5],
  VolumeMigration: [1, 5],
};

/** Beta gates, which are on by default since 1.9. Same source. */
const BETA_SINCE: Readonly<Record<string, Release>> = {
  Snapshot: [1, 9],
  DeclarativeHotplugVolumes: [1, 9],
};

/** The feature gates of the KubeVirt object. */
export interface FeatureGates {
  readonly listed: readonly string[];
  readonly disabled: readonly string[];
}

/** Whether a gate is in effect: GA gates always, then listed as enabled, then listed as disabled, then Beta gates. */
export function isGateEnabled(
  gate: string,
  version: KubevirtVersion | undefined,
  { listed, disabled }: FeatureGates,
): boolean {
  const hasReached = (since: Release | undefined): boolean => since !== undefined && isAtLeast(version, ...since);
  if (hasReached(GA_SINCE[gate]) || listed.includes(gate)) return true;
  return !disabled.includes(gate) && hasReached(BETA_SINCE[gate]);
}
