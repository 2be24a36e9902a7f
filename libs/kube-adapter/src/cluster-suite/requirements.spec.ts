import { ABILITY_NAMES } from '@headgate/domain-contracts';
import { selectSuites, UNAVAILABLE, type SuiteSelection } from './requirements.js';
import { SuiteSandbox } from './testing/suite-sandbox.contract.js';

const GIVEN = { imageUrl: 'https://images.example/d.img', containerDisk: 'fedora', storageClass: 'topolvm' };

describe('the suites that a cluster can run', () => {
  let cluster: SuiteSandbox;
  afterEach(() => cluster.close());

  const select = async (
    options?: Parameters<typeof SuiteSandbox.open>[0],
    settings: object = GIVEN,
  ): Promise<SuiteSelection> => {
    cluster = await SuiteSandbox.open(options);
    return selectSuites(cluster.cluster(settings));
  };
  const reasonFor = ({ missing }: SuiteSelection, suite: string): string =>
    missing
      .filter(({ suites }) => suites.some((name) => name === suite))
      .map(({ message, remedy }) => `${message} ${remedy}`)
      .join(' ');

  test('are all, where nothing is missing', async () => {
    const selection = await select();
    expect(selection).toMatchObject({ isUsable: true, missing: [], canChooseNode: true, hotplugsNics: true });
    expect(selection.abilities).toEqual(ABILITY_NAMES);
    expect(selection.abilities).toEqual(expect.arrayContaining([...UNAVAILABLE]));
  });

  test.each([true, false])('check dedicated CPUs where a node reserves them: %s', async (cpuManager) => {
    const selection = await select({ cluster: { nodes: [{ name: 'a' }, { name: 'b', cpuManager }] } });
    expect(selection).toMatchObject({ reservesCpus: cpuManager, missing: [] });
  });

  test('are those that were asked for', async () => {
    expect((await select({}, { ...GIVEN, suites: ['power', 'events'] })).abilities).toEqual(['power', 'events']);
  });

  test.each([
    ['metrics', 'metrics', /metrics-server/],
    ['multus', 'hardware', /Multus/],
    ['snapshots', 'snapshots', /./],
    ['cdi', 'images', /Install CDI/],
  ] as const)('leave out, without %s, those of %s', async (part, suite, reason) => {
    const selection = await select({ without: [part] });
    expect(selection.isUsable).toBe(true);
    expect(selection.abilities).not.toContain(suite);
    expect(selection.abilities).toContain('power');
    expect(reasonFor(selection, suite)).toMatch(reason);
  });

  test.each([
    ['kubevirt', { without: ['kubevirt'] }, /Install KubeVirt/],
    ['KVM', { cluster: { nodes: [{ name: 'a', kvm: false }] } }, /Enable virtualization/],
  ] as const)('are none without %s', async (_part, options, remedy) => {
    const selection = await select(options as never);
    expect(selection).toMatchObject({ isUsable: false, abilities: [] });
    expect(selection.missing.map((one) => one.remedy).join(' ')).toMatch(remedy);
  });

  test('need a second node of the same CPU vendor for each node to migrate', async () => {
    const nodes = [{ name: 'a' }, { name: 'b' }, { name: 'c', cpuVendor: 'AMD' as const }];
    const selection = await select({ cluster: { nodes } });
    expect(selection.hotplugsNics).toBe(false);
    expect(selection.abilities).not.toContain('migration');
    expect(reasonFor(selection, 'migration')).toMatch(/Intel and AMD.*kubectl cordon/);
    cluster.sandbox.store.patch('nodes', { name: 'c' }, (node) => {
      Object.assign(node, { spec: { unschedulable: true } });
    });
    expect(await selectSuites(cluster.cluster(GIVEN))).toMatchObject({ missing: [], hotplugsNics: true });
  });

  test('name the option of the command line that is missing', async () => {
    const selection = await select({}, {});
    for (const [suite, option] of [
      ['images', '--image-url'],
      ['diskExport', '--image-url'],
      ['guestInfo', '--container-disk'],
      ['diskMove', '--storage-class'],
    ] as const) {
      expect(reasonFor(selection, suite)).toContain(option);
      expect(selection.abilities).not.toContain(suite);
    }
  });

  test.each(['ceph-block', 'nowhere'])('refuse %s as the second storage class', async (storageClass) => {
    const selection = await select({}, { ...GIVEN, storageClass });
    expect(reasonFor(selection, 'diskMove')).toContain(`${storageClass} is not a second storage class`);
  });

  test('leave out what the release or its feature gates do not have', async () => {
    const old = await select({ kubevirtVersion: '1.3' });
    expect(old).toMatchObject({ isUsable: true, canChooseNode: false });
    expect(old.abilities).not.toContain('diskMove');
    await cluster.close();
    const gateless = await select({ kubevirtVersion: '1.3', cluster: { featureGates: ['HotplugVolumes'] } });
    expect(reasonFor(gateless, 'snapshots')).toContain('Snapshot');
    expect(gateless.abilities).not.toContain('diskExport');
  });
});
