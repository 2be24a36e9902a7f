import type { ContainerSpec } from '@headgate/domain-contracts';
import { containerPod, dataClaim } from './container-manifest.js';
import { readRecordedSpec, writeRecordedSpec } from './recorded-spec.js';

const spec: ContainerSpec = {
  ref: { kind: 'ct', context: 'prod', namespace: 'lab', name: 'box' },
  image: 'debian:12',
  cpu: 1,
  memoryBytes: 512 * 1024 ** 2,
  diskBytes: 5 * 1024 ** 3,
  storageClass: '',
  privileged: false,
};
const podOf = (overrides: Partial<ContainerSpec> = {}) =>
  JSON.parse(JSON.stringify(containerPod(spec.ref, 'box-ct-data', { ...spec, ...overrides })));

describe('container objects', () => {
  test('record the spec on the claim, so that the pod can be created again', () => {
    const claim = dataClaim(spec);
    expect(claim.metadata).toMatchObject({
      name: 'box-ct-data',
      labels: { 'svc.dev/kind': 'ct', 'svc.dev/name': 'box' },
    });
    expect(readRecordedSpec(claim.metadata.annotations?.['svc.dev/spec'])).toEqual({
      image: 'debian:12',
      cpu: 1,
      memoryBytes: 512 * 1024 ** 2,
      privileged: false,
    });
    expect(claim.spec).not.toHaveProperty('storageClassName');
  });

  test('mount the volume of an unprivileged container at /data', () => {
    const { containers, initContainers } = podOf().spec;
    expect(containers[0]).toMatchObject({ image: 'debian:12', volumeMounts: [{ name: 'data', mountPath: '/data' }] });
    expect(containers[0].securityContext).toEqual({ privileged: false });
    expect(initContainers).toBeUndefined();
  });

  test('give a privileged container a root on the volume, and a read-only image', () => {
    const { containers, initContainers } = podOf({ privileged: true }).spec;
    expect(containers[0].securityContext).toEqual({ privileged: true, readOnlyRootFilesystem: true });
    expect(containers[0].command.join(' ')).toContain('exec chroot /persist/root');
    expect(initContainers[0]).toMatchObject({
      image: 'debian:12',
      volumeMounts: [{ name: 'data', mountPath: '/persist' }],
    });
  });

  test('give a container no service account token', () => {
    expect(podOf().spec.automountServiceAccountToken).toBe(false);
  });

  test.each([undefined, '', 'no json', '{}', '{"image":1}', '{"image":"a","mem":"much"}'])(
    'do not accept %j as a spec',
    (text) => {
      expect(readRecordedSpec(text)).toBeUndefined();
    },
  );

  test('restore the recorded spec', () => {
    const text = writeRecordedSpec({ ...spec, privileged: true });
    expect(readRecordedSpec(text)).toMatchObject({ privileged: true, image: 'debian:12' });
  });
});
