import { migrationFailed } from './follow-migration.js';

const ref = { kind: 'vm', context: 'prod', namespace: 'lab', name: 'web' } as const;

test('the error of a failed migration is one sentence, whether or not its reasons end with a full stop', () => {
  const { message } = migrationFailed(ref, undefined, 'The target failed.', '0/3 nodes are available.');
  expect(message).toBe('The migration of web failed: The target failed; 0/3 nodes are available.');
  expect(migrationFailed(ref, '', undefined).message).toBe('The migration of web failed: KubeVirt gave no reason.');
});
