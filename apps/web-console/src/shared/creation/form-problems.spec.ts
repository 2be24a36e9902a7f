import { buildContext, buildSingleMachine } from '../../testing/build-capabilities.js';
import { buildVm } from '../../testing/build-vm.js';
import { cpuProblem, identityProblems, onlyProblems } from './form-problems.js';

describe('identityProblems', () => {
  const contexts = [buildContext(), buildSingleMachine({ context: 'lab' })];
  const entries = [buildVm({ name: 'web' }), buildVm({ name: 'db', namespace: 'local', context: 'lab' })];
  const of = (name: string, namespace = '', context = 'prod') =>
    onlyProblems(identityProblems({ name, namespace, context }, { contexts, entries }));

  test('finds no problem with a free name', () => expect(of('new')).toEqual({}));

  test('reports a name that is in use in the target namespace', () => {
    expect(of('web')).toEqual({ name: 'This name is already in use.' });
    expect(of('web', 'shop')).toEqual({});
    expect(of('web', '', 'lab')).toEqual({});
    expect(of('db', 'ignored', 'lab')).toEqual({ name: 'This name is already in use.' });
  });

  test('reports the problems of both fields', () =>
    expect(Object.keys(of('Web', 'My Space'))).toEqual(['name', 'namespace']));
});

test.each(['0', '513', '1.5', 'two', ''])('"%s" is not a valid number of CPUs', (cpu) =>
  expect(cpuProblem(cpu)).toBeTruthy(),
);
test.each(['1', '512'])('%s is a valid number of CPUs', (cpu) => expect(cpuProblem(cpu)).toBeUndefined());
