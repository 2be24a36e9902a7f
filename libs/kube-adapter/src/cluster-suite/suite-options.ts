import { parseArgs } from 'node:util';
import { ABILITY_NAMES, isKubernetesName } from '@headgate/domain-contracts';
import { settingsOf, type SuiteSettings } from './suite-settings.js';

export interface SuiteOptions {
  readonly settings: SuiteSettings;
  /** `all`: prepare, run, report, remove. */
  readonly command: 'all' | 'prepare' | 'remove';
  /** Whether the preparation stays after the suites. */
  readonly keeps: boolean;
  readonly report: string;
}

export const USAGE = `Runs the contract suites of the cluster adapter on a cluster with KubeVirt, and writes a report.

  --kubeconfig FILE        the cluster, with the rights of an administrator
  --namespace N            created for the suites; default headgate-test
  --container-disk IMAGE   a guest that has the agent and boots with 512 MiB; default: one without the agent
  --image-url URL          a small disk image that the cluster can download
  --storage-class NAME     a second storage class, to which disks are moved
  --container-image IMAGE  with a shell; default debian:12
  --suites A,B             only those of these abilities
  --report FILE            default headgate-cluster-report.json
  --prepare                only creates the namespace and the networks, and reports missing parts
  --remove                 only deletes that namespace and those networks
  --keep                   does not delete them after the suites
`;

/** @returns undefined for --help @throws Error that says how to correct the command line */
export function parseSuiteOptions(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): SuiteOptions | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      kubeconfig: { type: 'string' },
      namespace: { type: 'string' },
      'container-disk': { type: 'string' },
      'image-url': { type: 'string' },
      'storage-class': { type: 'string' },
      'container-image': { type: 'string' },
      suites: { type: 'string' },
      report: { type: 'string' },
      prepare: { type: 'boolean' },
      remove: { type: 'boolean' },
      keep: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) return undefined;
  const settings = settingsOf({
    HEADGATE_TEST_KUBECONFIG: values.kubeconfig ?? environment['HEADGATE_TEST_KUBECONFIG'],
    HEADGATE_TEST_NAMESPACE: values.namespace ?? environment['HEADGATE_TEST_NAMESPACE'],
    HEADGATE_TEST_CONTAINER_DISK: values['container-disk'] ?? environment['HEADGATE_TEST_CONTAINER_DISK'],
    HEADGATE_TEST_IMAGE_URL: values['image-url'] ?? environment['HEADGATE_TEST_IMAGE_URL'],
    HEADGATE_TEST_STORAGE_CLASS: values['storage-class'] ?? environment['HEADGATE_TEST_STORAGE_CLASS'],
    HEADGATE_TEST_CONTAINER_IMAGE: values['container-image'] ?? environment['HEADGATE_TEST_CONTAINER_IMAGE'],
    HEADGATE_TEST_SUITES: values.suites ?? environment['HEADGATE_TEST_SUITES'],
  });
  if (!settings) throw new Error('Name the cluster with --kubeconfig FILE, or in HEADGATE_TEST_KUBECONFIG.');
  if (!isKubernetesName(settings.namespace)) throw new Error(`--namespace: ${settings.namespace} is not a valid name.`);
  const unknown = settings.suites?.filter((name) => !ABILITY_NAMES.some((known) => known === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--suites: there is no ability ${unknown.join(', ')}; use ${ABILITY_NAMES.join(', ')}.`);
  if (values.prepare && values.remove) throw new Error('Use either --prepare or --remove.');
  return {
    settings,
    command: values.prepare ? 'prepare' : values.remove ? 'remove' : 'all',
    keeps: values.keep === true,
    report: values.report ?? 'headgate-cluster-report.json',
  };
}
