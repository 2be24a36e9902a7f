import { __Name__Power } from './__name__-power.js';

describe('__Name__Power', () => {
  test('says which action it lacks', async () => {
    const ref = { kind: 'vm', context: 'lab', namespace: 'local', name: 'web' } as const;
    await expect(new __Name__Power().apply(ref, 'start')).rejects.toMatchObject({ code: 'NOT_SUPPORTED' });
  });
});
