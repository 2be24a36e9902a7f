import type { KubeObject } from '@headgate/kube-sandbox';
import type { Condition } from './condition.js';

export interface ClaimRequest {
  accessModes?: string[];
  storageClassName?: string;
  volumeMode?: string;
  volumeName?: string;
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  dataSource?: { apiGroup?: string; kind: string; name: string };
  dataSourceRef?: { apiGroup?: string; kind: string; name: string; namespace?: string };
}

export interface DataVolumeSource {
  blank?: object;
  http?: { url: string };
  registry?: { url?: string; imageStream?: string };
  pvc?: { namespace: string; name: string };
  snapshot?: { namespace: string; name: string };
  upload?: object;
  s3?: { url: string };
  gcs?: { url: string };
  imageio?: { url: string; diskId: string };
  vddk?: object;
}

export interface DataVolumeSpec {
  source?: DataVolumeSource;
  sourceRef?: { kind: string; name: string; namespace?: string };
  storage?: ClaimRequest;
  pvc?: ClaimRequest;
  contentType?: string;
  preallocation?: boolean;
}

export interface DataVolumeStatus {
  claimName?: string;
  phase?: string;
  progress?: string;
  restartCount?: number;
  conditions?: Condition[];
}

export interface DataVolume extends KubeObject {
  spec: DataVolumeSpec;
  status?: DataVolumeStatus;
}

export interface DataSource extends KubeObject {
  spec: { source: Pick<DataVolumeSource, 'pvc' | 'snapshot'> };
}
