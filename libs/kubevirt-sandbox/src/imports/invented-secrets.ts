import type { KubeObject } from '@headgate/kube-sandbox';
import type { CloudInitSource } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { ofKind } from './invented-settings.js';
import { isName } from './is-name.js';

/** The volumes that may name a Secret. */
interface SecretVolume {
  readonly cloudInitNoCloud?: CloudInitSource;
  readonly cloudInitConfigDrive?: CloudInitSource;
  readonly secret?: { readonly secretName?: string };
  readonly sysprep?: { readonly secret?: { readonly name?: string } };
}

/** An empty Secret for each one that a VM names: their contents are never read. */
export function inventedSecrets(objects: readonly KubeObject[]): KubeObject[] {
  const places = new Map<string, { namespace: string; name: string }>();
  for (const { metadata, spec } of ofKind<VirtualMachine>(objects, 'VirtualMachine')) {
    const { namespace = '' } = metadata;
    for (const name of ((spec.template.spec.volumes ?? []) as SecretVolume[]).flatMap(secretsOf))
      if (isName(name)) places.set(`${namespace}/${name}`, { namespace, name });
  }
  return [...places.values()].map((metadata) => ({ apiVersion: 'v1', kind: 'Secret', metadata }));
}

const secretsOf = ({
  cloudInitNoCloud,
  cloudInitConfigDrive,
  secret,
  sysprep,
}: SecretVolume): (string | undefined)[] => [
  ...[cloudInitNoCloud, cloudInitConfigDrive].flatMap((source) => [
    source?.secretRef?.name,
    source?.networkDataSecretRef?.name,
  ]),
  secret?.secretName,
  sysprep?.secret?.name,
];
