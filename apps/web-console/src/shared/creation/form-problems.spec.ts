import { buildContext } from '../../testing/build-capabilities.js';
import { buildVm } from '../../testing/build-vm.js';
import { cpuProblem, identityProblems, onlyProblems } from './form-problems.js';

describe('identityProblems', () => {
  const contexts = [buildContext(), buildContext({ context: 'lab', backend: 'libvirt' })];
  const entries = [buildVm({ name: 'web' }), buildVm({ name: 'db', namespace: 'local', context: 'lab' })];
  const of = (name: string, namespace = '', context = 'prod') =>
    onlyProblems(identityProblems({ name, namespace, context }, { contexts, entries }));

  test('finds none in a free name', () => expect(of('new')).toEqual({}));

  test('says that a name is taken, in the namespace where it would go', () => {
    expect(of('web')).toEqual({ name: 'An instance of this name exists there already.' });
    expect(of('web', 'shop')).toEqual({});
    expect(of('web', '', 'lab')).toEqual({});
    expect(of('db', 'ignored', 'lab')).toEqual({ name: 'An instance of this name exists there already.' });
  });

  test('names what is wrong with both', () =>
    expect(Object.keys(of('Web', 'My Space'))).toEqual(['name', 'namespace']));
});

test.each(['0', '513', '1.5', 'two', ''])('«%s» is no number of CPUs', (cpu) => expect(cpuProblem(cpu)).toBeTruthy());
test.each(['1', '512'])('%s is a number of CPUs', (cpu) => expect(cpuProblem(cpu)).toBeUndefined());
