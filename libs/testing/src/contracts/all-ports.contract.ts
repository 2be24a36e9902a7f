import type { AbilityName } from '@headgate/domain-contracts';
import type { ContractOptions, OpenHarness } from './backend-harness.js';
import { backendContract } from './backend.contract.js';
import { backupSourceContract, type BackupSourceContractOptions } from './backup-source.contract.js';
import { bootProofContract } from './boot-proof.contract.js';
import { clusterInventoryContract } from './cluster-inventory.contract.js';
import { consoleSourceContract, type ConsoleContractOptions } from './console-source.contract.js';
import { containerFilesContract } from './container-files.contract.js';
import { containerLogsContract } from './container-logs.contract.js';
import { containerTransferContract } from './container-transfer.contract.js';
import { containersContract, type ContainersContractOptions } from './containers.contract.js';
import { diagnosticsContract } from './diagnostics.contract.js';
import { diskBuildsContract } from './disk-builds.contract.js';
import { diskExportContract, type DiskExportContractOptions } from './disk-export.contract.js';
import { diskFilesContract } from './disk-files.contract.js';
import { diskRestoreContract } from './disk-restore.contract.js';
import { diskIngestContract, type DiskIngestContractOptions } from './disk-ingest.contract.js';
import { diskSourceContract, type DiskSourceContractOptions } from './disk-source.contract.js';
import { diskMoveContract } from './disk-move.contract.js';
import { guestControlContract, type GuestControlContractOptions } from './guest-control.contract.js';
import { guestInspectionContract } from './guest-inspection.contract.js';
import { guestPortsContract } from './guest-ports.contract.js';
import { hardwareTogetherContract } from './hardware-together.contract.js';
import { hostResourcesContract } from './host-resources.contract.js';
import { importedImagesContract, type ImagesContractOptions } from './imported-images.contract.js';
import { instanceBackupsContract } from './instance-backups.contract.js';
import { instanceCloningContract } from './instance-cloning.contract.js';
import { instanceEventsContract } from './instance-events.contract.js';
import { instanceHardwareContract, type HardwareContractOptions } from './instance-hardware.contract.js';
import { instanceInventoryContract } from './instance-inventory.contract.js';
import { instanceMigrationContract, type MigrationContractOptions } from './instance-migration.contract.js';
import { instancePlacementContract } from './instance-placement.contract.js';
import { instancePowerContract } from './instance-power.contract.js';
import { instanceProvisioningContract } from './instance-provisioning.contract.js';
import { nodeSchedulingContract } from './node-scheduling.contract.js';
import { resourceMetricsContract } from './resource-metrics.contract.js';
import { instanceSnapshotsContract, type SnapshotContractOptions } from './instance-snapshots.contract.js';
import { instantRestoreContract } from './instant-restore.contract.js';
import { liveDisksContract } from './live-disks.contract.js';
import { twinSourceContract } from './twin-source.contract.js';
import { unavailableAbilityContract } from './unavailable-ability.contract.js';

export interface AllPortsOptions extends ContractOptions {
  readonly consoles: ConsoleContractOptions;
  readonly containers?: ContainersContractOptions;
  readonly migration?: MigrationContractOptions;
  readonly guestControl?: GuestControlContractOptions;
  readonly backupSource?: BackupSourceContractOptions;
  readonly diskExport?: DiskExportContractOptions;
  readonly diskSource?: DiskSourceContractOptions;
  readonly diskIngest?: DiskIngestContractOptions;
  readonly snapshots?: SnapshotContractOptions;
  readonly hardware?: HardwareContractOptions;
  readonly images?: ImagesContractOptions;
  /** Abilities that the backend does not have: they are checked to be refused with a reason. */
  readonly unavailable?: readonly AbilityName[];
  /** Only the suites of these abilities; default all. */
  readonly abilities?: readonly AbilityName[];
}

/** Runs the contract suite of each port over a backend. */
export function allPortsContract(
  adapter: string,
  open: OpenHarness,
  {
    timeoutMs,
    consoles,
    containers,
    migration,
    hardware,
    guestControl,
    backupSource,
    diskExport,
    diskSource,
    diskIngest,
    snapshots,
    images,
    unavailable = [],
    abilities,
  }: AllPortsOptions,
): void {
  const options = timeoutMs === undefined ? {} : { timeoutMs };
  const suites: Readonly<Record<AbilityName, () => void>> = {
    inventory: () => instanceInventoryContract(adapter, open, options),
    power: () => instancePowerContract(adapter, open, options),
    provisioning: () => instanceProvisioningContract(adapter, open, options),
    diskBuilds: () => diskBuildsContract(adapter, open, options),
    hardware: () => {
      instanceHardwareContract(adapter, open, { ...options, ...hardware });
      hardwareTogetherContract(adapter, open, { ...options, ...hardware });
      instancePlacementContract(adapter, open, { ...options, ...hardware });
    },
    hostResources: () => hostResourcesContract(adapter, open, options),
    diskMove: () => diskMoveContract(adapter, open, options),
    migration: () => instanceMigrationContract(adapter, open, { ...options, ...migration }),
    snapshots: () => instanceSnapshotsContract(adapter, open, { ...options, ...snapshots }),
    cloning: () => instanceCloningContract(adapter, open, options),
    images: () => importedImagesContract(adapter, open, { ...options, ...images }),
    containers: () => containersContract(adapter, open, { ...options, ...containers }),
    containerLogs: () => containerLogsContract(adapter, open, options),
    containerFiles: () => containerFilesContract(adapter, open, options),
    containerTransfer: () => containerTransferContract(adapter, open, options),
    consoles: () => consoleSourceContract(adapter, open, { ...options, ...consoles }),
    events: () => instanceEventsContract(adapter, open, options),
    metrics: () => resourceMetricsContract(adapter, open, options),
    guestInfo: () => guestInspectionContract(adapter, open, options),
    guestControl: () => guestControlContract(adapter, open, { ...options, ...guestControl }),
    guestPorts: () => guestPortsContract(adapter, open, options),
    backups: () => instanceBackupsContract(adapter, open, options),
    backupSource: () => backupSourceContract(adapter, open, { ...options, ...backupSource }),
    bootProof: () => bootProofContract(adapter, open, options),
    diskFiles: () => diskFilesContract(adapter, open, options),
    diskRestore: () => diskRestoreContract(adapter, open, options),
    instantRestore: () => instantRestoreContract(adapter, open, options),
    diskExport: () => diskExportContract(adapter, open, { ...options, ...diskExport }),
    diskSource: () => diskSourceContract(adapter, open, { ...options, ...diskSource }),
    diskIngest: () => diskIngestContract(adapter, open, { ...options, ...diskIngest }),
    liveDisks: () => liveDisksContract(adapter, open, options),
    cluster: () => clusterInventoryContract(adapter, open, options),
    nodeScheduling: () => nodeSchedulingContract(adapter, open, options),
    diagnostics: () => diagnosticsContract(adapter, open, options),
    twin: () => twinSourceContract(adapter, open, options),
  };
  backendContract(adapter, open, options);
  for (const [name, suite] of Object.entries(suites) as [AbilityName, () => void][]) {
    if (abilities && !abilities.includes(name)) continue;
    if (unavailable.includes(name)) unavailableAbilityContract(adapter, name, open, options);
    else suite();
  }
}
