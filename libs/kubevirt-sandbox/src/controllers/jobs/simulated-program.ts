import { basename } from 'node:path';
import { RESOURCES } from '../../resources.js';
import type { Container, PersistentVolumeClaim, Pod, Secret } from '../../types/core-kinds.js';
import type { SimulationContext } from '../../simulation-context.js';
import { containerLog } from '../../pods/container-log.js';
import type { SimulatedProgram } from '../../pods/program.js';

const BOOT_SIGNATURE_OFFSET = 510;
const BOOT_SIGNATURE = 0x55aa;
const TEXT_OFFSET = 512;
const DISK_BYTES = 64 * 1024;

/**
 * The program of a container: an installation of bootc writes to the disk, and any other succeeds after a few lines.
 */
export function simulatedProgram(context: SimulationContext, pod: Pod, container: Container): SimulatedProgram {
  const words = [...(container.command ?? []), ...(container.args ?? [])];
  if (words[0] !== 'bootc' || words[1] !== 'install' || words[2] !== 'to-disk')
    return { lines: containerLog(pod, container, context.clock.now()).map(({ line }) => line), exitCode: 0 };
  if (/not-bootable/.test(container.image))
    return {
      lines: [],
      exitCode: 128,
      reason: 'StartError',
      message: 'failed to create containerd task: exec: "bootc": executable file not found in $PATH',
    };
  return installation(context, pod, container, words);
}

function installation(context: SimulationContext, pod: Pod, container: Container, words: string[]): SimulatedProgram {
  const target = words.at(-1) ?? '';
  const source = optionOf(words, '--source-imgref') ?? container.image;
  const keysFile = optionOf(words, '--root-ssh-authorized-keys');
  const claim = claimAt(context, pod, container, target);
  const lines = [`Installing image: ${source} (simulated)`, `Creating root filesystem on ${target}`];
  if (!claim) return { lines: [...lines, `error: No such file or directory: ${target}`], exitCode: 1 };
  const keys = keysFile === undefined ? undefined : secretFileAt(context, pod, container, keysFile);
  if (keysFile !== undefined && keys === undefined)
    return { lines: [...lines, `error: Reading ${keysFile}: No such file or directory (os error 2)`], exitCode: 1 };
  const content = Buffer.alloc(DISK_BYTES);
  content.writeUInt16BE(BOOT_SIGNATURE, BOOT_SIGNATURE_OFFSET);
  content.write(`simulated installation of ${source}\nauthorized keys: ${keys ?? 'none'}\n`, TEXT_OFFSET);
  return {
    lines: [...lines, 'Deploying container image', 'Installing bootloader', 'Installation complete!'],
    exitCode: 0,
    disk: { claim, content },
  };
}

/** The value of `--name value` or `--name=value`. */
function optionOf(words: readonly string[], name: string): string | undefined {
  const index = words.indexOf(name);
  if (index >= 0) return words[index + 1];
  return words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
}

function claimAt(
  context: SimulationContext,
  { metadata, spec }: Pod,
  { volumeMounts = [], volumeDevices = [] }: Container,
  path: string,
): PersistentVolumeClaim | undefined {
  const name =
    volumeDevices.find(({ devicePath }) => devicePath === path)?.name ??
    volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`))?.name;
  const claim = spec.volumes?.find((volume) => volume.name === name)?.persistentVolumeClaim?.claimName;
  return claim === undefined ? undefined : context.find(RESOURCES.claim, metadata.namespace, claim);
}

function secretFileAt(
  context: SimulationContext,
  { metadata, spec }: Pod,
  { volumeMounts = [] }: Container,
  path: string,
): string | undefined {
  const mount = volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
  const secretName = spec.volumes?.find(({ name }) => name === mount?.name)?.secret?.secretName;
  const secret = secretName && context.find<Secret>(RESOURCES.secret, metadata.namespace, secretName);
  const data = secret ? secret.data?.[mount?.subPath ?? basename(path)] : undefined;
  return data === undefined ? undefined : Buffer.from(data, 'base64').toString();
}
