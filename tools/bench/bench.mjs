// npm run bench [-- NAME …]: runs the benchmarks, prints a table and writes bench-results.json. Compare ratios within
// one run; absolute values depend on the machine.
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root, say } from '../start/workspace.mjs';

const wanted = process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.bench.mjs'))
  .map((file) => file.replace('.bench.mjs', ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name));

await ensureInstalled();
await ensureBuilt(['@headgate/vm-service', '@headgate/homeserver-limits', '@headgate/web-console']);

const results = [];
for (const name of names) {
  say(`\n${name}`);
  const { default: run } = await import(join(import.meta.dirname, `${name}.bench.mjs`));
  const result = await run();
  results.push(result);
  for (const { what, value, unit, ratio, target, ok } of result.rows) {
    const figure = `${round(value)} ${unit}`.padStart(22);
    const compared = ratio === undefined ? '' : `ratio ${round(ratio)}`;
    const verdict = target === undefined ? '' : `${target}: ${ok ? 'met' : 'NOT MET'}`;
    say(`  ${what.padEnd(64)} ${figure}  ${compared.padEnd(12)} ${verdict}`);
  }
}
writeFileSync(join(root, 'bench-results.json'), `${JSON.stringify({ node: process.version, results }, null, 2)}\n`);

function round(value) {
  if (typeof value !== 'number') return String(value);
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
