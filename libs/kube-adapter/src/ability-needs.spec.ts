import { ABILITY_NAMES } from '@headgate/domain-contracts';
import { ABILITY_NEEDS, obstacleTo, type AbilityNeeds } from './ability-needs.js';
import { ClusterFacts } from './discovery/cluster-facts.js';

const KUBEVIRT = 'kubevirt.io/v1';
const CDI = 'cdi.kubevirt.io/v1beta1';

const groupsOf = (...served: string[]) => ({
  groups: [{ name: '', versions: served.map((groupVersion) => ({ groupVersion })) }],
});
const factsOf = (...served: string[]): ClusterFacts => new ClusterFacts(groupsOf(...served), undefined);

const missingIn = (facts: ClusterFacts): string[] =>
  ABILITY_NAMES.filter((name) => obstacleTo(name, facts, 'lab') !== undefined);

describe('the needs of abilities', () => {
  test('are declared for each ability', () => {
    expect(Object.keys(ABILITY_NEEDS).sort()).toEqual([...ABILITY_NAMES].sort());
    const { cloning, ...others } = ABILITY_NEEDS;
    // @ts-expect-error a record that forgets an ability does not compile
    const forgetful: AbilityNeeds = others;
    expect({ ...forgetful, cloning }).toEqual(ABILITY_NEEDS);
  });

  test('leave a cluster without KubeVirt its containers, nodes and images', () => {
    const facts = factsOf(CDI);
    const missing = new Set(missingIn(facts));
    expect(ABILITY_NAMES.filter((name) => !missing.has(name))).toEqual([
      'inventory',
      'images',
      'containers',
      'containerLogs',
      'containerFiles',
      'containerTransfer',
      'consoles',
      'events',
      'metrics',
      'guestControl',
      'cluster',
      'nodeScheduling',
      'diagnostics',
    ]);
    expect(new Set([...missing].map((name) => obstacleTo(name as 'power', facts, 'lab')))).toEqual(
      new Set(['lab has no KubeVirt: the API kubevirt.io/v1 is not served.']),
    );
  });

  test('name the component that is missing', () => {
    const withoutCdi = factsOf(KUBEVIRT);
    expect(missingIn(withoutCdi)).toEqual(['diskMove', 'images', 'backupSource', 'bootProof']);
    expect(obstacleTo('images', withoutCdi, 'lab')).toBe(
      'Importing an image needs CDI (containerized-data-importer), which is not installed in this cluster.',
    );
    expect(obstacleTo('diskMove', withoutCdi, 'lab')).toBe(
      'Moving a disk needs CDI (containerized-data-importer), which is not installed in this cluster.',
    );
    expect(obstacleTo('backupSource', withoutCdi, 'lab')).toBe(
      "Backups need KubeVirt's snapshots: enable its feature gate Snapshot.",
    );
    const gates = (...featureGates: string[]): ClusterFacts =>
      new ClusterFacts(groupsOf(KUBEVIRT, 'snapshot.kubevirt.io/v1beta1', 'export.kubevirt.io/v1beta1'), {
        metadata: {},
        spec: { configuration: { developerConfiguration: { featureGates } } },
        status: { observedKubeVirtVersion: 'v1.8.0' },
      });
    expect(obstacleTo('backupSource', gates('Snapshot'), 'lab')).toBe(
      "Backups need KubeVirt's exports: enable its feature gate VMExport.",
    );
    expect(obstacleTo('backupSource', gates('Snapshot', 'VMExport'), 'lab')).toBeUndefined();
    expect(obstacleTo('backups', factsOf(KUBEVIRT, 'backup.kubevirt.io/v1alpha1'), 'lab')).toMatch(
      /deletes the checkpoint that it is based on/,
    );
  });

  test('are not judged while the cluster is unknown', () => {
    for (const name of ABILITY_NAMES) expect(obstacleTo(name, undefined, 'lab')).toBeUndefined();
  });
});
