import type { KubevirtRelease, KubevirtVersion } from './kubevirt-version.js';

/** Gates that clients of the VM API depend on, and the release since which they are on by default. */
const ON_SINCE: Record<string, KubevirtVersion> = {
  LiveMigration: '1.3',
  HotplugNICs: '1.4',
  NUMA: '1.4',
  GPU: '1.4',
  VMLiveUpdateFeatures: '1.5',
  VolumeMigration: '1.5',
  VolumesUpdateStrategy: '1.5',
  NetworkBindingPlugins: '1.5',
  VMPersistentState: '1.6',
  Snapshot: '1.9',
  VMExport: '1.9',
  ExpandDisks: '1.9',
  DeclarativeHotplugVolumes: '1.9',
  LiveUpdateNADRef: '1.9',
};

/** The gates of the sandbox's KubeVirt by default, so that every ability can be tried. */
export const DEFAULT_GATES: readonly string[] = [
  'Snapshot',
  'VMExport',
  'ExpandDisks',
  'HotplugVolumes',
  'VMLiveUpdateFeatures',
];

/** Knows which feature gates are on: those in the KubeVirt resource, and those that the release enables by default. */
export class FeatureGates {
  constructor(
    private readonly release: KubevirtRelease,
    readonly listed: readonly string[],
    readonly disabled: readonly string[] = [],
  ) {}

  /** The gates in the sandbox's KubeVirt resource by default: 1.9 needs none. */
  static defaultsOf(release: KubevirtRelease): readonly string[] {
    return release.since('1.9') ? [] : DEFAULT_GATES;
  }

  isOn(gate: string): boolean {
    if (this.listed.includes(gate)) return true;
    if (this.disabled.includes(gate)) return false;
    const since = ON_SINCE[gate];
    return since !== undefined && this.release.since(since);
  }

  /** The imperative requests are used where their gate is listed; otherwise volumes are plugged by editing the VM. */
  get hotplug(): 'imperative' | 'declarative' | 'off' {
    if (this.listed.includes('HotplugVolumes')) return 'imperative';
    return this.isOn('DeclarativeHotplugVolumes') && this.release.since('1.6') ? 'declarative' : 'off';
  }
}
