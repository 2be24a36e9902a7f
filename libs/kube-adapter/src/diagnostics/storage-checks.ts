import type { DiagnosticCheck } from '@headgate/domain-contracts';
import type { KubeApi } from '../api/kube-api.js';
import { canSnapshot, defaultClass, snapshotClasses, storageClasses } from '../cluster/storage-classes.js';
import { check, type CheckOutcome } from './check.js';

/** Whether disks can be created, expanded and snapshotted. */
export function storageChecks(api: KubeApi): Promise<DiagnosticCheck>[] {
  const classes = storageClasses(api);
  return [
    check('storage-class', async (): Promise<CheckOutcome> => {
      const byDefault = defaultClass(await classes);
      if (byDefault) return { status: 'ok', message: `New disks use the storage class ${byDefault.metadata.name}.` };
      return {
        status: 'error',
        message: 'There is no default storage class; new disks stay pending.',
        remedy: 'Mark a storage class as the default.',
      };
    }),
    check('storage-expansion', async (): Promise<CheckOutcome> => {
      if ((await classes).some(({ allowVolumeExpansion }) => allowVolumeExpansion)) {
        return { status: 'ok', message: 'Disks can be expanded.' };
      }
      return {
        status: 'warning',
        message: 'No storage class allows disks to be expanded.',
        remedy: 'Set allowVolumeExpansion on a storage class.',
      };
    }),
    check('snapshot-class', async (): Promise<CheckOutcome> => {
      const snapshots = await snapshotClasses(api);
      if (!snapshots) {
        return {
          status: 'warning',
          message: 'The CSI snapshot controller is not installed.',
          remedy: 'Install it to get snapshots.',
        };
      }
      if (canSnapshot(defaultClass(await classes), snapshots))
        return { status: 'ok', message: 'Disks can be snapshotted.' };
      return {
        status: 'warning',
        message: 'No volume snapshot class has the driver of the default storage class.',
        remedy: 'Create a VolumeSnapshotClass whose driver is the provisioner of that storage class.',
      };
    }),
  ];
}
