import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf } from '@headgate/domain-contracts';
import { prepareCluster, removePreparation } from './prepare-cluster.js';
import { selectSuites, type SuiteSelection } from './requirements.js';
import { openSuiteCluster, type SuiteCluster } from './suite-cluster.js';
import type { SuiteOptions } from './suite-options.js';
import { reportOf, type JestResults } from './suite-report.js';
import { environmentOf } from './suite-settings.js';

export interface SuiteRun {
  readonly options: SuiteOptions;
  /** The folder of the project with the suites. */
  readonly project: string;
  /** Relative paths of the command line are relative to it. */
  readonly folder: string;
  readonly say: (line: string) => void;
  /** Whether the progress of the tests is not shown. Default false. */
  readonly isQuiet?: boolean;
  /** Ends the suites; their preparation is still removed. */
  readonly signal: AbortSignal;
}

/**
 * @returns the exit code: 0 if all suites that the cluster can run have passed, 1 if some failed, 2 if none could run
 */
export async function runSuite(run: SuiteRun): Promise<number> {
  const { options, folder, say } = run;
  const settings = { ...options.settings, kubeconfig: resolve(folder, options.settings.kubeconfig) };
  const cluster = openSuiteCluster(settings);
  const sayAll = (lines: readonly string[]): void => lines.forEach(say);
  try {
    if (options.command === 'remove') {
      sayAll(await removePreparation(cluster));
      return 0;
    }
    const selection = await selectSuites(cluster);
    sayAll(lacks(selection));
    if (!selection.isUsable) return 2;
    sayAll(await prepareCluster(cluster));
    if (options.command === 'prepare') return 0;
    try {
      return await runAndReport(run, cluster, selection);
    } finally {
      if (!options.keeps) sayAll(await removePreparation(cluster));
    }
  } finally {
    cluster.close();
  }
}

const lacks = ({ missing }: SuiteSelection): string[] =>
  missing.map(({ message, remedy, suites }) =>
    `${message} ${remedy} Without it, ${suites.length > 0 ? suites.join(', ') : 'nothing'} can run.`.replace(
      /Without it, (?!nothing)(.*) can run\.$/,
      'Not run: $1.',
    ),
  );

async function runAndReport(run: SuiteRun, cluster: SuiteCluster, selection: SuiteSelection): Promise<number> {
  const { options, folder, say } = run;
  const temporary = await mkdtemp(join(tmpdir(), 'headgate-cluster-suite-'));
  try {
    const file = join(temporary, 'results.json');
    await runJest(run, cluster, file);
    const results = await readFile(file, 'utf8').then(
      (text) => JSON.parse(text) as JestResults,
      (error: unknown) => messageOf(error),
    );
    const problem =
      typeof results !== 'string'
        ? undefined
        : run.signal.aborted
          ? 'The suites were interrupted.'
          : `The suites did not end in good order: ${results}`;
    const report = await reportOf(cluster, selection, typeof results === 'string' ? undefined : results, problem);
    const target = resolve(folder, options.report);
    await writeFile(target, `${JSON.stringify(report, undefined, 2)}\n`);
    for (const { suite, passed, failed } of report.suites) say(`${suite}: ${passed} passed, ${failed} failed`);
    if (problem !== undefined) say(problem);
    say(`The report is in ${target}. It has no secrets and no addresses; read it before you send it.`);
    return problem === undefined && report.failed === 0 && report.passed > 0 ? 0 : 1;
  } finally {
    await rm(temporary, { recursive: true });
  }
}

/** Resolves when Jest has ended; its results are in the file. */
function runJest(
  { project, signal, isQuiet = false }: SuiteRun,
  { settings }: SuiteCluster,
  file: string,
): Promise<void> {
  const jest = join(project, '../../node_modules/jest/bin/jest.js');
  const args = [jest, '-c', 'jest.cluster.config.js', '--runInBand', '--json', '--outputFile', file];
  const child = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning', ...args],
    {
      cwd: project,
      // The results are in the file, and the progress on the standard error.
      stdio: ['ignore', 'ignore', isQuiet ? 'ignore' : 'inherit'],
      env: { ...process.env, ...environmentOf(settings), NODE_OPTIONS: '' },
    },
  );
  const end = (): void => void child.kill('SIGTERM');
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  return new Promise<void>((done, fail) => {
    child.once('error', fail);
    child.once('close', () => done());
  }).finally(() => signal.removeEventListener('abort', end));
}
