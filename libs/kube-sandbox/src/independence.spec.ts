import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SIMULATION = join(import.meta.dirname, '../../kubevirt-sandbox');

/** The files below a folder, without specs, whose text matches; each with the matching line. */
function matches(folder: string, pattern: RegExp): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|json)$/.test(entry.name) && !entry.name.endsWith('.spec.ts'))
    .flatMap(({ parentPath, name }) =>
      readFileSync(join(parentPath, name), 'utf8')
        .split('\n')
        .filter((line) => pattern.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line))
        .map((line) => `${name}: ${line.trim()}`),
    );
}

test('the API server knows nothing of KubeVirt, CDI and their guests', () => {
  expect(matches(import.meta.dirname, /kubevirt|\bcdi\b|virt-|virtualmachine/i)).toEqual([]);
});

test.each([
  ['the API server', import.meta.dirname],
  ['the simulation', join(SIMULATION, 'src')],
  ['the scenarios of the comparison', join(SIMULATION, 'compare')],
])("%s knows no label and no annotation of this project's services", (_part, folder) => {
  expect(matches(folder, /svc\.dev/)).toEqual([]);
  const others = matches(folder, /@headgate\//).filter((line) => !/@headgate\/kube-sandbox'/.test(line));
  expect(others).toEqual([]);
});
