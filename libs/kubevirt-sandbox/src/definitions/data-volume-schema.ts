import type { StructuralSchema } from '@headgate/kube-sandbox';
import {
  anything,
  flag,
  integer,
  labels,
  list,
  marker,
  object,
  oneOf,
  quantities,
  text,
  time,
} from './schema-builder.js';

const reference = object({ apiGroup: text, 'kind!': text, 'name!': text, namespace: text });

const claimFields: Record<string, StructuralSchema> = {
  accessModes: list(text),
  dataSource: object({ apiGroup: text, 'kind!': text, 'name!': text }),
  dataSourceRef: reference,
  resources: object({ limits: quantities, requests: quantities }),
  selector: object({ matchExpressions: list(anything), matchLabels: labels }),
  storageClassName: text,
  volumeMode: text,
  volumeName: text,
};

const credentials = { secretRef: text, certConfigMap: text };

/** The sources of a DataVolume. */
export const dataVolumeSource = object({
  blank: marker,
  gcs: object({ secretRef: text, 'url!': text }),
  http: object({
    ...credentials,
    checksum: text,
    extraHeaders: list(text),
    insecureSkipVerify: flag,
    secretExtraHeaders: list(text),
    'url!': text,
  }),
  imageio: object({ ...credentials, 'diskId!': text, insecureSkipVerify: flag, 'url!': text }),
  pvc: object({ 'name!': text, 'namespace!': text }),
  registry: object({ ...credentials, imageStream: text, platform: anything, pullMethod: text, url: text }),
  s3: object({ ...credentials, 'url!': text }),
  snapshot: object({ 'name!': text, 'namespace!': text }),
  upload: marker,
  vddk: anything,
});

/** `spec` of a DataVolume, and of the templates in a VM. */
export const dataVolumeSpec = object({
  checkpoints: list(object({ 'current!': text, 'previous!': text })),
  contentType: oneOf('kubevirt', 'archive'),
  finalCheckpoint: flag,
  preallocation: flag,
  priorityClassName: text,
  pvc: object({ ...claimFields, volumeAttributesClassName: text }),
  serviceAccountName: text,
  source: dataVolumeSource,
  sourceRef: object({ 'kind!': text, 'name!': text, namespace: text }),
  storage: object(claimFields),
});

/** CDI's conditions have a heartbeat, unlike KubeVirt's. */
export const cdiConditions = list(
  object({
    lastHeartbeatTime: time,
    lastTransitionTime: time,
    message: text,
    reason: text,
    'status!': text,
    'type!': text,
  }),
);

export const dataVolumeStatus = object({
  claimName: text,
  conditions: cdiConditions,
  phase: text,
  progress: text,
  restartCount: { ...integer, format: 'int32' },
});
