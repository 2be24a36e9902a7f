import { Scrubber } from './scrub.js';

describe('Scrubber', () => {
  const scrubber = new Scrubber({ 'ip-10-0-0-1.internal': 'node-1', 'ip-10-0-0-1': 'node-2', 'api.corp': '<server>' });

  test.each([
    ['POST https://user:secret@api.corp:6443/apis/x failed', 'POST https://<address>/apis/x failed'],
    [
      "The API server of cluster at api.corp:6443 can't be reached",
      "The API server of cluster at <server>:6443 can't be reached",
    ],
    ['connect ECONNREFUSED 10.96.0.1:443 twice', 'connect ECONNREFUSED <address> twice'],
    ['from [fd00:10:96::1]:443 and fe80::1, not at 12:30', 'from <address> and <address>, not at 12:30'],
    ['mac 52:54:00:0a:0b:0c', 'mac <mac>'],
    ['Authorization: Bearer abc.def~123 x', 'Authorization: Bearer <token> x'],
    ['token eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln end', 'token <token> end'],
    ['the file /home/ann/.kube/config is bad', 'the file <file> is bad'],
    ['on ip-10-0-0-1.internal or ip-10-0-0-1', 'on node-1 or node-2'],
    ['Expected: "Running"\n    at Object.<anonymous> (/root/x.ts:1:2)\n    at y', 'Expected: "Running"'],
    ['\u001b[31mred\u001b[39m', 'red'],
    [
      'refuses /api/v1/namespaces/headgate-test/pods with 1.2.3',
      'refuses /api/v1/namespaces/headgate-test/pods with 1.2.3',
    ],
  ])('cleans %j', (text, expected) => {
    expect(scrubber.scrub(text)).toBe(expected);
  });

  test('shortens long texts', () => {
    expect(scrubber.scrub('x'.repeat(5000)).length).toBeLessThan(900);
  });
});
