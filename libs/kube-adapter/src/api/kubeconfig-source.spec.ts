import { readKubeconfigContexts } from './kubeconfig-source.js';

const text = `
apiVersion: v1
kind: Config
clusters:
  - { name: a, cluster: { server: 'https://a.example:6443' } }
  - { name: b, cluster: { server: 'https://b.example:6443' } }
users:
  - { name: me, user: { token: hush } }
contexts:
  - { name: prod, context: { cluster: a, user: me } }
  - { name: me@lab/1, context: { cluster: b, user: me } }
  - { name: broken, context: { cluster: nowhere, user: me } }
current-context: prod
`;

describe('readKubeconfigContexts', () => {
  test('lists every context that has a server, and marks the current one', async () => {
    expect(await readKubeconfigContexts({ text })).toEqual([
      { name: 'prod', current: true, server: 'https://a.example:6443' },
      { name: 'me@lab/1', current: false, server: 'https://b.example:6443' },
    ]);
  });

  test.each([{ text: 'nonsense: [' }, { text: '' }, { file: '/nonexistent/kubeconfig' }])(
    'returns an empty array for %j',
    async (source) => {
      expect(await readKubeconfigContexts(source)).toEqual([]);
    },
  );
});
