import { parseArgs } from 'node:util';
import type { OptionalPart } from '../definitions/simulated-definitions.js';
import { KUBEVIRT_VERSIONS, LATEST_KUBEVIRT, type KubevirtVersion } from '../kubevirt-version.js';

/** The options of the stand-alone sandbox. */
export interface CommandLine {
  /** 0: a free one. */
  readonly port: number;
  /** Undefined: the demo with a VM in every state. */
  readonly vms?: number;
  readonly kubevirt: KubevirtVersion;
  /** Undefined: in a new folder under the system's temporary folder. */
  readonly kubeconfig?: string;
  readonly without: readonly OptionalPart[];
  readonly help: boolean;
}

const PARTS: readonly OptionalPart[] = ['kubevirt', 'cdi', 'snapshots', 'multus', 'metrics'];
const MAX_VMS = 10_000;

export const USAGE = `A simulated Kubernetes cluster with KubeVirt and CDI, for kubectl and any other client. Nothing in it is real: its
guests don't boot. It prints where its kubeconfig is, and runs until Ctrl-C or SIGTERM ends it.

  --vms N             a fleet of 0 to ${MAX_VMS} virtual machines; default a handful, one in every state
  --port P            where to listen on 127.0.0.1; default a free port
  --kubevirt VERSION  ${KUBEVIRT_VERSIONS[0]} to ${LATEST_KUBEVIRT}; default ${LATEST_KUBEVIRT}
  --kubeconfig FILE   where to write the kubeconfig; removed at the end
  --without PART,…    leave out ${PARTS.join(', ')}
  --help              this text

--instances N is an older name of --vms.
`;

/** A mistake in the command line; the message says how to correct it. */
export class UsageError extends Error {}

/** @throws UsageError */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const values = read([...argv]);
  return {
    port: values.port === undefined ? 0 : wholeNumber('--port', values.port, 65_535),
    vms: fleetSize(values),
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
        vms: { type: 'string' },
        instances: { type: 'string' },
        kubevirt: { type: 'string' },
        kubeconfig: { type: 'string' },
        without: { type: 'string', multiple: true },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    // The sentences after the first explain how to pass arguments that no option takes.
    throw new UsageError((error as Error).message.split(/\. |\n/)[0]);
  }
}

function fleetSize({ vms, instances }: { readonly vms?: string; readonly instances?: string }): number | undefined {
  if (vms !== undefined) return wholeNumber('--vms', vms, MAX_VMS);
  return instances === undefined ? undefined : wholeNumber('--instances', instances, MAX_VMS);
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
