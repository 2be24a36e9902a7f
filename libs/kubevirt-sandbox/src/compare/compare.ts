import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KubeSandbox } from '@headgate/kube-sandbox';
import { KUBEVIRT_VERSIONS, LATEST_KUBEVIRT, type KubevirtVersion } from '../kubevirt-version.js';
import { KubevirtSimulation } from '../kubevirt-simulation.js';
import type { Answer } from './answer.js';
import { ApiServer } from './api-server.js';
import { differences, report, type Difference } from './differences.js';
import { covers, loadReasons, type Reason } from './reasons.js';
import { runScenarios } from './run-scenarios.js';
import { loadScenarios, type Scenario } from './scenario.js';

export const COMPARE_USAGE = `Compares the simulated cluster with a real one, or with recorded answers.

  npm run sandbox:compare -- --kubeconfig FILE [--record FILE] [--kubevirt VERSION] [--only TEXT] [--scenarios FOLDER]
  npm run sandbox:compare -- --against FILE [--kubeconfig FILE] …

  --kubeconfig FILE   the API server; it needs KubeVirt, and a user who may create namespaces
  --record FILE       also writes its answers to this file
  --against FILE      compares with recorded answers: those of the sandbox, or of the API server with --kubeconfig
  --kubevirt VERSION  the release of the sandbox; default: that of the API server
  --only TEXT         only the scenarios with this text in their name
  --scenarios FOLDER  a folder with more scenarios; may be repeated

Ends with 0 when there are no differences, and with 1 when there are some.`;

interface Recording {
  /** The release of KubeVirt. */
  kubevirt: string;
  answers: Answer[];
}

export interface CompareOptions {
  /** Folders with scenarios. */
  folders: readonly string[];
  kubeconfig?: string;
  record?: string;
  against?: string;
  kubevirt?: KubevirtVersion;
  only?: string;
}

export function parseCompareOptions(argv: readonly string[], folder: string): CompareOptions | undefined {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      kubeconfig: { type: 'string' },
      record: { type: 'string' },
      against: { type: 'string' },
      kubevirt: { type: 'string' },
      only: { type: 'string' },
      scenarios: { type: 'string', multiple: true },
      help: { type: 'boolean' },
    },
  });
  if (values.help || !(values.kubeconfig ?? values.against)) return undefined;
  const { kubeconfig, record, against, only } = values;
  const kubevirt = values.kubevirt === undefined ? undefined : nearestRelease(values.kubevirt);
  return { folders: [folder, ...(values.scenarios ?? [])], kubeconfig, record, against, only, kubevirt };
}

/** @returns the number of differences, without those that a reason covers */
export async function compare(options: CompareOptions, say: (line: string) => void): Promise<number> {
  const scenarios = loadScenarios(options.folders).filter(({ name }) => name.includes(options.only ?? ''));
  const recorded = options.against && (JSON.parse(readFileSync(options.against, 'utf8')) as Recording);
  const real = options.kubeconfig === undefined ? undefined : ApiServer.fromFile(options.kubeconfig);
  const version = options.kubevirt ?? nearestRelease(recorded ? recorded.kubevirt : await releaseOf(real!));
  const progress = (name: string): void => say(`  ${name}`);
  let answers: Answer[] | undefined;
  if (real) {
    say(`Asking ${real.url.href}`);
    answers = await runScenarios(real, scenarios, progress);
    if (options.record) writeRecording(options.record, { kubevirt: await releaseOf(real), answers });
  }
  const expected = recorded ? recorded.answers.filter(({ request }) => belongsTo(scenarios, request)) : answers!;
  const actual = recorded && answers ? answers : await askSandbox(version, scenarios, say, progress);
  const reasons = loadReasons(options.folders);
  const all = differences(expected, actual);
  const found = all.filter((difference) => !reasons.some((reason) => covers(reason, difference)));
  const names = recorded
    ? { expected: 'recorded', actual: answers ? 'cluster' : 'sandbox' }
    : { expected: 'cluster', actual: 'sandbox' };
  for (const line of report(found, names)) say(line);
  sayReasons(reasons, all, say);
  say(`${expected.length} requests compared, ${countRequests(found)} with differences.`);
  return found.length;
}

function sayReasons(reasons: readonly Reason[], all: readonly Difference[], say: (line: string) => void): void {
  for (const reason of reasons) {
    const count = countRequests(all.filter((difference) => covers(reason, difference)));
    if (count > 0) say(`Expected in ${count} requests: ${reason.because}`);
  }
}

const countRequests = (found: readonly Difference[]): number => new Set(found.map(({ request }) => request)).size;

async function askSandbox(
  version: KubevirtVersion,
  scenarios: readonly Scenario[],
  say: (line: string) => void,
  progress: (name: string) => void,
): Promise<Answer[]> {
  const sandbox = await listenForComparison(version);
  try {
    say(`Asking a sandbox with KubeVirt ${version}`);
    return await runScenarios(ApiServer.fromText(sandbox.kubeconfig()), scenarios, progress);
  } finally {
    await sandbox.close();
  }
}

/** Ten times as fast as usual. */
export const listenForComparison = (kubevirtVersion: KubevirtVersion): Promise<KubeSandbox> =>
  KubeSandbox.listen({ extensions: [new KubevirtSimulation({ kubevirtVersion, timeScale: 0.1 })] });

const belongsTo = (scenarios: readonly Scenario[], request: string): boolean =>
  scenarios.some(({ name }) => request.startsWith(`${name} `) || request.startsWith(`${name}:`));

function writeRecording(path: string, recording: Recording): void {
  writeFileSync(path, `${JSON.stringify(recording, null, 1)}\n`);
}

async function releaseOf(server: ApiServer): Promise<string> {
  const { status, text } = await server.send('GET', '/apis/subresources.kubevirt.io/v1/version');
  if (status !== 200) throw new Error(`${server.url.href} serves no KubeVirt: ${status} ${text.trim()}`);
  return (JSON.parse(text) as { gitVersion: string }).gitVersion;
}

/** The newest simulated release that is not newer: `v1.6.7` is like 1.6.5. */
export function nearestRelease(text: string): KubevirtVersion {
  const parts = text
    .replace(/^v/, '')
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  const isNotNewer = (version: string): boolean => {
    const other = version.split('.').map(Number);
    for (const index of [0, 1, 2]) {
      const difference = (other[index] ?? 0) - (parts[index] ?? 0);
      if (difference !== 0) return difference < 0;
    }
    return true;
  };
  return (
    KUBEVIRT_VERSIONS.filter(isNotNewer).at(-1) ?? (Number.isNaN(parts[0]) ? LATEST_KUBEVIRT : KUBEVIRT_VERSIONS[0])
  );
}
