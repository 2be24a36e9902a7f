// npm test: formatting, words, circles of imports, lint, types, unit, contract, stress, integration and e2e tests. Tests that
// need programs which this machine does not have are skipped and listed. Ends with a line `N passed, N failed`.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled, findNode, NX, projectEnvironment, root, say } from '../start/workspace.mjs';

/** The folders of the projects. */
const projects = () =>
  ['apps', 'libs'].flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`)).concat('tools');

const run = (script, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(findNode(), [join(root, script), ...args], {
      cwd: root,
      stdio: 'inherit',
      env: projectEnvironment(),
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0));
  });

const nx = (...args) => run(NX, [...args, '--output-style=static', '--nxBail=false']);

/**
 * One process for all projects takes a third of the time of Nx's target `lint`, which starts one for each. The layer
 * rule is skipped unless Nx has stored the graph of the projects before.
 */
const lint = async () =>
  (await nx('graph', '--file=.nx/graph.json')) &&
  run('node_modules/eslint/bin/eslint.js', ['--max-warnings', '0', 'apps', 'libs', 'tools']);

const format = () =>
  run(
    'node_modules/prettier/bin/prettier.cjs',
    '--check --cache --cache-location .nx/prettier --log-level warn .'.split(' '),
  );

const importCircles = () =>
  run(
    'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs',
    '--config .dependency-cruiser.js --output-type err apps libs tools'.split(' '),
  );

const checks = {
  format,
  'word list': () => run('tools/lint/words.mjs', []),
  'import circles': importCircles,
  'folder circles': () => run('tools/lint/folders.mjs', []),
  lint,
};

/** Stages run one after the other. Those with several parts run them at the same time. */
const stages = [
  checks,
  {
    'types, unit, contract and stress tests, builds': () =>
      nx('run-many', '-t', 'typecheck', 'test', 'stress', 'build'),
  },
  { 'generated documents': () => run('tools/docs/generate.mjs', ['--check']) },
  { 'integration and e2e tests': () => inLanes(...LANES) },
];

// Lanes run at the same time, and each runs one project after the other: their tests wait for guests and servers much
// of the time. The workers of libvirt-adapter have libvirts of their own, those of incus-adapter daemons of their own;
// the other projects of the VM side share the libvirt of this machine.
const PRIVATE_LIBVIRT = '@headgate/libvirt-adapter';
const PRIVATE_INCUS = '@headgate/incus-adapter';
const WITHOUT_LIBVIRT = 'tag:scope:limits,@headgate/tools,@headgate/libraries-e2e';
const LANES = [
  ['-p', `${PRIVATE_LIBVIRT},${PRIVATE_INCUS}`],
  ['-p', WITHOUT_LIBVIRT],
  ['--exclude', `${PRIVATE_LIBVIRT},${PRIVATE_INCUS},${WITHOUT_LIBVIRT}`],
].map((projects) => ['run-many', '-t', 'integration', 'e2e', '--parallel=1', ...projects]);

/** @param {string[][]} lanes arguments of Nx */
async function inLanes(...lanes) {
  const results = await Promise.all(lanes.map((lane) => nx(...lane)));
  return results.every(Boolean);
}

/** How many of the slowest spec files are listed, so that a slow run shows where its time went. */
const SLOWEST_FILES = 25;

/** Adds up the summaries of the runs, including those that Nx took from its cache. */
function summaries() {
  const found = projects().flatMap((project) => {
    const folder = join(root, project, 'test-results');
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((file) => file.endsWith('.json'))
      .map((file) => ({ project, ...JSON.parse(readFileSync(join(folder, file), 'utf8')) }));
  });
  return {
    passed: found.reduce((sum, { passed }) => sum + passed, 0),
    failed: found.reduce((sum, { failed }) => sum + failed, 0),
    failures: found.flatMap(({ project, failures }) =>
      failures.map(({ title, message }) => ({ title: `${project}: ${title}`, message })),
    ),
    skipped: found.flatMap(({ project, skipped }) => skipped.map((title) => `${project}: ${title}`)),
    slowest: found
      .flatMap(({ project, files }) => files.map(({ path, seconds }) => ({ seconds, path: join(project, path) })))
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, SLOWEST_FILES),
  };
}

/**
 * Starts libvirt for the tests that run real guests, if it is installed and not running yet.
 * @returns {Promise<() => Promise<unknown>>} stops the daemons that were started
 */
async function startLibvirt() {
  const nothing = async () => undefined;
  const { daemonPorts, ensureDaemons } = await import('../local/daemons.mjs');
  const ports = await daemonPorts(say);
  if (process.getuid?.() !== 0 || !ports.find('libvirtd') || !ports.find('virsh')) return nothing;
  const dataDir = mkdtempSync(join(tmpdir(), 'headgate-test-'));
  const { problem, stop } = await ensureDaemons(ports, { dataDir });
  if (problem) say(problem);
  return async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
}

async function main() {
  await ensureInstalled();
  const endLibvirt = await startLibvirt();
  try {
    return await test();
  } finally {
    await endLibvirt();
  }
}

/**
 * @param {string} name
 * @param {() => Promise<boolean>} part
 * @param {string[]} broken receives the name if it fails
 */
async function runPart(name, part, broken) {
  const began = Date.now();
  say(`\n== ${name}`);
  const ok = await part();
  say(`== ${name}: ${ok ? 'passed' : 'FAILED'}, ${((Date.now() - began) / 1000).toFixed(1)} s`);
  if (!ok) broken.push(name);
}

async function test() {
  for (const project of projects()) rmSync(join(root, project, 'test-results'), { recursive: true, force: true });
  const broken = [];
  for (const stage of stages) await Promise.all(Object.entries(stage).map((part) => runPart(...part, broken)));
  const { passed, failed, failures: failedTests, skipped, slowest } = summaries();
  say(`\nSlowest files:\n${slowest.map(({ seconds, path }) => `${seconds} s`.padStart(8) + `  ${path}`).join('\n')}`);
  if (skipped.length > 0) say(`\nSkipped:\n${skipped.map((title) => `  ${title}`).join('\n')}`);
  for (const { title, message } of failedTests) say(`\nFailed: ${title}\n${message.replace(/^/gm, '  ')}`);
  if (failedTests.length > 0) say(`\nFailed tests:\n${failedTests.map(({ title }) => `  ${title}`).join('\n')}`);
  if (broken.length > 0) say(`\nFailed: ${broken.join('; ')}`);
  // A failed stage without tests of its own, such as lint, counts as one failure.
  const failures = broken.length > 0 ? Math.max(failed, broken.length) : failed;
  say(`\n${passed} passed, ${failures} failed`);
  return failures === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error) => {
    process.stderr.write(`${error.message}\n`);
    say('0 passed, 1 failed');
    process.exit(1);
  },
);
