import type { ResourceDefinition } from '@headgate/kube-sandbox';
import type { KubevirtRelease } from '../kubevirt-version.js';
import { AGE, column, customResource, served } from './resource-builder.js';
import { anything, resource } from './schema-builder.js';

const content = { schema: resource({ 'spec!': anything, status: anything }) };

/** Kinds that a release serves and the simulation only stores. */
export const otherDefinitions = (release: KubevirtRelease): ResourceDefinition[] => [
  customResource(
    'pool.kubevirt.io',
    {
      kind: 'VirtualMachinePool',
      shortNames: ['vmpool', 'vmpools'],
      categories: ['all'],
      namespaced: true,
      statusSubresource: true,
    },
    [...(release.since('1.7') ? ['v1beta1'] : []), 'v1alpha1'].map((version) => served(version, content)),
  ),
  customResource(
    'migrations.kubevirt.io',
    { kind: 'MigrationPolicy', plural: 'migrationpolicies', categories: ['all'], namespaced: false },
    [served('v1alpha1', content)],
  ),
  ...(release.since('1.8') ? ['VirtualMachineBackup', 'VirtualMachineBackupTracker'] : []).map((kind) =>
    customResource('backup.kubevirt.io', { kind, namespaced: true, statusSubresource: true }, [
      served('v1alpha1', { ...content, columns: [column('Phase', '.status.phase'), AGE] }),
    ]),
  ),
  ...(release.since('1.9')
    ? [customResource('plugin.kubevirt.io', { kind: 'Plugin', namespaced: false }, [served('v1alpha1', content)])]
    : []),
];
