/** The settings of the suites on a cluster, which the program passes to them in the environment. */
export interface SuiteSettings {
  readonly kubeconfig: string;
  readonly namespace: string;
  /** The image of a guest that boots quickly and, if it is given, has the agent. */
  readonly containerDisk?: string;
  /** The URL of a small disk image that the cluster can download. */
  readonly imageUrl?: string;
  /** A storage class other than the default one, to which disks can be moved. */
  readonly storageClass?: string;
  readonly containerImage?: string;
  /** The abilities whose suites run; absent: all. */
  readonly suites?: readonly string[];
}

export const DEFAULT_NAMESPACE = 'headgate-test';
/** It has no agent, and its boot takes a few seconds. */
export const DEFAULT_CONTAINER_DISK = 'kubevirt/cirros-container-disk-demo';
/** All instances of the suites have names with this beginning. */
export const NAME_PREFIX = 'contract-';

const VARIABLES = {
  kubeconfig: 'HEADGATE_TEST_KUBECONFIG',
  namespace: 'HEADGATE_TEST_NAMESPACE',
  containerDisk: 'HEADGATE_TEST_CONTAINER_DISK',
  imageUrl: 'HEADGATE_TEST_IMAGE_URL',
  storageClass: 'HEADGATE_TEST_STORAGE_CLASS',
  containerImage: 'HEADGATE_TEST_CONTAINER_IMAGE',
  suites: 'HEADGATE_TEST_SUITES',
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** @returns undefined when the environment names no cluster */
export function settingsOf(environment: Environment): SuiteSettings | undefined {
  const read = (name: keyof typeof VARIABLES): string | undefined => environment[VARIABLES[name]] || undefined;
  const kubeconfig = read('kubeconfig');
  if (kubeconfig === undefined) return undefined;
  const suites = read('suites')?.split(',');
  return {
    kubeconfig,
    namespace: read('namespace') ?? DEFAULT_NAMESPACE,
    containerDisk: read('containerDisk'),
    imageUrl: read('imageUrl'),
    storageClass: read('storageClass'),
    containerImage: read('containerImage'),
    ...(suites && { suites }),
  };
}

/** The environment from which `settingsOf` reads the same settings. */
export const environmentOf = (settings: SuiteSettings): Record<string, string> =>
  Object.fromEntries(
    Object.entries(VARIABLES).map(([name, variable]) => [
      variable,
      String(settings[name as keyof typeof VARIABLES] ?? ''),
    ]),
  );
