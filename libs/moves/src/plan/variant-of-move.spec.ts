import { variantOfMove } from './variant-of-move.js';

describe('the moves whose times are compared', () => {
  const GIB = 2 ** 30;
  const move = {
    ok: true,
    source: 'vm/lab/local/web',
    destination: 'vm/rack-7/local/web',
    mode: 'warm',
    warnings: [],
    dropped: [],
    losses: [],
    refusals: [],
    estimatedBytes: 5 * GIB,
    estimatedDowntimeSeconds: 10,
    minDowntimeSeconds: 5,
    maxDowntimeSeconds: 12,
    format: 'qcow2',
    deleteSource: false,
  };

  test('have the same mode, destination and state, and about as many bytes', () => {
    expect(variantOfMove(move)).toBe('warm to rack-7, running, up to 8 GiB');
    expect(variantOfMove({ ...move, estimatedBytes: 8 * GIB })).toBe(variantOfMove(move));
    expect(variantOfMove({ ...move, estimatedBytes: 8 * GIB + 1 })).toContain('up to 16 GiB');
    expect(variantOfMove({ ...move, estimatedDowntimeSeconds: null })).toContain('stopped');
    expect(variantOfMove({ ...move, mode: 'cold' })).toContain('cold to rack-7');
  });

  test('have a size although little or nothing is known', () => {
    expect(variantOfMove({ ...move, destination: '', estimatedBytes: 0 })).toBe('warm to , running, up to 1 GiB');
  });
});
