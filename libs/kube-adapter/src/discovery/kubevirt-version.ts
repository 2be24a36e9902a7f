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

/** Gates that are on by default, and since which release. Source: KubeVirt's feature gate table, 1.3 to 1.9. */
const ON_BY_DEFAULT_SINCE: Readonly<Record<string, readonly [number, number]>> = {
  Snapshot: [1, 9],
  VMExport: [1, 9],
  ExpandDisks: [1, 9],
  DeclarativeHotplugVolumes: [1, 9],
  HotplugNICs: [1, 4],
  VMLiveUpdateFeatures: [1, 5],
};

/** The feature gates of the KubeVirt object. */
export interface FeatureGates {
  readonly listed: readonly string[];
  readonly disabled: readonly string[];
}

/** Whether a gate is in effect: listed as enabled, else not listed as disabled and on by default. */
export function isGateEnabled(
  gate: string,
  version: KubevirtVersion | undefined,
  { listed, disabled }: FeatureGates,
): boolean {
  if (listed.includes(gate)) return true;
  if (disabled.includes(gate)) return false;
  const since = ON_BY_DEFAULT_SINCE[gate];
  return since !== undefined && isAtLeast(version, ...since);
}
