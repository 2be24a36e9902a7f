import 'reflect-metadata';
import { validateSync } from 'class-validator';
import { libvirtKind } from './kind.js';

const problemsOf = (settings: object): string[] =>
  validateSync(Object.assign(new libvirtKind.settings(), settings), {
    whitelist: true,
    forbidNonWhitelisted: true,
  }).map(({ property }) => property);

describe('the settings of a host', () => {
  test('are optional, and have no other keys', () => {
    expect(problemsOf({})).toEqual([]);
    expect(
      problemsOf({ uri: 'qemu+ssh://root@a/system', migrationAddress: 'a.lan', migrationTransport: 'tls' }),
    ).toEqual([]);
    expect(problemsOf({ kubeconfig: '/k' })).toEqual(['kubeconfig']);
  });

  test.each([
    ['uri', { uri: 'system' }],
    ['migrationAddress', { migrationAddress: 'a b' }],
    ['migrationTransport', { migrationTransport: 'plain' }],
  ])('refuse a wrong %s', (property, settings) => {
    expect(problemsOf(settings)).toEqual([property]);
  });
});
