// npm run docs / docs:check: writes docs/reference and the types of the API from the code, or fails if they are out of
// date. Lints the API document.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findNode, NX, projectEnvironment, root } from '../start/workspace.mjs';
import { lintDocument } from './lint-document.mjs';

const check = process.argv.includes('--check');

/**
 * Scripts that print generated files as one JSON object, name → text. The last one reads the API document that the
 * first one prints.
 */
const printers = [
  'apps/vm-service/dist/print-reference.js',
  'tools/docs/print-library-api.mjs',
  'tools/docs/print-client-types.mjs',
];

/** A name is a page of docs/reference; one with a folder is a path in the repository. */
const pathOf = (name) => (name.includes('/') ? name : `docs/reference/${name}`);

/** @returns {Promise<string>} what the script prints. @throws Error with its output when it fails */
const outputOf = async (script, args = []) => {
  const child = spawn(findNode(), [join(root, script), ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: projectEnvironment(),
  });
  const output = [];
  child.stdout.on('data', (data) => output.push(data));
  const code = await new Promise((resolve) => child.once('close', resolve));
  const text = Buffer.concat(output).toString();
  if (code !== 0) throw new Error(`${script} failed:\n${text}`);
  return text;
};

// The routes are read from the built service, so an old build would print old pages.
await outputOf(NX, ['build', '@headgate/vm-service', '--output-style=static']);

let stale = 0;
for (const script of printers) {
  for (const [name, text] of Object.entries(JSON.parse(await outputOf(script)))) {
    const file = join(root, pathOf(name));
    if (check) {
      if (existsSync(file) && readFileSync(file, 'utf8') === text) continue;
      console.error(`${pathOf(name)} is out of date: run npm run docs`);
      stale++;
    } else {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
  }
}
const problems = await lintDocument(readFileSync(join(root, pathOf('vm-service-openapi.json')), 'utf8'));
for (const problem of problems) console.error(problem);
process.exit(stale + problems.length === 0 ? 0 : 1);
