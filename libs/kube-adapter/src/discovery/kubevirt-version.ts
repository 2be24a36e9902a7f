/** A release of KubeVirt, as far as behaviour depends on it. */
export interface KubevirtVersion {
  readonly major: number;
  readonly minor: number;
}

/** Of `v1.6.2` or `1.6.2-alpha.0`; undefined for anything else, such as a build without a tag. */
export function parseKubevirtVersion(text: string | undefined): KubevirtVersion | undefined {
  const match = /^v?(\d+)\.(\d+)\./.exec(text ?? '');
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/** An unknown version counts as a new one: what it can't do it will say. */
export const isAtLeast = (version: KubevirtVersion | undefined, major: number, minor: number): boolean =>
  version === undefined || version.major > major || (version.major === major && version.minor >= minor);

/** Gates that stand on when nobody lists them. Source: KubeVirt's feature gate table, 1.3 to 1.9. */
const ON_SINCE: Readonly<Record<string, readonly [number, number]>> = {
  Snapshot: [1, 9],
  VMExport: [1, 9],
  ExpandDisks: [1, 9],
  DeclarativeHotplugVolumes: [1, 9],
  HotplugNICs: [1, 4],
  VMLiveUpdateFeatures: [1, 5],
};

/** What the KubeVirt object says about gates. */
export interface FeatureGates {
  readonly listed: readonly string[];
  readonly disabled: readonly string[];
}

/** Whether a gate is in effect: GA, then listed on, then listed off, then Beta. */
export function isGateOn(
  gate: string,
  version: KubevirtVersion | undefined,
  { listed, disabled }: FeatureGates,
): boolean {
  if (listed.includes(gate)) return true;
  if (disabled.includes(gate)) return false;
  const since = ON_SINCE[gate];
  return since !== undefined && isAtLeast(version, ...since);
}
