import { formatBytes, parseKubernetesBytes, type ContainerSpec } from '@headgate/domain-contracts';

/** The spec of a container, stored on its claim, so that a stopped container can be started again. */
export interface RecordedSpec {
  readonly image: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly privileged: boolean;
}

export const writeRecordedSpec = ({
  image,
  cpu,
  memoryBytes,
  diskBytes,
  storageClass,
  privileged,
}: ContainerSpec): string =>
  JSON.stringify({ image, cpu, mem: formatBytes(memoryBytes), disk: formatBytes(diskBytes), storageClass, privileged });

/** @returns undefined when the annotation is absent or not in the format that this service writes */
export function readRecordedSpec(text: string | undefined): RecordedSpec | undefined {
  if (text === undefined) return undefined;
  try {
    const { image, cpu, mem, privileged } = JSON.parse(text) as Record<string, unknown>;
    if (typeof image !== 'string' || image === '') return undefined;
    return {
      image,
      cpu: typeof cpu === 'number' && cpu > 0 ? cpu : 1,
      memoryBytes: parseKubernetesBytes(typeof mem === 'string' ? mem : '512Mi', 'mem'),
      privileged: privileged === true,
    };
  } catch {
    return undefined;
  }
}
