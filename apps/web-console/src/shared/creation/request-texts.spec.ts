import { requestText, type ShownRequest } from './request-texts.js';

const request: ShownRequest = {
  collection: 'vms',
  body: {
    name: 'web',
    context: 'prod',
    cpu: 2,
    tags: ['a'],
    cloudInit: '#cloud-config\npackages: [nginx]\n',
    start: true,
  },
  origin: 'http://localhost:8000',
  namespace: 'tailvm',
};

test('curl has the request in single quotes', () => {
  const text = requestText('curl', { ...request, body: { name: "it's", context: 'prod' } });
  expect(text).toBe(
    [
      'curl -X POST \\',
      "  -H 'content-type: application/json' \\",
      "  --data '{",
      `  "name": "it'\\''s",`,
      '  "context": "prod"',
      "}' \\",
      '  http://localhost:8000/api/vms',
    ].join('\n'),
  );
});

test('YAML has a text of several lines as a block', () => {
  expect(requestText('yaml', request)).toBe(
    [
      '# POST http://localhost:8000/api/vms',
      'name: "web"',
      'context: "prod"',
      'cpu: 2',
      'tags: ["a"]',
      'cloudInit: |',
      '  #cloud-config',
      '  packages: [nginx]',
      'start: true',
      '',
    ].join('\n'),
  );
});

test.each([
  ['a\nb', '|-\n  a\n  b'],
  ['a\n\n\n', '|+\n  a\n\n'],
  [' a\nb', JSON.stringify(' a\nb')],
  ['a\n\u0007', JSON.stringify('a\n\u0007')],
])('YAML keeps %j', (cloudInit, expected) => {
  expect(requestText('yaml', { ...request, body: { name: 'web', cloudInit } })).toContain(`cloudInit: ${expected}\n`);
});

test('Terraform names the provider that it needs, and escapes templates', () => {
  const text = requestText('terraform', { ...request, body: { name: 'web', context: 'prod', cloudInit: '${x} %{y}' } });
  expect(text).toContain('Mastercard/restapi');
  expect(text).toContain('read_path    = "/api/vms/tailvm/web?context=prod"');
  expect(text).toContain('cloudInit = "$${x} %%{y}"');
});
