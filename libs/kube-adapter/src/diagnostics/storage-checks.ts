import type { DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { canSnapshot, defaultClass, snapshotClasses, storageClasses } from '../cluster/storage-classes.js';
import { check, type CheckOutcome } from './check.js';

/** Whether disks can be made, grown and snapshotted. */
export function storageChecks(api: KubeApi): Promise<DiagnosticCheck>[] {
  const classes = storageClasses(api);
  return [
    check('storage-class', async (): Promise<CheckOutcome> => {
      const preferred = defaultClass(await classes);
      if (preferred) return { status: 'ok', message: `New disks go to the storage class ${preferred.metadata.name}.` };
      return {
        status: 'error',
        message: 'There is no default storage class; new disks stay pending.',
        remedy: 'Mark one as default.',
      };
    }),
    check('storage-expansion', async (): Promise<CheckOutcome> => {
      if ((await classes).some(({ allowVolumeExpansion }) => allowVolumeExpansion)) {
        return { status: 'ok', message: 'Disks can be grown.' };
      }
      return {
        status: 'warning',
        message: 'No storage class lets disks grow.',
        remedy: 'Set allowVolumeExpansion on one.',
      };
    }),
    check('snapshot-class', async (): Promise<CheckOutcome> => {
      const snapshots = await snapshotClasses(api);
      if (!snapshots) {
        return {
          status: 'warning',
          message: 'The CSI snapshot controller is not installed.',
          remedy: 'Install it to have snapshots.',
        };
      }
      if (canSnapshot(defaultClass(await classes), snapshots))
        return { status: 'ok', message: 'Disks can be snapshotted.' };
      return {
        status: 'warning',
        message: 'No volume snapshot class serves the default storage class.',
        remedy: 'Create a VolumeSnapshotClass whose driver is the provisioner of that class.',
      };
    }),
  ];
}
