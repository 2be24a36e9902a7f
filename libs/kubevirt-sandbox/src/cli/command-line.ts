import { parseArgs } from 'node:util';
import type { OptionalPart } from '../definitions/simulated-definitions.js';
import { KUBEVIRT_VERSIONS, LATEST_KUBEVIRT, type KubevirtVersion } from '../kubevirt-version.js';

/** The options of the stand-alone sandbox. */
export interface CommandLine {
  /** 0: a free one. */
  readonly port: number;
  /** Undefined: the demo with a VM in every state. */
  readonly instances?: number;
  readonly kubevirt: KubevirtVersion;
  /** Undefined: in a new folder under the system's temporary folder. */
  readonly kubeconfig?: string;
  readonly without: readonly OptionalPart[];
  readonly help: boolean;
}

const PARTS: readonly OptionalPart[] = ['kubevirt', 'cdi', 'snapshots', 'multus', 'metrics'];
const MAX_INSTANCES = 10_000;

export const USAGE = `A simulated Kubernetes cluster with KubeVirt and CDI, for kubectl and any other client. Ctrl-C ends it.

  --port P            where to listen on 127.0.0.1; default a free port
  --instances N       a fleet of 0 to ${MAX_INSTANCES} virtual machines; default a handful, one in every state
  --kubevirt VERSION  ${KUBEVIRT_VERSIONS[0]} to ${LATEST_KUBEVIRT}; default ${LATEST_KUBEVIRT}
  --kubeconfig FILE   where to write the kubeconfig; removed at the end
  --without PART,…    leave out ${PARTS.join(', ')}
  --help              this text
`;

/** A mistake in the command line; the message says how to correct it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const values = read([...argv]);
  return {
    port: values.port === undefined ? 0 : wholeNumber('--port', values.port, 65_535),
    instances: values.instances === undefined ? undefined : wholeNumber('--instances', values.instances, MAX_INSTANCES),
    kubevirt: oneOf('--kubevirt', values.kubevirt ?? LATEST_KUBEVIRT, KUBEVIRT_VERSIONS),
    kubeconfig: values.kubeconfig,
    without: (values.without ?? [])
      .flatMap((list) => list.split(','))
      .filter((part) => part !== '')
      .map((part) => oneOf('--without', part, PARTS)),
    help: values.help ?? false,
  };
}

function read(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string' },
        instances: { type: 'string' },
        kubevirt: { type: 'string' },
        kubeconfig: { type: 'string' },
        without: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.split('\n')[0]);
  }
}

function wholeNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > most) throw new UsageError(`${option} must be a number from 0 to ${most}`);
  return value;
}

function oneOf<T extends string>(option: string, text: string, known: readonly T[]): T {
  const found = known.find((value) => value === text);
  if (found === undefined) throw new UsageError(`${option} must be one of ${known.join(', ')}`);
  return found;
}
