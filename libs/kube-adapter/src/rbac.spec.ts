import { readFileSync } from 'node:fs';
import {
  backupSourceContract,
  bootProofContract,
  diskMoveContract,
  importedImagesContract,
  instanceHardwareContract,
  instancePowerContract,
  instanceProvisioningContract,
  instanceCloningContract,
  instanceSnapshotsContract,
  containerLogsContract,
} from '@headgate/testing';
import type { SandboxExtension } from '@headgate/kube-sandbox';
import { parse } from 'yaml';
import { BUILD_RBAC_RULES, HANDLER_RBAC_RULES, NODE_RBAC_RULES, RBAC_RULES } from './rbac.js';
import { SandboxHarness, type SandboxHarnessOptions } from './testing/sandbox-harness.contract.js';

const ROLE = 'headgate-vm-service';
const HANDLER_ROLE = 'headgate-handler-metrics';
const handlers = new URL('../../../deploy/kustomize/handler-metrics/role.yaml', import.meta.url);
const NODE_ROLE = 'headgate-node-scheduling';
const nodes = new URL('../../../deploy/kustomize/node-scheduling/cluster-role.yaml', import.meta.url);
const manifest = new URL('../../../deploy/kustomize/cluster-role.yaml', import.meta.url);

describe('RBAC', () => {
  test('is the same in deploy/kustomize as in the code', () => {
    expect(parse(readFileSync(manifest, 'utf8'))).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: ROLE },
      rules: RBAC_RULES,
    });
  });

  test('has the permissions for builds of disks in a role of their own', () => {
    const builds = new URL('../../../deploy/kustomize/disk-builds.yaml', import.meta.url);
    expect(parse(readFileSync(builds, 'utf8'))).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'headgate-disk-builds' },
      rules: BUILD_RBAC_RULES,
    });
    expect(RBAC_RULES.flatMap(({ apiGroups }) => apiGroups)).not.toContain('batch');
    expect(BUILD_RBAC_RULES.flatMap(({ verbs, resources }) => [...verbs, ...resources])).not.toContain('*');
  });

  test('has the permissions for virt-handler in a role of the namespace of KubeVirt', () => {
    const metadata = { name: HANDLER_ROLE, namespace: 'kubevirt' };
    expect(parse(readFileSync(handlers, 'utf8'))).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: HANDLER_RBAC_RULES,
    });
    const binding = new URL('../../../deploy/kustomize/handler-metrics/role-binding.yaml', import.meta.url);
    expect(parse(readFileSync(binding, 'utf8'))).toMatchObject({
      metadata,
      roleRef: { kind: 'Role', name: HANDLER_ROLE },
      subjects: [{ kind: 'ServiceAccount', name: ROLE, namespace: 'headgate' }],
    });
    expect(RBAC_RULES.flatMap(({ resources }) => resources)).not.toContain('pods/proxy');
  });

  test('has the permission to cordon nodes in a role of its own', () => {
    expect(parse(readFileSync(nodes, 'utf8'))).toEqual({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NODE_ROLE },
      rules: NODE_RBAC_RULES,
    });
    const binding = new URL('../../../deploy/kustomize/node-scheduling/cluster-role-binding.yaml', import.meta.url);
    expect(parse(readFileSync(binding, 'utf8'))).toMatchObject({
      roleRef: { kind: 'ClusterRole', name: NODE_ROLE },
      subjects: [{ kind: 'ServiceAccount', name: ROLE, namespace: 'headgate' }],
    });
    const ofNodes = RBAC_RULES.filter(({ resources, apiGroups }) => resources.includes('nodes') && apiGroups[0] === '');
    expect(ofNodes.flatMap(({ verbs }) => verbs)).toEqual(['get', 'list']);
  });

  test('has no wildcard, and does not let the service get Secrets', () => {
    const words = RBAC_RULES.flatMap(({ apiGroups, resources, verbs }) => [...apiGroups, ...resources, ...verbs]);
    expect(words).not.toContain('*');
    const secrets = RBAC_RULES.find(({ resources }) => resources.includes('secrets'));
    expect(secrets?.verbs).not.toContain('get');
  });
});

const loadRoles = (...files: readonly URL[]): SandboxExtension => ({
  install: ({ store }) => void store.load(files.map((file) => parse(readFileSync(file, 'utf8')))),
});

/** A sandbox that enforces exactly the role of the manifests. */
const open = async (options: SandboxHarnessOptions = {}): Promise<SandboxHarness> => {
  return SandboxHarness.open({
    sandbox: {
      rbac: { headgate: [ROLE] },
      extensions: [loadRoles(manifest)],
    },
    backend: { nodeScheduling: false },
    simulation: {
      cluster: { workloadUpdateMethods: ['LiveMigrate'], nodes: [{ name: 'node-a' }, { name: 'node-b' }] },
    },
    user: 'headgate',
    ...options,
  });
};

instancePowerContract('kube with the least permissions', open, { timeoutMs: 60_000 });
instanceProvisioningContract('kube with the least permissions', open, { timeoutMs: 60_000 });
instanceSnapshotsContract('kube with the least permissions', open, { timeoutMs: 60_000 });
instanceCloningContract('kube with the least permissions', open, { timeoutMs: 60_000 });
importedImagesContract('kube with the least permissions', open, { timeoutMs: 60_000, copies: true });
importedImagesContract('kube with the least permissions and uploads', () => open({ uploads: true }), {
  timeoutMs: 60_000,
  copies: true,
});
containerLogsContract('kube with the least permissions', open, { timeoutMs: 60_000 });
instanceHardwareContract('kube with the least permissions', open, { timeoutMs: 60_000 });
diskMoveContract('kube with the least permissions', open, { timeoutMs: 60_000 });
backupSourceContract('kube with the least permissions', open, { timeoutMs: 60_000, hasCheckpoints: false });
bootProofContract('kube with the least permissions', open, { timeoutMs: 60_000 });

describe('the least permissions', () => {
  test('are enough for consoles, events, metrics, guest information, containers, migration, nodes and the doctor', async () => {
    const harness = await open();
    const { backend } = harness;
    const checks = await backend.require('diagnostics').checks();
    expect(checks.filter(({ status }) => status !== 'ok')).toEqual([]);
    const vm = await harness.givenVm('Running');
    expect(await backend.require('events').recent(vm, 50)).not.toEqual([]);
    await harness.recorder.untilVm(vm, ({ agentConnected }) => agentConnected);
    expect((await backend.require('guestInfo').info(vm)).os.id).not.toBe('');
    const { instances, nodes } = await backend.require('metrics').read();
    expect(instances.map((reading) => reading.ref)).toContainEqual(vm);
    expect(nodes).not.toEqual([]);
    for (const stream of [
      await backend.require('consoles').openVnc(vm),
      (await backend.require('consoles').openSerial(vm)).stream,
    ]) {
      stream.destroy();
    }
    const ref = harness.freshContainer();
    const size = { cpu: 1, memoryBytes: 2 ** 29, diskBytes: 2 ** 32, storageClass: 'ceph-block', privileged: true };
    const containers = backend.require('containers');
    await containers.create({ ref, image: 'debian:12', ...size });
    await harness.recorder.until(() =>
      [...harness.recorder.instances.values()].some((i) => 'phase' in i && i.phase === 'Running'),
    );
    (await backend.require('consoles').openShell(ref, { columns: 80, rows: 24 })).stream.destroy();
    const log = await backend.require('containerLogs').open(ref, { follow: true }, new AbortController().signal);
    log.on('error', () => undefined).destroy();
    expect(await backend.require('events').recent(ref, 50)).not.toEqual([]);
    await containers.stop(ref);
    await containers.delete(ref);
    expect((await backend.require('cluster').storage()).storageClass).toBe('ceph-block');
    expect((await backend.require('cluster').instancetypes()).instancetypes.length).toBeGreaterThan(0);
    await backend.require('provisioning').delete(vm);
    await harness.close();
  }, 60_000);

  test.each([
    ['with the role of nodes', [ROLE, NODE_ROLE], 'ok'],
    ['without it', [ROLE], 'warning'],
  ])('let the service cordon and drain nodes %s or name the role', async (_what, roles, status) => {
    const harness = await SandboxHarness.open({
      sandbox: { rbac: { headgate: roles }, extensions: [loadRoles(manifest, nodes)] },
      user: 'headgate',
    });
    try {
      const scheduling = harness.backend.require('nodeScheduling');
      const checks = await harness.backend.require('diagnostics').checks();
      const found = checks.find(({ name }) => name === 'node-scheduling');
      expect(found?.status).toBe(status);
      expect((await scheduling.drainOf('node-a')).instances).toEqual([]);
      if (status === 'ok') return void expect(await scheduling.setSchedulable('node-a', false)).toBe(true);
      expect(found?.message).toMatch(/may not patch nodes/);
      await expect(scheduling.setSchedulable('node-a', false)).rejects.toMatchObject({
        code: 'BACKEND_FORBIDDEN',
        message: expect.stringMatching(/deploy\/kustomize\/node-scheduling/),
      });
    } finally {
      await harness.close();
    }
  });

  test.each([
    ['with the role of virt-handler', [ROLE, `kubevirt/${HANDLER_ROLE}`], 'ok'],
    ['without it', [ROLE], 'warning'],
  ])('let the service read disk and network of VMs %s or report the missing right', async (_what, roles, status) => {
    const harness = await SandboxHarness.open({
      sandbox: { rbac: { headgate: roles }, extensions: [loadRoles(manifest, handlers)] },
      user: 'headgate',
      backend: { handlerMetrics: true },
    });
    try {
      const vm = await harness.givenVm('Running');
      const { instances } = await harness.backend.require('metrics').read();
      const diskReadBytes = status === 'ok' ? expect.any(Number) : null;
      expect(instances).toEqual([
        expect.objectContaining({ ref: vm, cpuMillicores: expect.any(Number), diskReadBytes }),
      ]);
      const checks = await harness.backend.require('diagnostics').checks();
      const found = checks.find(({ name }) => name === 'handler-metrics');
      expect(found?.status).toBe(status);
      if (status !== 'ok') expect(found?.message).toMatch(/may not get pods\/proxy in the namespace kubevirt/);
    } finally {
      await harness.close();
    }
  });
});
