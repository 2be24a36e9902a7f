export const KUBEVIRT_VERSIONS = ['1.3', '1.4', '1.5', '1.6', '1.6.5', '1.7', '1.7.4', '1.8', '1.9'] as const;

/**
 * The KubeVirt release whose behavior is simulated, as `major.minor` or, where a patch release matters,
 * `major.minor.patch`.
 */
export type KubevirtVersion = (typeof KUBEVIRT_VERSIONS)[number];

export const LATEST_KUBEVIRT: KubevirtVersion = '1.9';

/**
 * The newest simulated release that is not newer than one of a cluster, such as `v1.6.2`; the oldest for an older one.
 * Undefined for a text that names no release.
 */
export function nearestRelease(text: string): KubevirtVersion | undefined {
  const wanted = /^v?(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(text)
    ?.slice(1)
    .map((part = '0') => Number(part));
  if (!wanted) return undefined;
  const isNotNewer = (version: KubevirtVersion): boolean => {
    const parts = version.split('.').map(Number);
    const index = wanted.findIndex((part, at) => part !== (parts[at] ?? 0));
    return index < 0 || (parts[index] ?? 0) < wanted[index]!;
  };
  return KUBEVIRT_VERSIONS.filter(isNotNewer).at(-1) ?? KUBEVIRT_VERSIONS[0];
}

/** The releases differ in details; the code asks `release.since('1.6')` where one of them matters. */
export class KubevirtRelease {
  constructor(readonly version: KubevirtVersion = LATEST_KUBEVIRT) {}

  since(version: KubevirtVersion): boolean {
    return KUBEVIRT_VERSIONS.indexOf(this.version) >= KUBEVIRT_VERSIONS.indexOf(version);
  }

  /** `v1.9.0` */
  get tag(): string {
    return this.version.split('.').length === 3 ? `v${this.version}` : `v${this.version}.0`;
  }

  /** The CDI release of about the same time. */
  get cdiTag(): string {
    return {
      '1.3': 'v1.60.3',
      '1.4': 'v1.61.1',
      '1.5': 'v1.62.0',
      '1.6': 'v1.63.1',
      '1.6.5': 'v1.63.1',
      '1.7': 'v1.64.0',
      '1.7.4': 'v1.64.0',
      '1.8': 'v1.65.0',
      '1.9': 'v1.66.0',
    }[this.version];
  }

  /** Whether the condition RestartRequired is removed when the change that caused it is reverted. */
  get clearsRestartRequired(): boolean {
    return this.version === '1.6.5' || this.since('1.7.4');
  }

  /** Whether a client can ask for a screen without taking it over from another one. */
  get preservesScreenSessions(): boolean {
    return this.version === '1.6.5' || this.since('1.7');
  }

  /** The part of a volume that CDI reserves for the file system. */
  get filesystemOverhead(): string {
    return this.since('1.6') ? '0.06' : '0.055';
  }

  /** The finalizer that delays the deletion of a VMI until its guest has ended. */
  get vmiFinalizer(): string {
    return this.since('1.7') ? 'kubevirt.io/foregroundDeleteVirtualMachine' : 'foregroundDeleteVirtualMachine';
  }
}
