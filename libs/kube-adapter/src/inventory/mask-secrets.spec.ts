import { maskSecrets } from './mask-secrets.js';

describe('maskSecrets', () => {
  test('masks user data, passwords, keys and credentials in URLs, and nothing else', () => {
    const object = {
      metadata: {
        name: 'web',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': '{"userData":"secret"}', note: 'kept' },
      },
      spec: {
        volumes: [{ name: 'ci', cloudInitNoCloud: { userData: 'secret', networkDataBase64: 'secret' } }],
        source: { http: { url: 'https://me:secret@images.example/a.qcow2?sig=secret', extraHeaders: ['X: secret'] } },
        plain: { url: 'https://images.example/a.qcow2' },
      },
    };
    const masked = maskSecrets(object);
    expect(JSON.stringify(masked)).not.toContain('secret');
    expect(masked).toMatchObject({
      metadata: { name: 'web', annotations: { note: 'kept' } },
      spec: { volumes: [{ name: 'ci' }], plain: { url: 'https://images.example/a.qcow2' } },
    });
    expect(object.spec.volumes[0]?.cloudInitNoCloud.userData).toBe('secret');
  });
});
