import { conditionOf, type Condition, type KubeObject } from '../api/kube-object.js';
import {
  isAtLeast,
  isGateEnabled,
  parseKubevirtVersion,
  type FeatureGates,
  type KubevirtVersion,
} from './kubevirt-version.js';

export interface ApiGroups {
  readonly groups?: readonly {
    readonly name: string;
    readonly versions: readonly { readonly groupVersion: string }[];
  }[];
}

/** The devices that VMs may have, by the names of the resources by which nodes offer them. */
export interface PermittedHostDevices {
  readonly pciHostDevices?: readonly { readonly pciVendorSelector?: string; readonly resourceName: string }[];
  readonly mediatedDevices?: readonly { readonly mdevNameSelector?: string; readonly resourceName: string }[];
  readonly usb?: readonly {
    readonly resourceName: string;
    readonly selectors?: readonly { readonly vendor?: string; readonly product?: string }[];
  }[];
}

export interface KubevirtObject extends KubeObject {
  readonly spec?: {
    readonly configuration?: {
      readonly developerConfiguration?: {
        readonly featureGates?: readonly string[];
        readonly disabledFeatureGates?: readonly string[];
        readonly useEmulation?: boolean;
        /** Virtual CPUs for each CPU that a launcher requests. */
        readonly cpuAllocationRatio?: number;
      };
      readonly vmRolloutStrategy?: string;
      readonly network?: { readonly defaultNetworkInterface?: string };
      readonly permittedHostDevices?: PermittedHostDevices;
    };
    readonly workloadUpdateStrategy?: { readonly workloadUpdateMethods?: readonly string[] };
  };
  readonly status?: {
    readonly phase?: string;
    readonly observedKubeVirtVersion?: string;
    readonly defaultArchitecture?: string;
    readonly conditions?: readonly Condition[];
  };
}

/** Why images can't be imported without CDI. */
export const NEEDS_CDI =
  'Importing an image needs CDI (containerized-data-importer), which is not installed in this cluster.';

/** Why backups can't be proved without CDI. */
export const PROOF_NEEDS_CDI =
  'A proof copies the disks with CDI (containerized-data-importer), which is not installed in this cluster.';

/** The installed components of a cluster, their versions and their settings. */
export class ClusterFacts {
  private readonly served: ReadonlySet<string>;
  readonly version: KubevirtVersion | undefined;

  /** @param kubevirt the KubeVirt object, when there is one and the account may read it */
  constructor(
    groups: ApiGroups,
    readonly kubevirt: KubevirtObject | undefined,
  ) {
    this.served = new Set(groups.groups?.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion)));
    this.version = parseKubevirtVersion(kubevirt?.status?.observedKubeVirtVersion);
  }

  /** @param apiVersion such as `cdi.kubevirt.io/v1beta1` */
  serves(apiVersion: string): boolean {
    return this.served.has(apiVersion);
  }

  servesGroup(group: string): boolean {
    for (const apiVersion of this.served) if (apiVersion.startsWith(`${group}/`)) return true;
    return false;
  }

  get hasKubevirt(): boolean {
    return this.serves('kubevirt.io/v1');
  }

  get hasCdi(): boolean {
    return this.serves('cdi.kubevirt.io/v1beta1');
  }

  get isDeployed(): boolean {
    const { phase, conditions } = this.kubevirt?.status ?? {};
    return phase === 'Deployed' && conditionOf(conditions, 'Available')?.status !== 'False';
  }

  isGateEnabled(name: string): boolean {
    return isGateEnabled(name, this.version, this.gates);
  }

  isAtLeast(major: number, minor: number): boolean {
    return isAtLeast(this.version, major, minor);
  }

  /** Whether KubeVirt applies changes of a VM to its running guest. */
  get rollsOutLive(): boolean {
    const strategy =
      this.kubevirt?.spec?.configuration?.vmRolloutStrategy ?? (this.isAtLeast(1, 6) ? 'LiveUpdate' : 'Stage');
    return strategy === 'LiveUpdate' && this.isGateEnabled('VMLiveUpdateFeatures');
  }

  /** The architecture of new guests unless a VM names another. */
  get defaultArchitecture(): string {
    return this.kubevirt?.status?.defaultArchitecture ?? 'amd64';
  }

  private get gates(): FeatureGates {
    const { featureGates = [], disabledFeatureGates = [] } =
      this.kubevirt?.spec?.configuration?.developerConfiguration ?? {};
    return { listed: featureGates, disabled: disabledFeatureGates };
  }
}
