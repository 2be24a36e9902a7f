import { humanDuration } from './human-duration.js';
import { evaluateJsonPath } from './json-path.js';
import { tableOf } from './table.js';

const object = {
  apiVersion: 'lab.dev/v1',
  kind: 'Machine',
  metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z', labels: { 'app.kubernetes.io/name': 'web' } },
  spec: { disks: [{ name: 'root' }, { name: 'data' }] },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Paused', status: 'False' },
    ],
  },
};

describe('evaluateJsonPath', () => {
  test.each([
    ['.metadata.name', ['a']],
    ["{.status.conditions[?(@.type=='Ready')].status}", ['True']],
    ['.status.conditions[?(@.type=="Paused")].status', ['False']],
    ['.spec.disks[*].name', ['root', 'data']],
    ['.spec.disks[1].name', ['data']],
    ['.metadata.labels.app\\.kubernetes\\.io/name', ['web']],
    ['.status.nothing.below', []],
  ])('%s', (path, values) => {
    expect(evaluateJsonPath(object, path)).toEqual(values);
  });
});

describe('humanDuration', () => {
  test.each([
    [-5_000, '<invalid>'],
    [0, '0s'],
    [119_000, '119s'],
    [125_000, '2m5s'],
    [11 * 60_000, '11m'],
    [3.5 * 3_600_000, '3h30m'],
    [30 * 3_600_000, '30h'],
    [49 * 3_600_000, '2d1h'],
    [30 * 86_400_000, '30d'],
    [800 * 86_400_000, '2y70d'],
  ])('%i ms is %s', (ms, text) => {
    expect(humanDuration(ms)).toBe(text);
  });
});

describe('tableOf', () => {
  test('computes cells from paths and ages from timestamps, and marks empty cells as kubectl does', () => {
    const columns = [
      { name: 'Disks', type: 'string' as const, jsonPath: '.spec.disks[*].name' },
      { name: 'Phase', type: 'string' as const, jsonPath: '.status.phase' },
      { name: 'Size', type: 'integer' as const, jsonPath: '.spec.size' },
      { name: 'Age', type: 'date' as const, jsonPath: '.metadata.creationTimestamp' },
    ];
    const table = tableOf(
      [object],
      { columns },
      {
        version: 'v1',
        includeObject: 'None',
        nowMs: Date.parse('2026-01-01T00:01:00Z'),
      },
    );
    expect(table).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      rows: [{ cells: ['a', 'root,data', '', null, '60s'] }],
    });
  });
});
