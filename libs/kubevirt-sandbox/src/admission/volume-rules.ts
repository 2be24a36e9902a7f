import type { StatusCause } from '@headgate/kube-sandbox';
import type { CloudInitSource, VmiSpec, Volume } from '../types/virtual-machine-instance.js';
import { duplicateNames, invalidValue, requiredValue } from './cause.js';

const INLINE_LIMIT = 2048;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Validates `volumes`. `hostDisks`: files of the node may be used as disks. */
export function volumeCauses({ volumes = [] }: VmiSpec, path: string, hostDisks: boolean): StatusCause[] {
  const here = `${path}.volumes`;
  return [
    ...duplicateNames(here, volumes),
    ...volumes.flatMap((volume, index) => [
      ...sourceCauses(volume, `${here}[${index}]`, hostDisks),
      ...cloudInitCauses(volume, `${here}[${index}]`),
    ]),
  ];
}

function sourceCauses(volume: Volume, path: string, hostDisks: boolean): StatusCause[] {
  const sources = Object.keys(volume).filter((key) => key !== 'name');
  if (sources.length !== 1) return [invalidValue(path, `${path} must have exactly one source type set`)];
  if (volume.dataVolume && !volume.dataVolume.name) {
    return [requiredValue(`${path}.name`, "DataVolume 'name' must be set")];
  }
  if (volume.hostDisk && !hostDisks) return [invalidValue(path, 'HostDisk feature gate is not enabled')];
  return [];
}

function cloudInitCauses(volume: Volume, path: string): StatusCause[] {
  const kind = volume.cloudInitNoCloud ? 'cloudInitNoCloud' : 'cloudInitConfigDrive';
  const source = volume[kind];
  if (!source) return [];
  const here = `${path}.${kind}`;
  return [...countCauses(source, here), ...sizeCauses(source, here, kind)];
}

function countCauses(source: CloudInitSource, path: string): StatusCause[] {
  const user = [source.userData, source.userDataBase64, source.secretRef?.name].filter(Boolean).length;
  const network = [source.networkData, source.networkDataBase64, source.networkDataSecretRef?.name].filter(
    Boolean,
  ).length;
  if (user > 1) return [invalidValue(path, `${path} must have only one userdatasource set.`)];
  if (network > 1) return [invalidValue(path, `${path} must have only one networkdata source set.`)];
  if (user + network === 0) {
    return [invalidValue(path, `${path} must have at least one userdatasource or one networkdatasource set.`)];
  }
  return [];
}

function sizeCauses(source: CloudInitSource, path: string, kind: string): StatusCause[] {
  const parts = [
    ['userdata', 'userData', 'userDataBase64', 'UserDataSecretRef'],
    ['networkdata', 'networkData', 'networkDataBase64', 'NetworkDataSecretRef'],
  ] as const;
  return parts.flatMap(([word, plain, encoded, remedy]) => {
    const base64 = source[encoded];
    if (base64 && !BASE64.test(base64)) {
      // The webhook repeats the end of the path.
      const message = `${path}.${encoded}.${kind}.${encoded} is not a valid base64 value.`;
      return [invalidValue(`${path}.${encoded}`, message)];
    }
    const bytes = Buffer.byteLength(source[plain] ?? Buffer.from(base64 ?? '', 'base64'));
    if (bytes <= INLINE_LIMIT) return [];
    const message = `${path} ${word} exceeds ${INLINE_LIMIT} byte limit. Should use ${remedy} for larger data.`;
    return [invalidValue(path, message)];
  });
}
