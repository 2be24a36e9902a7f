import type { Condition } from '../api/kube-object.js';
import type { DataVolumeObject } from '../api/object-types.js';
import { dataVolumeFacts, importProblem } from './data-volume-facts.js';

const dataVolume = (phase: string, ...conditions: Condition[]): DataVolumeObject => ({
  metadata: { name: 'web-root', namespace: 'lab' },
  status: { phase, conditions },
});
const bound = (status: string, reason: string, message?: string): Condition => ({
  type: 'Bound',
  status,
  reason,
  message,
});
const running = (status: string, reason: string, message?: string): Condition => ({
  type: 'Running',
  status,
  reason,
  message,
});

describe('DataVolumes', () => {
  test.each<[string, DataVolumeObject]>([
    ['imported', dataVolume('Succeeded', bound('True', 'Bound'), running('False', 'Completed', 'Import Complete'))],
    ['waiting for the first start', dataVolume('WaitForFirstConsumer', bound('False', 'Pending', 'PVC d Pending'))],
    ['waiting for a populator', dataVolume('PendingPopulation', bound('False', 'Pending', 'PVC d Pending'))],
  ])('need no reason when they are %s', (_state, object) => {
    expect(dataVolumeFacts(object)).toBeUndefined();
    expect(importProblem(object)).toBeUndefined();
  });

  test.each<[string, DataVolumeObject]>([
    // With a CSI driver the target claim is pending until the import is complete.
    ['running', dataVolume('ImportInProgress', bound('False', 'Pending', 'PVC d Pending'), running('True', 'Pod'))],
    ['scheduled', dataVolume('ImportScheduled', bound('True', 'Bound'), running('False', 'ContainerCreating'))],
    ['new', dataVolume('')],
  ])('are being filled while the import is %s', (_state, object) => {
    expect(dataVolumeFacts(object)).toEqual({ reason: 'The disk web-root is being filled.' });
    expect(importProblem(object)).toBeUndefined();
  });

  test.each<[string, DataVolumeObject, string]>([
    ['a fatal error', dataVolume('Failed', running('False', 'Error', 'checksum mismatch')), 'checksum mismatch'],
    [
      'a dead address',
      dataVolume('ImportInProgress', bound('True', 'Bound'), running('False', 'Error', 'got 404.')),
      'got 404.',
    ],
    ['no storage class', dataVolume('', bound('Unknown', 'ErrClaimNotValid', 'no storageClass')), 'no storageClass'],
    ['a quota', dataVolume('', running('False', 'ErrExceededQuota', 'exceeded quota: q')), 'exceeded quota: q'],
    ['an image', dataVolume('ImportScheduled', running('False', 'ImagePullFailed')), 'ImagePullFailed'],
  ])('can not be filled because of %s', (_problem, object, message) => {
    expect(importProblem(object)).toBe(message);
    const sentence = `The disk web-root can't be filled: ${message.replace(/\.$/, '')}.`;
    expect(dataVolumeFacts(object)).toEqual({ reason: sentence });
  });
});
