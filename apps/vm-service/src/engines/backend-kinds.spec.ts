import 'reflect-metadata';
import { BACKEND_KINDS } from './backend-kinds.js';

describe('the kinds of backends', () => {
  const { sandbox, ...engines } = BACKEND_KINDS;

  test.each(Object.entries(engines))('has %s under the name of its traits', (name, { traits }) => {
    expect(traits.kind).toBe(name);
  });

  test('simulates a kind that it has', () => {
    expect(Object.keys(engines)).toContain(sandbox.traits.kind);
  });
});
